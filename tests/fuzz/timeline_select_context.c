/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_select_context.c - libFuzzer: patterns of --context, any bytes: refused, or compared with every
 * call path of a run, with its costs.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/small_run.h"
#include "timeline/select/select.h"
#include "timeline/select/select_context.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct select_cost *cost;
static struct select *all; /* the cost stands on it */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error error;
	uint32_t count;
	const uint32_t *streams;

	(void)argc, (void)argv;
	if (small_run_make("mixed", 4, 400) || select_new(&all, &error) || select_bind(all, run, &error))
		return 1;
	streams = select_streams(all, &count);
	return select_cost_new(&cost, run, streams, count, run_begin_ns(run), run_end_ns(run), &error) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct select_context *pattern;
	struct error error = {0};

	if (!text)
		return 0;
	if (select_context_new(&pattern, text, &error)) {
		if (pattern || !error.text[0])
			abort();
		free(text);
		return 0;
	}
	select_context_bind(pattern, run);
	select_context_set_cost(pattern, size & 1 ? cost : NULL);
	for (uint32_t context = 0; context < run_context_count(run); context++)
		select_context_match(pattern, context);
	select_context_free(pattern);
	free(text);
	return 0;
}
