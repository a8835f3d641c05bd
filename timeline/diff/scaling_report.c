/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_report.c - see scaling_report.h. */
#include "timeline/diff/scaling_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "timeline/report/report_fit.h"

void diff_amount_text(char text[REPORT_HUMAN_MAX], uint64_t amount, const char *unit)
{
	if (!strcmp(unit, "ns"))
		report_human_duration(text, amount);
	else if (!strcmp(unit, "bytes"))
		report_human_size(text, amount);
	else
		snprintf(text, REPORT_HUMAN_MAX, "%" PRIu64, amount);
}

static const struct report_column points_columns[] = {{"key", REPORT_COMPOSED}, {"model", REPORT_TEXT},
	{"exponent", REPORT_FIGURES}, {"constant", REPORT_FIGURES}, {"coefficient", REPORT_FIGURES},
	{"error_percent", REPORT_PERCENT}, {"loss_percent", REPORT_PERCENT},
	{"exclusive_loss_percent", REPORT_PERCENT}, {"share_percent", REPORT_PERCENT},
	{"exclusive_model", REPORT_TEXT}, {"exclusive_exponent", REPORT_FIGURES}, {"costs", REPORT_TEXT},
	{"verdict", REPORT_TEXT}};
static const struct report_column points_table[] = {{"loss %", REPORT_PERCENT},
	{"own loss %", REPORT_PERCENT}, {"share %", REPORT_PERCENT}, {"grows like", REPORT_TEXT},
	{"itself", REPORT_TEXT}, {"off by %", REPORT_PERCENT}, {"first", REPORT_FIGURES},
	{"last", REPORT_FIGURES}, {"key", REPORT_COMPOSED}};

static const char *growth_name(const struct scaling_fit *fit)
{
	if (fit->model == SCALING_CONSTANT || fit->coefficient == 0)
		return "constant";
	return fit->coefficient * (fit->exponent < 0 ? -1 : 1) > 0 ? "grows" : "shrinks";
}

/* "1:100 2:110 4:120" */
static void put_costs(struct report *report, const struct scaling *scaling, const struct scaling_row *row)
{
	struct store_bytes text = {0};
	char number[64];

	for (size_t i = 0; i < scaling->points; i++) {
		int size = snprintf(
			number, sizeof number, "%s%.0f:%.0f", i ? " " : "", scaling->parts[i], row->costs[i]);

		store_bytes_put(&text, number, (size_t)size);
	}
	report_text(report, (const char *)text.data, text.size);
	store_bytes_fini(&text);
}

static void points_script_row(
	struct report *report, const struct scaling *scaling, const struct scaling_row *row)
{
	report_string(report, row->key);
	report_string(report, scaling_model_name(row->fit.model));
	report_figure(report, row->fit.exponent);
	report_figure(report, row->fit.constant);
	report_figure(report, row->fit.coefficient);
	report_real(report, 100 * row->fit.error);
	report_real(report, row->loss);
	report_real(report, row->own_loss);
	report_real(report, row->share);
	report_string(report, scaling_model_name(row->own_fit.model));
	report_figure(report, row->own_fit.exponent);
	put_costs(report, scaling, row);
	report_string(report, growth_name(&row->fit));
	report_row(report);
}

static void signed_amount(char *text, size_t size, double amount, const char *unit)
{
	char human[REPORT_HUMAN_MAX];

	diff_amount_text(human, (uint64_t)llround(fabs(amount)), unit);
	snprintf(text, size, "%s%s", amount < 0 ? "-" : "", human);
}

static void put_cost(struct report *report, double cost, const char *unit)
{
	char text[SCALING_TEXT];

	signed_amount(text, sizeof text, cost, unit);
	report_string(report, text);
}

static void points_table_row(
	struct report *report, const struct scaling *scaling, const struct scaling_row *row)
{
	size_t last = scaling->points - 1;
	char text[SCALING_TEXT];

	report_real(report, row->loss);
	report_real(report, row->own_loss);
	report_real(report, row->share);
	scaling_fit_text(text, &row->fit, signed_amount, scaling->unit);
	report_string(report, text);
	scaling_fit_text(text, &row->own_fit, signed_amount, scaling->unit);
	report_string(report, text);
	report_real(report, 100 * row->fit.error);
	put_cost(report, row->costs[0], scaling->unit);
	put_cost(report, row->costs[last], scaling->unit);
	report_string(report, report_shown_path(row->key));
	report_row(report);
}

static void print_points(const struct scaling *scaling, bool is_weak)
{
	char text[SCALING_TEXT];

	printf("p is");
	for (size_t i = 0; i < scaling->points; i++)
		printf("%s %.0f", i ? "," : "", scaling->parts[i]);
	scaling_fit_text(text, &scaling->whole.fit, signed_amount, scaling->unit);
	report_fit_say(" %s; all cost%s is %s, and %.2f %% of it at %.0f are lost to scaling",
		scaling->part_name, is_weak ? " of one" : "", text, scaling->whole.loss,
		scaling->parts[scaling->points - 1]);
}

int scaling_report(const struct scaling *scaling, enum report_format format, bool is_weak, uint64_t top,
	struct error *error)
{
	bool is_table = format == REPORT_TABLE;
	struct report *report;
	int code;

	if (is_table)
		print_points(scaling, is_weak);
	code = report_open(&report, stdout, format, "hpct-diff-scaling",
		is_table ? points_table : points_columns,
		is_table ? sizeof points_table / sizeof *points_table
			 : sizeof points_columns / sizeof *points_columns,
		error);
	for (size_t i = 0; !code && i < scaling->count && i < top; i++)
		(is_table ? points_table_row : points_script_row)(report, scaling, &scaling->rows[i]);
	return code ? code : report_close(report, error);
}
