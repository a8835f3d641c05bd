/* SPDX-License-Identifier: Apache-2.0 */
/* path_numbers.c - see path_numbers.h: scopes first, a path being its parent's path and a function. */
#include "blame/report/path_numbers.h"

#include <stdlib.h>

#include "timeline/base/key_ids.h"

struct path_key {
	uint32_t parent; /* path; KEY_IDS_NONE: it is a root */
	uint32_t function;
};

/* Numbers the path of each scope, whose parents come first. False: no memory. */
static bool scopes_number(const struct run *run, uint32_t *of_scope, uint32_t count)
{
	struct key_ids keys;
	bool ok = true;

	key_ids_init(&keys, sizeof(struct path_key));
	for (uint32_t s = 0; s < count && ok; s++) {
		const struct run_scope *scope = run_scope(run, s);
		struct path_key key = {scope->parent == UINT32_MAX ? KEY_IDS_NONE : of_scope[scope->parent],
			scope->function};

		of_scope[s] = key_ids_put(&keys, &key, NULL);
		ok = of_scope[s] != KEY_IDS_NONE;
	}
	key_ids_fini(&keys);
	return ok;
}

/* Numbers from 1 on in the order of contexts; `number_of`: by the path of a scope, all 0. */
static void contexts_number(struct path_numbers *numbers, const struct run *run, uint32_t contexts,
	uint32_t depth, const uint32_t *of_scope, uint32_t *number_of, uint32_t *path_of,
	uint32_t *context_of)
{
	numbers->count = 1;
	for (uint32_t c = 1; c < contexts; c++) {
		uint32_t scope = run_context(run, c)->scope, *number;

		if (scope == UINT32_MAX)
			continue;
		number = &number_of[of_scope[run_scope_at(run, scope, depth)]];
		if (!*number) {
			*number = numbers->count++;
			context_of[*number] = c;
		}
		path_of[c] = *number;
	}
}

int path_numbers_make(struct path_numbers *numbers, struct run *run, uint32_t contexts, uint32_t depth,
	struct arena *arena, struct error *error)
{
	uint32_t *path_of = arena_calloc(arena, (size_t)contexts + 1, sizeof *path_of);
	uint32_t *context_of = arena_calloc(arena, (size_t)contexts + 1, sizeof *context_of);
	uint32_t *of_scope, *number_of, count;
	bool ok;

	for (uint32_t c = 1; c < contexts; c++)
		run_context(run, c); /* makes its scopes */
	count = run_scope_count(run);
	of_scope = malloc(((size_t)count + 1) * sizeof *of_scope);
	number_of = calloc((size_t)count + 1, sizeof *number_of);
	*numbers = (struct path_numbers){.path_of = path_of, .context_of = context_of};
	ok = path_of && context_of && of_scope && number_of && scopes_number(run, of_scope, count);
	if (ok)
		contexts_number(numbers, run, contexts, depth, of_scope, number_of, path_of, context_of);
	free(of_scope);
	free(number_of);
	return ok ? 0 : error_memory(error);
}
