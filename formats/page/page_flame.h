/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_flame.h - one metric of the sums by call path as a flame graph.
 */
#ifndef FORMATS_PAGE_FLAME_H
#define FORMATS_PAGE_FLAME_H

#include "formats/base/path_sums.h"
#include "store/base/arena.h"
#include "timeline/profile/flame.h"

/* The metric that a picture of one shows: the time source, of others the first by name, recorded ones before
 * derived ones and GPUTIME. */
size_t page_flame_metric(const struct path_sums *sums);
/* Boxes in `arena`, names the run's. */
int page_flame_lay(struct flame *flame, const struct path_sums *sums, size_t metric, struct arena *arena,
	struct error *error);

#endif
