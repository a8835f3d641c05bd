/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_sort.h - the order of a profile's rows: siblings by what they spent themselves, by what they spent
 * with their callees, or by name. Parents stay before their children.
 */
#ifndef TIMELINE_PROFILE_SORT_H
#define TIMELINE_PROFILE_SORT_H

#include "timeline/profile/profile_over.h"

enum profile_sort_key { PROFILE_SORT_TOTAL, PROFILE_SORT_SELF, PROFILE_SORT_NAME };
struct profile_sort {
	enum profile_sort_key key;
	size_t metric; /* of TOTAL and SELF: index among the profile's metrics */
};
/* "total", "self", "name", or a metric of the profile: "METRIC", "METRIC:incl", "METRIC:excl". ERROR_USAGE:
 * none of these. */
int profile_sort_find(
	struct profile_sort *sort, const struct profile *profile, const char *word, struct error *error);

/* Values descend, then names ascend; equal rows keep their order. Spreads (`over`, NULL: none) go along with
 * their rows. The new rows are in `arena`. */
int profile_sort_rows(struct profile *profile, struct profile_over *over, const struct profile_sort *sort,
	struct arena *arena, struct error *error);

#endif
