/* SPDX-License-Identifier: Apache-2.0 */
/* advise_print.c - see advise_print.h. */
#include "blame/advise/advise_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advice.h"
#include "blame/advise/cause_chain.h"
#include "timeline/debug/demangle.h"

#define TOP 5u /* pieces of advice of a kernel (S2 VI) */

/* A place in code, in words and as columns. */
struct place {
	char function[DEMANGLE_MAX];
	const char *file;
	uint32_t line, loop_line;
	uint64_t address;
	const char *instruction;
};

static void place_find(struct place *place, const struct kernel_function *function, uint32_t at)
{
	const struct kernel_code *code = &function->code;

	*place = (struct place){.file = "",
		.address = code->addresses[at] - code->start,
		.instruction = code->instructions[at].name};
	if (!demangle_symbol(code->name, place->function, sizeof place->function))
		snprintf(place->function, sizeof place->function, "%s", code->name);
	if (!gpu_code_line(code->binary, code->addresses[at], &place->file, &place->line))
		place->file = "";
	if (code->loop_of[at] != LOOP_NONE)
		place->loop_line = code->loop_line[code->loop_of[at]];
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static double share_of_dependencies(const struct kernel *kernel, double *single)
{
	double dependent = 0, explained = 0;
	size_t nodes = 0, alone = 0;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct causes *causes = &kernel->functions[f].causes;

		dependent += causes->dependent;
		explained += causes->explained;
		nodes += causes->nodes;
		alone += causes->single_after;
	}
	*single = nodes ? (double)alone / (double)nodes : 1;
	return percent(explained, dependent);
}

/* ---- text ---- */

static void text_place(const char *word, const struct kernel_function *function, uint32_t at)
{
	struct place place;

	place_find(&place, function, at);
	printf("        %s %s", word, place.function);
	if (*place.file)
		printf(" at %s:%u", place.file, place.line);
	printf(" 0x%" PRIx64 " %s", place.address, place.instruction);
	if (function->code.loop_of[at] == LOOP_NONE)
		printf("\n");
	else if (place.loop_line)
		printf(" in Loop at Line %u\n", place.loop_line);
	else
		printf(" in a Loop\n");
}

/* What the instruction that is waited for waited for itself, back to the root. */
static void text_chain(const struct kernel_function *function, uint32_t from)
{
	struct cause_step steps[CAUSE_CHAIN_MAX];
	unsigned count = cause_chain_find(function, from, steps);

	for (unsigned i = 0; i < count; i++) {
		struct place place;

		place_find(&place, function, steps[i].cause->define);
		printf("        which waits for 0x%" PRIx64 " %s", place.address, place.instruction);
		if (*place.file)
			printf(" at %s:%u", place.file, place.line);
		printf(" (%s, %.1f %% of its stalls)%s\n", stall_name((enum stall)steps[i].cause->stall),
			100 * steps[i].share, i + 1 == count ? ": the root" : "");
	}
}

static void text_hotspot(const struct kernel *kernel, const struct advice_hotspot *hotspot, unsigned number)
{
	const struct cause *cause = &hotspot->cause;

	printf("     %u. %s (%s), importance %.3f %%, speedup %.3fx", number,
		cause->class == CAUSE_SELF ? stall_about((enum stall)cause->stall)
					   : cause_class_name((enum cause_class)cause->class),
		stall_name((enum stall)cause->stall), percent(cause->samples, kernel->total),
		hotspot->speedup);
	if (cause->distance)
		printf(", distance %u", cause->distance);
	printf("\n");
	if (cause->class == CAUSE_SELF) {
		text_place("At  ", hotspot->function, cause->use);
		return;
	}
	text_place("From", hotspot->function, cause->define);
	text_place("To  ", hotspot->function, cause->use);
	text_chain(hotspot->function, cause->define);
}

static void text_hints(const char *hints)
{
	while (*hints) {
		size_t size = strcspn(hints, "\n");

		printf("      %.*s\n", (int)size, hints);
		hints += size + (hints[size] == '\n');
	}
}

static void text_advice(const struct kernel *kernel, const struct advice *advice, unsigned number)
{
	printf("   %u. %s: importance %.3f %%, estimated speedup %.3fx (%.2f to %.2f)\n", number,
		advice->optimizer->title, percent(advice->matched, kernel->total), advice->speedup,
		advice->low, advice->high);
	if (*advice->say)
		printf("      %s.\n", advice->say);
	text_hints(advice->optimizer->hints);
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		text_hotspot(kernel, &advice->hotspots[i], i + 1);
}

static void text_section(
	const struct kernel *kernel, const struct advice *advice, unsigned count, bool is_parallel)
{
	unsigned number = 0;

	for (unsigned i = 0; i < count; i++) {
		if ((advice[i].optimizer->category == OPTIMIZER_PARALLEL) != is_parallel)
			continue;
		if (!number++)
			printf("  %s optimizers\n", is_parallel ? "Parallel" : "Code");
		text_advice(kernel, &advice[i], number);
	}
}

static void text_launch(struct program_call *call, const struct kernel *kernel)
{
	const struct kernel_shape *shape = &kernel->shape;
	char *path = kernel->context ? run_context_path(call->run, kernel->context, UINT32_MAX, &call->arena)
				     : NULL;

	if (!kernel->launches) {
		printf("  no launch of it is known in this window\n");
		return;
	}
	printf("  %" PRIu64 " launch%s from %" PRIu64 " call path%s", kernel->launches,
		kernel->launches == 1 ? "" : "es", kernel->paths, kernel->paths == 1 ? "" : "s");
	if (shape->grid)
		printf(", grid %ux%ux%u, block %ux%ux%u, %u registers", shape->extent[0], shape->extent[1],
			shape->extent[2], shape->extent[3], shape->extent[4], shape->extent[5],
			shape->registers);
	printf("\n");
	if (path)
		printf("  %.1f %% of its time by %s\n",
			percent((double)kernel->context_ns, (double)kernel->time_ns), path);
}

/* found: pieces of advice there are, of which `count` are asked for. */
static void text_kernel(struct program_call *call, const struct kernels *kernels, const struct kernel *kernel,
	const struct advice *advice, unsigned count, unsigned found)
{
	char duration[REPORT_HUMAN_MAX];
	double single, explained = share_of_dependencies(kernel, &single);

	report_human_duration(duration, kernel->time_ns);
	printf("%s  %s, %.1f %% of kernel time\n", kernel->name, duration,
		percent((double)kernel->time_ns, (double)kernels_summary(kernels)->kernel_ns));
	text_launch(call, kernel);
	printf("  %.0f samples: issued %.1f %%, active %.1f %%, latency %.1f %%",
		kernel->period ? kernel->total / (double)kernel->period : kernel->total,
		percent(kernel->issued, kernel->total), percent(kernel->active, kernel->total),
		percent(kernel->latency, kernel->total));
	if (kernel->unread > 0)
		printf(", %.1f %% in code that the run does not keep",
			percent(kernel->unread, kernel->total));
	printf("\n  causes found for %.1f %% of dependency stalls, single dependency coverage %.2f\n",
		explained, single);
	text_section(kernel, advice, count, false);
	text_section(kernel, advice, count, true);
	if (!found)
		printf("  no gain expected from any change that is known here\n");
	printf("\n");
}

static void text_end(const struct kernels *kernels)
{
	const struct kernels_summary *summary = kernels_summary(kernels);

	printf("%" PRIu64 " instructions decoded, %.2f %% of them unknown; %" PRIu64 " samples lost\n",
		summary->instructions, percent((double)summary->opaque, (double)summary->instructions),
		summary->lost);
}

/* ---- rows ---- */

static const struct report_column columns[] = {{"kernel", REPORT_TEXT}, {"time_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"launches", REPORT_NUMBER}, {"path", REPORT_COMPOSED},
	{"samples", REPORT_NUMBER}, {"issued_percent", REPORT_PERCENT}, {"latency_percent", REPORT_PERCENT},
	{"explained_percent", REPORT_PERCENT}, {"single_dependency", REPORT_NUMBER}, {"rank", REPORT_NUMBER},
	{"optimizer", REPORT_TEXT}, {"importance_percent", REPORT_NUMBER}, {"speedup", REPORT_NUMBER},
	{"speedup_low", REPORT_NUMBER}, {"speedup_high", REPORT_NUMBER}, {"hotspot", REPORT_NUMBER},
	{"stall", REPORT_TEXT}, {"cause", REPORT_TEXT}, {"distance", REPORT_NUMBER},
	{"from_function", REPORT_TEXT}, {"from_file", REPORT_TEXT}, {"from_line", REPORT_NUMBER},
	{"from_loop_line", REPORT_NUMBER}, {"from_address", REPORT_NUMBER}, {"from_instruction", REPORT_TEXT},
	{"to_function", REPORT_TEXT}, {"to_file", REPORT_TEXT}, {"to_line", REPORT_NUMBER},
	{"to_loop_line", REPORT_NUMBER}, {"to_address", REPORT_NUMBER}, {"to_instruction", REPORT_TEXT},
	{"text", REPORT_TEXT}, {"chain", REPORT_TEXT}};

static void row_place(struct report *report, const struct kernel_function *function, uint32_t at)
{
	struct place place;

	place_find(&place, function, at);
	report_string(report, place.function);
	report_string(report, place.file);
	report_number(report, place.line);
	report_number(report, place.loop_line);
	report_number(report, place.address);
	report_string(report, place.instruction);
}

static void row_kernel(struct report *report, struct program_call *call, const struct kernels *kernels,
	const struct kernel *kernel)
{
	double single, explained = share_of_dependencies(kernel, &single);
	char *path = kernel->context ? run_context_path(call->run, kernel->context, UINT32_MAX, &call->arena)
				     : NULL;

	report_string(report, kernel->name);
	report_number(report, kernel->time_ns);
	report_real(report, percent((double)kernel->time_ns, (double)kernels_summary(kernels)->kernel_ns));
	report_number(report, kernel->launches);
	report_string(report, path);
	report_number(
		report, (uint64_t)(kernel->period ? kernel->total / (double)kernel->period : kernel->total));
	report_real(report, percent(kernel->issued, kernel->total));
	report_real(report, percent(kernel->latency, kernel->total));
	report_real(report, explained);
	report_figure(report, single);
}

/* "ADDRESS INSTRUCTION STALL PERCENT;...", from the hotspot's definition back to the root. */
static void row_chain(struct report *report, const struct kernel_function *function, uint32_t from)
{
	struct cause_step steps[CAUSE_CHAIN_MAX];
	unsigned count = cause_chain_find(function, from, steps);
	char text[CAUSE_CHAIN_MAX * 96] = "";
	size_t used = 0;

	for (unsigned i = 0; i < count; i++) {
		uint32_t at = steps[i].cause->define;

		used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 " %.40s %s %.2f",
			i ? ";" : "", function->code.addresses[at] - function->code.start,
			function->code.instructions[at].name, stall_name((enum stall)steps[i].cause->stall),
			100 * steps[i].share);
	}
	report_string(report, text);
}

static void row_none(struct report *report, unsigned count)
{
	while (count--)
		report_none(report);
}

static void row_hotspot(struct report *report, const struct kernel *kernel,
	const struct advice_hotspot *hotspot, unsigned number)
{
	const struct cause *cause = &hotspot->cause;

	report_figure(report, percent(cause->samples, kernel->total));
	report_figure(report, hotspot->speedup);
	row_none(report, 2);
	report_number(report, number);
	report_string(report, stall_name((enum stall)cause->stall));
	report_string(report, cause_class_name((enum cause_class)cause->class));
	report_number(report, cause->distance);
	row_place(report, hotspot->function, cause->define);
	row_place(report, hotspot->function, cause->use);
	report_none(report);
	row_chain(report, hotspot->function, cause->define);
}

static void rows_advice(struct report *report, struct program_call *call, const struct kernels *kernels,
	const struct kernel *kernel, const struct advice *advice, unsigned rank)
{
	for (unsigned i = 0; i <= advice->hotspot_count; i++) {
		row_kernel(report, call, kernels, kernel);
		report_number(report, rank);
		report_string(report, advice->optimizer->name);
		if (i) {
			row_hotspot(report, kernel, &advice->hotspots[i - 1], i);
		} else {
			report_figure(report, percent(advice->matched, kernel->total));
			report_figure(report, advice->speedup);
			report_figure(report, advice->low);
			report_figure(report, advice->high);
			report_number(report, 0);
			row_none(report, 15);
			report_string(report, *advice->say ? advice->say : advice->optimizer->hints);
			report_none(report);
		}
		report_row(report);
	}
}

static void rows_kernel(struct report *report, struct program_call *call, const struct kernels *kernels,
	const struct kernel *kernel, const struct advice *advice, unsigned count, unsigned found)
{
	for (unsigned i = 0; i < count; i++)
		rows_advice(report, call, kernels, kernel, &advice[i], i + 1);
	if (count)
		return;
	row_kernel(report, call, kernels, kernel);
	report_number(report, 0);
	row_none(report, 21);
	report_string(report, found ? NULL : "no gain expected");
	report_none(report);
	report_row(report);
}

/* ---- both ---- */

static int print_all(struct program_call *call, const struct kernels *kernels, struct report *report,
	struct advice *advice, struct error *error)
{
	size_t count;
	const struct kernel *list = kernels_list(kernels, &count);
	uint64_t top = select_top(call->select) == UINT64_MAX ? TOP : select_top(call->select);

	for (size_t i = 0; i < count; i++) {
		int found = advice_find(&list[i], advice, error);
		unsigned shown = (uint64_t)found > top ? (unsigned)top : (unsigned)found;

		if (found < 0)
			return found;
		if (report)
			rows_kernel(report, call, kernels, &list[i], advice, shown, (unsigned)found);
		else
			text_kernel(call, kernels, &list[i], advice, shown, (unsigned)found);
	}
	if (!report)
		text_end(kernels);
	return 0;
}

int advise_print(struct program_call *call, const struct kernels *kernels, struct error *error)
{
	struct advice *advice = calloc(optimizer_count + 1, sizeof *advice);
	struct report *report = NULL;
	int rc = advice ? 0 : error_memory(error);

	if (rc == 0 && call->format != REPORT_TABLE)
		rc = report_open(&report, stdout, call->format, "hpct-advise", columns,
			sizeof columns / sizeof *columns, error);
	if (rc == 0)
		rc = print_all(call, kernels, report, advice, error);
	if (report) {
		int closed = report_close(report, error);

		rc = rc ? rc : closed;
	}
	free(advice);
	return rc;
}
