/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selected_weights.h - the weights of a selection by context and metric, for formats that hold a profile.
 */
#ifndef FORMATS_SELECTED_WEIGHTS_H
#define FORMATS_SELECTED_WEIGHTS_H

#include "timeline/select/select.h"
#include "timeline/sum/window.h"

/* Weights of the selected streams in the selected time, with the derived metrics (bits 1 << enum
 * state_metric) of `states`. To be freed with window_free(). ERROR_EMPTY: nothing is monitored there. */
int selected_weights(struct window **window, struct run *run, const struct select *select, unsigned states,
	struct error *error);

#endif
