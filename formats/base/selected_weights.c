/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selected_weights.c - see selected_weights.h.
 */
#include "formats/base/selected_weights.h"

#include "timeline/report/coverage.h"
#include "timeline/sum/state_metrics.h"

int selected_weights(struct window **window, struct run *run, const struct select *select, unsigned states,
	struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = coverage_require(run, select, error);

	*window = NULL;
	if (rc == 0)
		rc = window_new(window, run, error);
	if (rc == 0)
		rc = window_add_weights(*window, streams, count, select_records_begin_ns(select),
			select_records_end_ns(select), error);
	if (rc == 0)
		rc = state_metrics_add_weights(*window, run, streams, count, select_begin_ns(select),
			select_end_ns(select), states, error);
	if (rc < 0) {
		window_free(*window);
		*window = NULL;
	}
	return rc;
}
