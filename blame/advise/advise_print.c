/* SPDX-License-Identifier: Apache-2.0 */
/* advise_print.c - see advise_print.h. */
#include "blame/advise/advise_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advice.h"
#include "blame/advise/advise_place.h"
#include "blame/advise/advise_text.h"
#include "blame/stalls/cause_chain.h"

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
	{"text", REPORT_TEXT}, {"chain", REPORT_TEXT}, {"run_low", REPORT_NUMBER},
	{"run_high", REPORT_NUMBER}, {"run_least", REPORT_NUMBER}, {"run_most", REPORT_NUMBER},
	{"exact_percent", REPORT_PERCENT}, {"cut_percent", REPORT_PERCENT},
	{"utilization_percent", REPORT_PERCENT}};

/* What all rows need. */
struct rows {
	struct program_call *call;
	const struct kernels *kernels;
	struct run_gains *gains; /* NULL: not known */
	struct report *report;
};

static void row_place(struct report *report, const struct kernel_function *function, uint32_t at)
{
	struct advise_place place;

	advise_place_find(&place, function, at);
	report_string(report, place.function);
	report_string(report, place.file);
	report_number(report, place.line);
	report_number(report, place.loop_line);
	report_number(report, place.address);
	report_string(report, place.instruction);
}

static void row_kernel(const struct rows *rows, const struct kernel *kernel)
{
	struct report *report = rows->report;
	double single, explained = advise_explained(kernel, &single);
	char *path = kernel->context ? run_context_path(rows->call->run, kernel->context, UINT32_MAX,
					       &rows->call->arena)
				     : NULL;

	report_string(report, kernel->name);
	report_number(report, kernel->time_ns);
	report_real(report,
		advise_percent((double)kernel->time_ns, (double)kernels_summary(rows->kernels)->kernel_ns));
	report_number(report, kernel->launches);
	report_string(report, path);
	report_number(
		report, (uint64_t)(kernel->period ? kernel->total / (double)kernel->period : kernel->total));
	report_real(report, advise_percent(kernel->issued, kernel->total));
	report_real(report, advise_percent(kernel->latency, kernel->total));
	report_real(report, explained);
	report_figure(report, single);
}

/* "ADDRESS INSTRUCTION STALL PERCENT;...", from the hotspot's definition back to the root; instead of a stall
 * the link by which a step is no wait; in another function "FUNCTION+ADDRESS". */
static void row_chain(struct report *report, const struct kernel *kernel,
	const struct kernel_function *function, uint32_t from)
{
	struct cause_step steps[CAUSE_CHAIN_MAX];
	unsigned count = cause_chain_find(kernel, function, from, steps);
	char text[CAUSE_CHAIN_MAX * 256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct cause_step *step = &steps[i];
		struct advise_place place;

		advise_place_find(&place, step->function, step->at);
		used += (size_t)snprintf(text + used, sizeof text - used,
			"%s%.100s%s%" PRIu64 " %.40s %s %.2f", i ? ";" : "",
			step->function == function ? "" : place.function,
			step->function == function ? "" : "+", place.address,
			step->function->code.instructions[step->at].name,
			step->cause ? stall_name((enum stall)step->cause->stall)
				    : cause_link_name(step->link),
			100 * step->share);
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

	report_figure(report, advise_percent(cause->samples, kernel->total));
	report_figure(report, hotspot->speedup);
	row_none(report, 2);
	report_number(report, number);
	report_string(report, stall_name((enum stall)cause->stall));
	report_string(report, cause_class_name((enum cause_class)cause->class));
	report_number(report, cause->distance);
	row_place(report, hotspot->function, cause->define);
	row_place(report, hotspot->function, cause->use);
	report_none(report);
	row_chain(report, kernel, hotspot->function, cause->define);
	row_none(report, 4);
}

static void row_gain(const struct rows *rows, const struct kernel *kernel, const struct advice *advice)
{
	struct run_gain gain;

	if (!rows->gains || !run_gains_of(rows->gains, kernel, advice, &gain)) {
		row_none(rows->report, 4);
		return;
	}
	report_figure(rows->report, gain.low);
	report_figure(rows->report, gain.high);
	report_figure(rows->report, gain.least);
	report_figure(rows->report, gain.most);
}

/* How surely the samples are of the launches; none known: nothing. */
static void row_end(const struct rows *rows, const struct kernel *kernel)
{
	const struct launch_samples_share *share = &kernel->share;
	double whole = share->exact + share->shared + share->unknown;

	if (share->exact + share->shared > 0)
		report_real(rows->report, advise_percent(share->exact, whole));
	else
		report_none(rows->report);
	report_real(rows->report, advise_percent(share->cut, whole));
	if (kernel->expected > 0)
		report_real(rows->report, advise_percent(kernel->total, kernel->expected));
	else
		report_none(rows->report);
	report_row(rows->report);
}

static void rows_advice(
	const struct rows *rows, const struct kernel *kernel, const struct advice *advice, unsigned rank)
{
	struct report *report = rows->report;

	for (unsigned i = 0; i <= advice->hotspot_count; i++) {
		row_kernel(rows, kernel);
		report_number(report, rank);
		report_string(report, advice->optimizer->name);
		if (i) {
			row_hotspot(report, kernel, &advice->hotspots[i - 1], i);
		} else {
			report_figure(report, advise_percent(advice->matched, kernel->total));
			report_figure(report, advice->speedup);
			report_figure(report, advice->low);
			report_figure(report, advice->high);
			report_number(report, 0);
			row_none(report, 15);
			report_string(report, *advice->say ? advice->say : advice->optimizer->hints);
			report_none(report);
			row_gain(rows, kernel, advice);
		}
		row_end(rows, kernel);
	}
}

static void rows_kernel(const struct rows *rows, const struct kernel *kernel, const struct advice *advice,
	unsigned count, unsigned found)
{
	struct report *report = rows->report;

	for (unsigned i = 0; i < count; i++)
		rows_advice(rows, kernel, &advice[i], i + 1);
	if (count)
		return;
	row_kernel(rows, kernel);
	report_number(report, 0);
	row_none(report, 21);
	report_string(report, found ? NULL : "no gain expected");
	row_none(report, 5);
	row_end(rows, kernel);
}

/* ---- all kernels ---- */

static int print_rows(const struct rows *rows, uint64_t top, struct error *error)
{
	struct advice *advice = calloc(optimizer_count + 1, sizeof *advice);
	size_t count;
	const struct kernel *list = kernels_list(rows->kernels, &count);
	int found = advice ? 0 : error_memory(error);

	for (size_t i = 0; i < count && found >= 0; i++) {
		found = advice_find(&list[i], advice, error);
		if (found >= 0)
			rows_kernel(rows, &list[i], advice,
				(uint64_t)found > top ? (unsigned)top : (unsigned)found, (unsigned)found);
	}
	free(advice);
	return found < 0 ? found : 0;
}

uint64_t advise_top(const struct program_call *call)
{
	return select_top(call->select) == UINT64_MAX ? ADVISE_TOP : select_top(call->select);
}

int advise_print(struct program_call *call, const struct kernels *kernels, struct run_gains *gains,
	struct error *error)
{
	struct rows rows = {call, kernels, gains, NULL};
	uint64_t top = advise_top(call);
	int rc, closed;

	if (call->format == REPORT_TABLE)
		return advise_text(stdout, call->run, kernels, gains, top, error);
	rc = report_open(&rows.report, stdout, call->format, "hpct-advise", columns,
		sizeof columns / sizeof *columns, error);
	if (rc)
		return rc;
	rc = print_rows(&rows, top, error);
	closed = report_close(rows.report, error);
	return rc ? rc : closed;
}
