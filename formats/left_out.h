/* SPDX-License-Identifier: Apache-2.0 */
/* left_out.h - what a run has, a selection includes and an export's format has no place for, with its counts.
 */
#ifndef FORMATS_LEFT_OUT_H
#define FORMATS_LEFT_OUT_H

#include "formats/base/format.h"

/* Adds a phrase for each kind to the list. ERROR_RUN: a damaged record; what was counted before is in the
 * list. */
int left_out_list(struct run *run, const struct select *select, const struct format *format,
	struct store_bytes *list, struct error *error);

#endif
