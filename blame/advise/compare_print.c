/* SPDX-License-Identifier: Apache-2.0 */
/* compare_print.c - see compare_print.h. */
#include "blame/advise/compare_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advise_place.h"
#include "blame/advise/advise_print.h"
#include "blame/advise/shown_name.h"

#define SHARE_LEAST 0.01 /* of a kernel's samples, that a reason needs on one side to be told in text */

/* What was advised of the kernel before. */
struct advised {
	struct advice *list;   /* [optimizer_count] */
	unsigned count, found; /* that are asked for, that there are */
};

struct print {
	struct program_call *call;
	const struct kernels *before, *after;
	struct report *report; /* NULL: text on stdout */
};

/* ---- text ---- */

static void text_launches(const struct kernel *kernel)
{
	char each[REPORT_HUMAN_MAX];

	report_human_duration(each, (uint64_t)(compare_launch_ns(kernel) + 0.5));
	printf("%" PRIu64 " launch%s of %s", kernel->launches, kernel->launches == 1 ? "" : "es", each);
}

static void text_advice(const struct advised *advised, double speedup)
{
	for (unsigned i = 0; i < advised->count; i++) {
		const struct advice *advice = &advised->list[i];
		const char *verdict = compare_verdict_name(compare_judge(advice, speedup));

		if (!i)
			printf("  advised before                    estimate  interval          measured\n");
		printf("   %u. %-28s %7.3fx   %.2f to %-10.2f  %s\n", i + 1, advice->optimizer->title,
			advice->speedup, advice->low, advice->high,
			*verdict      ? verdict
			: speedup > 0 ? "not of a launch's time"
				      : "");
	}
}

/* "  5.3 us  43.1 %" */
static void text_stall_side(const struct kernel *kernel, double share)
{
	char time[REPORT_HUMAN_MAX] = "-";

	if (share < 0) {
		printf("  %20s", "-");
		return;
	}
	if (kernel->launches)
		report_human_duration(time, (uint64_t)(share * compare_launch_ns(kernel) + 0.5));
	printf("  %11s %6.1f %%", time, 100 * share);
}

static void text_stalls(const struct compare_pair *pair)
{
	bool is_said = false;

	for (unsigned s = 0; s < STALL_COUNT; s++) {
		double before = compare_stall_share(pair->before, (enum stall)s),
		       after = compare_stall_share(pair->after, (enum stall)s);

		if (before < SHARE_LEAST && after < SHARE_LEAST)
			continue;
		if (!is_said)
			printf("  of a launch's time      %20s  %20s\n", "before", "after");
		is_said = true;
		printf("   %-20s", stall_name((enum stall)s));
		text_stall_side(pair->before, before);
		text_stall_side(pair->after, after);
		printf("  %s\n", stall_about((enum stall)s));
	}
}

static void text_pair(const struct compare_pair *pair, const struct advised *advised)
{
	double speedup = compare_speedup(pair);

	if (!pair->before || !pair->after) {
		const struct kernel *kernel = pair->before ? pair->before : pair->after;

		shown_name_put(stdout, kernel->name);
		printf("  only %s: ", pair->before ? "before" : "after");
		text_launches(kernel);
		printf("\n\n");
		return;
	}
	shown_name_put(stdout, pair->before->name);
	if (strcmp(pair->before->name, pair->after->name) != 0) {
		printf(" -> ");
		shown_name_put(stdout, pair->after->name);
	}
	printf("  ");
	text_launches(pair->before);
	printf(" -> ");
	text_launches(pair->after);
	if (speedup > 0)
		printf(": measured speedup %.3fx", speedup);
	printf("\n");
	text_advice(advised, speedup);
	if (!advised->found && pair->before->total > 0)
		printf("  nothing was advised before\n");
	text_stalls(pair);
	printf("\n");
}

static void text_total(const struct print *print)
{
	uint64_t before_ns = kernels_summary(print->before)->kernel_ns,
		 after_ns = kernels_summary(print->after)->kernel_ns;
	char before[REPORT_HUMAN_MAX], after[REPORT_HUMAN_MAX];

	report_human_duration(before, before_ns);
	report_human_duration(after, after_ns);
	printf("all kernels of the window: %s -> %s", before, after);
	if (before_ns && after_ns)
		printf(", %.3fx", (double)before_ns / (double)after_ns);
	printf("\n");
}

/* ---- rows ---- */

static const struct report_column columns[] = {{"kernel", REPORT_TEXT}, {"kernel_after", REPORT_TEXT},
	{"row", REPORT_TEXT}, {"before_ns", REPORT_DURATION}, {"after_ns", REPORT_DURATION},
	{"before_launches", REPORT_NUMBER}, {"after_launches", REPORT_NUMBER}, {"speedup", REPORT_NUMBER},
	{"rank", REPORT_NUMBER}, {"optimizer", REPORT_TEXT}, {"estimate", REPORT_NUMBER},
	{"estimate_low", REPORT_NUMBER}, {"estimate_high", REPORT_NUMBER}, {"verdict", REPORT_TEXT},
	{"stall", REPORT_TEXT}, {"before_percent", REPORT_PERCENT}, {"after_percent", REPORT_PERCENT}};

static void cell_known(struct report *report, double value)
{
	if (value > 0)
		report_figure(report, value);
	else
		report_none(report);
}

/* Up to the speedup. times: of a launch that count for this row; 0: unknown */
static void row_head(struct report *report, const struct compare_pair *pair, const char *row,
	double before_ns, double after_ns)
{
	report_string(report, pair->before ? pair->before->name : NULL);
	report_string(report, pair->after ? pair->after->name : NULL);
	report_string(report, row);
	if (pair->before && before_ns >= 0)
		report_number(report, (uint64_t)(before_ns + 0.5));
	else
		report_none(report);
	if (pair->after && after_ns >= 0)
		report_number(report, (uint64_t)(after_ns + 0.5));
	else
		report_none(report);
}

static void row_launches(struct report *report, const struct compare_pair *pair)
{
	if (pair->before)
		report_number(report, pair->before->launches);
	else
		report_none(report);
	if (pair->after)
		report_number(report, pair->after->launches);
	else
		report_none(report);
	cell_known(report, compare_speedup(pair));
}

static void row_none(struct report *report, unsigned count)
{
	while (count--)
		report_none(report);
}

static void row_advice(
	struct report *report, const struct compare_pair *pair, const struct advice *advice, unsigned rank)
{
	row_head(report, pair, "advice", compare_launch_ns(pair->before), compare_launch_ns(pair->after));
	row_launches(report, pair);
	report_number(report, rank);
	report_string(report, advice->optimizer->name);
	report_figure(report, advice->speedup);
	report_figure(report, advice->low);
	report_figure(report, advice->high);
	report_string(report, compare_verdict_name(compare_judge(advice, compare_speedup(pair))));
	row_none(report, 3);
	report_row(report);
}

static void cell_share(struct report *report, double share)
{
	if (share < 0)
		report_none(report);
	else
		report_real(report, 100 * share);
}

static void row_stall(struct report *report, const struct compare_pair *pair, enum stall stall)
{
	double before = compare_stall_share(pair->before, stall),
	       after = compare_stall_share(pair->after, stall);

	if (before <= 0 && after <= 0)
		return;
	row_head(report, pair, "stall", before * compare_launch_ns(pair->before),
		after * compare_launch_ns(pair->after));
	row_launches(report, pair);
	row_none(report, 6);
	report_string(report, stall_name(stall));
	cell_share(report, before);
	cell_share(report, after);
	report_row(report);
}

static void rows_pair(struct report *report, const struct compare_pair *pair, const struct advised *advised)
{
	row_head(report, pair, "kernel", compare_launch_ns(pair->before), compare_launch_ns(pair->after));
	row_launches(report, pair);
	row_none(report, 9);
	report_row(report);
	for (unsigned i = 0; i < advised->count; i++)
		row_advice(report, pair, &advised->list[i], i + 1);
	for (unsigned s = 0; s < STALL_COUNT; s++)
		row_stall(report, pair, (enum stall)s);
}

/* ---- all pairs ---- */

static int print_pairs(
	const struct print *print, const struct compare *compare, uint64_t top, struct error *error)
{
	struct advised advised = {.list = calloc(optimizer_count + 1, sizeof *advised.list)};
	int found = advised.list ? 0 : error_memory(error);

	for (size_t i = 0; i < compare->count && found >= 0; i++) {
		const struct compare_pair *pair = &compare->pairs[i];

		found = pair->before ? advice_find(pair->before, advised.list, error) : 0;
		advised.found = found < 0 ? 0 : (unsigned)found;
		advised.count = advised.found > top ? (unsigned)top : advised.found;
		if (found >= 0 && print->report)
			rows_pair(print->report, pair, &advised);
		else if (found >= 0)
			text_pair(pair, &advised);
	}
	free(advised.list);
	return found < 0 ? found : 0;
}

int compare_print(struct program_call *call, const struct kernels *before, const struct kernels *after,
	struct error *error)
{
	struct print print = {.call = call, .before = before, .after = after};
	struct compare compare;
	int rc = compare_find(&compare, before, after, error), closed = 0;

	if (rc == 0 && call->format != REPORT_TABLE)
		rc = report_open(&print.report, stdout, call->format, "hpct-advise-compare", columns,
			sizeof columns / sizeof *columns, error);
	if (rc == 0)
		rc = print_pairs(&print, &compare, advise_top(call), error);
	if (rc == 0 && !print.report)
		text_total(&print);
	if (print.report)
		closed = report_close(print.report, error);
	compare_fini(&compare);
	return rc ? rc : closed;
}
