/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - see compare.h. */
#include "blame/advise/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/debug/demangle.h"

/* A name without its template arguments: "ns::f<int>" is "ns::f". An operator keeps its own signs. */
static void base_name(const char *symbol, char name[DEMANGLE_MAX])
{
	char *end;

	if (!demangle_symbol(symbol, name, DEMANGLE_MAX))
		snprintf(name, DEMANGLE_MAX, "%s", symbol);
	end = strstr(name, "operator") ? NULL : strchr(name, '<');
	if (end && end != name)
		*end = '\0';
}

/* The list's one kernel of that name that is not taken; NULL: there is none, or more than one. */
static const struct kernel *sole(const struct kernel *list, size_t count, const bool *is_taken,
	const char *name, char scratch[DEMANGLE_MAX])
{
	const struct kernel *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (is_taken[i])
			continue;
		base_name(list[i].name, scratch);
		if (strcmp(scratch, name) != 0)
			continue;
		if (found)
			return NULL;
		found = &list[i];
	}
	return found;
}

/* Both lists, and which of them have a partner. */
struct sides {
	const struct kernel *before, *after;
	size_t before_count, after_count;
	bool *is_before_taken, *is_after_taken;
	char name[DEMANGLE_MAX], scratch[DEMANGLE_MAX];
};

static void join_same(struct compare *compare, struct sides *sides)
{
	for (size_t b = 0; b < sides->before_count; b++) {
		compare->pairs[b].before = &sides->before[b];
		for (size_t a = 0; a < sides->after_count && !sides->is_before_taken[b]; a++)
			if (strcmp(sides->before[b].name, sides->after[a].name) == 0) {
				compare->pairs[b].after = &sides->after[a];
				sides->is_before_taken[b] = sides->is_after_taken[a] = true;
			}
	}
	compare->count = sides->before_count;
}

static void join_alike(struct compare *compare, struct sides *sides)
{
	for (size_t b = 0; b < sides->before_count; b++) {
		const struct kernel *partner;

		if (sides->is_before_taken[b])
			continue;
		base_name(sides->before[b].name, sides->name);
		if (sole(sides->before, sides->before_count, sides->is_before_taken, sides->name,
			    sides->scratch) != &sides->before[b])
			continue;
		partner = sole(
			sides->after, sides->after_count, sides->is_after_taken, sides->name, sides->scratch);
		if (!partner)
			continue;
		compare->pairs[b].after = partner;
		sides->is_before_taken[b] = sides->is_after_taken[partner - sides->after] = true;
	}
}

int compare_find(struct compare *compare, const struct kernels *before, const struct kernels *after,
	struct error *error)
{
	struct sides *sides = calloc(1, sizeof *sides);
	bool ok;

	*compare = (struct compare){0};
	if (!sides)
		return error_memory(error);
	sides->before = kernels_list(before, &sides->before_count);
	sides->after = kernels_list(after, &sides->after_count);
	compare->pairs = calloc(sides->before_count + sides->after_count + 1, sizeof *compare->pairs);
	sides->is_before_taken = calloc(sides->before_count + 1, sizeof *sides->is_before_taken);
	sides->is_after_taken = calloc(sides->after_count + 1, sizeof *sides->is_after_taken);
	ok = compare->pairs && sides->is_before_taken && sides->is_after_taken;
	if (ok) {
		join_same(compare, sides);
		join_alike(compare, sides);
	}
	for (size_t a = 0; ok && a < sides->after_count; a++)
		if (!sides->is_after_taken[a])
			compare->pairs[compare->count++].after = &sides->after[a];
	free(sides->is_before_taken);
	free(sides->is_after_taken);
	free(sides);
	return ok ? 0 : error_memory(error);
}

void compare_fini(struct compare *compare)
{
	free(compare->pairs);
	*compare = (struct compare){0};
}

double compare_launch_ns(const struct kernel *kernel)
{
	return kernel && kernel->launches ? (double)kernel->time_ns / (double)kernel->launches : 0;
}

double compare_speedup(const struct compare_pair *pair)
{
	double before = compare_launch_ns(pair->before), after = compare_launch_ns(pair->after);

	return before > 0 && after > 0 ? before / after : 0;
}

const char *compare_verdict_name(enum compare_verdict verdict)
{
	static const char *const names[] = {[COMPARE_BELOW] = "below",
		[COMPARE_INSIDE] = "inside",
		[COMPARE_ABOVE] = "above",
		[COMPARE_UNKNOWN] = ""};

	return names[verdict];
}

enum compare_verdict compare_judge(const struct advice *advice, double speedup)
{
	if (speedup <= 0 || advice->optimizer == &optimizer_graph_launch)
		return COMPARE_UNKNOWN;
	if (speedup < advice->low)
		return COMPARE_BELOW;
	return speedup > advice->high ? COMPARE_ABOVE : COMPARE_INSIDE;
}

double compare_stall_share(const struct kernel *kernel, enum stall stall)
{
	double sum = 0;

	if (!kernel || kernel->total <= kernel->unread)
		return -1;
	for (size_t f = 0; f < kernel->function_count; f++)
		for (uint32_t i = 0; i < kernel->functions[f].code.count; i++)
			sum += kernel->functions[f].samples[i].all[stall];
	return sum / (kernel->total - kernel->unread);
}
