/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_open.c - opens and closes the second run of a comparison, in a second session.
 */
#include <stdlib.h>

#include "tui/app/app.h"
#include "tui/models/compare.h"

int compare_open(struct session *session, struct run *run, struct error *error)
{
	struct compare *compare = calloc(1, sizeof(*compare));
	int result;

	if (!compare) {
		run_close(run);
		return error_memory(error);
	}
	result = session_open(&compare->other, run, NULL, session->looks, error);
	if (result) {
		run_close(run);
		free(compare);
		return result;
	}
	session->compare = compare;
	compare_align_begins(session);
	return 0;
}

void compare_close(struct compare *compare)
{
	struct run *run;

	if (!compare)
		return;
	run = compare->other->run;
	session_close(compare->other);
	run_close(run);
	free(compare->pairs);
	free(compare->only[DIFF_A]);
	free(compare->only[DIFF_B]);
	arena_fini(&compare->arena);
	free(compare);
}

bool compare_renew(struct compare *compare)
{
	if (!session_renew(compare->other))
		return false;
	compare->is_loaded = false;
	return true;
}
