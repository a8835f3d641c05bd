/* SPDX-License-Identifier: Apache-2.0 */
/* page_hints.c - hints for the next command, see page_text.h: commands for the same part of the run. */
#include <stdio.h>
#include <string.h>

#include "blame/page/page_text.h"
#include "store/base/attribute.h"
#include "timeline/report/terminal.h"
#include "timeline/scan/scan.h"

#define WINDOW_MAX 64

/* As --time takes it: in ms, to the microseconds around it where it is not that small. */
static void put_window(char *text, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t begin_us = begin_ns / 1000, end_us = (end_ns + 999) / 1000;

	if (end_ns - begin_ns < 10000)
		snprintf(text, WINDOW_MAX, "%lluns..%lluns", (unsigned long long)begin_ns,
			(unsigned long long)end_ns);
	else
		snprintf(text, WINDOW_MAX, "%llu.%03llums..%llu.%03llums",
			(unsigned long long)(begin_us / 1000), (unsigned long long)(begin_us % 1000),
			(unsigned long long)(end_us / 1000), (unsigned long long)(end_us % 1000));
}

const char *page_options(
	struct program_call *call, const struct ask *ask, const char *own, const char *selector)
{
	struct arena *arena = &call->arena;
	const char *waits = ask->waits_path ? select_word(ask->waits_path, arena) : "";
	const char *rest = select_command(call->select, selector, arena);
	bool has_waits = *waits && strstr(own, "waits");

	return arena_printf(arena, "%s%s%s%s%s%s",
		ask->group == IDLE_GROUP_ALL && strstr(own, "group") ? " --group all" : "",
		ask->busy == IDLE_BUSY_KERNEL && strstr(own, "busy") ? " --busy kernel" : "",
		has_waits ? " --waits " : "", has_waits ? waits : "", *rest ? " " : "", rest);
}

struct page_hint page_hint_of(struct program_call *call, const char *program, const char *answer,
	const char *options, const char *why)
{
	const char *run = select_word(run_path(call->run), &call->arena);

	return (struct page_hint){
		arena_printf(&call->arena, "%s %s%s%s", program, run, answer, options), why};
}

static struct page_hint gap_hint(struct program_call *call, const struct gap *gap, const char *what)
{
	char window[WINDOW_MAX];

	put_window(window, gap->begin_ns - run_origin_ns(call->run), gap->end_ns - run_origin_ns(call->run));
	return page_hint_of(call, "hpct-view", " --time ", window,
		arena_printf(&call->arena, "%s: %s", what, gap_cause_text(gap->cause)));
}

/* ---- CUDA graphs ---- */

#define GRAPHS_LEAST 100 /* operations: not one replay of a small graph */
#define GRAPHS_QUEUES 64 /* checked: of thousands of queues the others are alike */

/* Counts the first operations of a queue, and those that are nodes. */
static int count_nodes(struct program_call *call, uint32_t stream, uint64_t *operations, uint64_t *nodes)
{
	const struct batch *batch;
	struct scan *scan;
	struct error error = {0};
	long count;
	int result = scan_open(&scan, call->run, stream, STORE_SPANS, select_begin_ns(call->select),
		select_end_ns(call->select), STORE_BEGIN | STORE_WHAT | STORE_ATTRIBUTES, 0, &error);

	if (result)
		return result;
	count = scan_next(scan, &batch, &error);
	for (long i = 0; i < count; i++) {
		size_t size;
		const char *text = batch_attributes(call->run, batch, (size_t)i, &size);

		if (batch->what[i] != STORE_OP_KERNEL && batch->what[i] != STORE_OP_COPY)
			continue;
		++*operations;
		*nodes += attribute_number(text, size, "node", UINT64_MAX) != UINT64_MAX;
	}
	scan_close(scan);
	return count < 0 ? (int)count : 0;
}

/* Where most operations are nodes of CUDA graphs, each of which has a record of CUPTI's: 1, else 0. A hint is
 * no reason to fail. */
static size_t hint_graphs(struct program_call *call, struct page_hint *hint)
{
	uint64_t operations = 0, nodes = 0;
	uint32_t count, queues = 0;
	const uint32_t *streams = select_streams(call->select, &count);

	for (uint32_t i = 0; i < count && queues < GRAPHS_QUEUES; i++) {
		if (run_stream(call->run, streams[i])->s.kind != STORE_STREAM_GPU)
			continue;
		queues++;
		if (count_nodes(call, streams[i], &operations, &nodes))
			return 0;
	}
	if (operations < GRAPHS_LEAST || nodes * 2 <= operations)
		return 0;
	*hint = (struct page_hint){"hpct-record --cuda-graphs graph ...",
		"most operations are nodes of CUDA graphs: recording whole launches costs less"};
	return 1;
}

/* ---- other parts of the run ---- */

#define FEEDERS_LEAST 10 /* of the window: a tenth in which every thread of the GPU's process waits */

static struct page_hint feeders_hint(
	struct program_call *call, const struct ask *ask, const struct page *page)
{
	return page_hint_of(call, "hpct-blame", " --group all",
		page_options(call, ask, "busy waits", "time streams context"),
		arena_printf(&call->arena,
			"what %u process%s without a GPU did then: the GPU's may wait for %s", page->feeders,
			page->feeders == 1 ? "" : "es", page->feeders == 1 ? "it" : "them"));
}

/* A number of the run's own time, not rounded: what is left of a gap would begin the window. */
static struct page_hint steady_hint(struct program_call *call, const struct ask *ask, const struct page *page)
{
	return page_hint_of(call, "hpct-blame",
		arena_printf(&call->arena, " --time %lluns..",
			(unsigned long long)(page->steady_ns - run_origin_ns(call->run))),
		page_options(call, ask, "group busy waits", "streams context"),
		"without start-up: after the last gap of the first half that is twice as long as each later "
		"one");
}

/* ---- all ---- */

size_t page_hints(struct program_call *call, const struct ask *ask, const struct page *page,
	struct page_hint hints[PAGE_HINTS])
{
	static const char own[] = "group busy waits";
	const struct idle *idle = &page->idle;
	size_t count = 0;

	if (page->largest) {
		hints[count++] = gap_hint(call, page->largest, "the largest gap");
		if (page->end)
			hints[count++] = gap_hint(call, page->end, "a larger one that no GPU work follows");
		hints[count++] = page_hint_of(call, "hpct-blame", " --gaps",
			page_options(call, ask, own, "time streams context"), "all gaps with their causes");
	}
	if (page->feeders && idle->all_idle_ns * FEEDERS_LEAST >= idle_used_ns(idle))
		hints[count++] = feeders_hint(call, ask, page);
	if (page->steady_ns && !select_has_time(call->select))
		hints[count++] = steady_hint(call, ask, page);
	if (page->cause_count)
		hints[count++] = page_hint_of(call, "hpct-blame", " --tree",
			page_options(call, ask, own, "time streams context"), "blame top-down by call path");
	if (page->late.held_ns)
		hints[count++] = page_hint_of(call, "hpct-blame", " --late",
			page_options(call, ask, "waits", "time streams"),
			"which rank arrives last at collective calls");
	if (idle->all_idle_ns > idle->blamed_ns && page->threads)
		hints[count++] = page_hint_of(call, "hpct-blame", " --of all-idle",
			page_options(call, ask, own, "time streams"),
			"what threads waited in while none worked");
	if (idle->copy_ns * 10 > idle->window_ns)
		hints[count++] = page_hint_of(call, "hpct-stats", " --by op",
			page_options(call, ask, "", "time streams"), "the copies");
	count += hint_graphs(call, &hints[count]);
	return count + page_hint_python(call->run, &hints[count]);
}

void page_hints_print(const struct page_hint *hints, size_t count)
{
	printf("\n%sLook next%s\n", terminal_style(stdout, TERMINAL_HEAD),
		terminal_style(stdout, TERMINAL_PLAIN));
	for (size_t i = 0; i < count; i++) {
		char line[1024];
		int bytes = snprintf(line, sizeof line, "  %s   %s", hints[i].command, hints[i].why);
		bool is_one = bytes < (int)sizeof line && page_width_fits(line);

		printf("  %s%s%s\n", hints[i].command, is_one ? "   " : "\n      ", hints[i].why);
	}
}
