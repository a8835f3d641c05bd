/* SPDX-License-Identifier: Apache-2.0 */
/* run_page_html.c - see run_page_html.h: rows by section, each section as what shows it best. */
#include "blame/report/run_page_html.h"

#include <inttypes.h>
#include <string.h>

#include "blame/report/run_page_timeline.h"
#include "timeline/profile/flame.h"
#include "timeline/report/report.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
	"body{font:14px/1.45 system-ui,sans-serif;max-width:1240px;margin:1.5em auto;padding:0 1em;"
	"color:#222;background:#fff}\n"
	"h1{font-size:1.3em}h2{font-size:1.15em;border-top:2px solid #ddd;padding-top:1em;margin-top:2em}\n"
	"h3{font-size:1em;margin:1.4em 0 .3em}\n"
	".verdict{font-size:1.1em;font-weight:600}.note{color:#666;margin:.2em 0}\n"
	".bar{display:flex;height:26px;border:1px solid #bbb;border-radius:3px;overflow:hidden}\n"
	".bar div{min-width:1px}\n"
	".key{display:inline-block;width:.8em;height:.8em;border:1px solid #999;margin-right:.4em}\n"
	"table{border-collapse:collapse}td,th{padding:.12em .7em .12em 0;text-align:left;"
	"vertical-align:top}\n"
	"th{color:#666;font-weight:normal;border-bottom:1px solid #ddd}\n"
	"td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
	"td.path{font-family:monospace;font-size:12px;word-break:break-all}\n"
	".gauge{display:inline-block;width:140px;height:.7em;background:#eee}\n"
	".gauge span{display:block;height:100%;background:#3d7ea6}\n"
	".fails{color:#b3261e;font-weight:600}.holds{color:#1b7f3b}\n"
	"svg{width:100%;height:auto;border:1px solid #eee;margin:.3em 0}\n"
	"</style>\n<title>";

void run_page_html_begin(FILE *out, const char *title)
{
	fputs(head, out);
	run_page_put_escaped(out, title);
	fputs("</title>\n</head>\n<body>\n<h1>", out);
	run_page_put_escaped(out, title);
	fputs("</h1>\n", out);
}

void run_page_html_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}

/* ---- parts ---- */

static bool is_section(const struct run_page_row *row, const char *section)
{
	return strcmp(row->section, section) == 0;
}

static bool has_section(const struct run_page *page, const char *section)
{
	for (size_t i = 0; i < page->count; i++)
		if (is_section(&page->rows[i], section))
			return true;
	return false;
}

static void put_cell(FILE *out, const char *class, const char *text)
{
	fprintf(out, "<td class=\"%s\">", class);
	run_page_put_escaped(out, text);
	fputs("</td>", out);
}

static void put_time(FILE *out, const struct run_page_row *row)
{
	char text[REPORT_HUMAN_MAX] = "";

	if (row->has_time)
		report_human_duration(text, row->time_ns);
	put_cell(out, "n", text);
}

static void put_percent(FILE *out, const struct run_page_row *row)
{
	char text[REPORT_HUMAN_MAX] = "";

	if (row->has_percent)
		snprintf(text, sizeof text, "%.2f %%", row->percent);
	put_cell(out, "n", text);
}

static void put_count(FILE *out, const struct run_page_row *row)
{
	char text[REPORT_HUMAN_MAX] = "";

	if (row->has_count)
		snprintf(text, sizeof text, "%" PRIu64, row->count);
	put_cell(out, "n", text);
}

static void put_key(FILE *out, const struct run_page_row *row)
{
	fputs("<td>", out);
	if (row->has_class)
		fprintf(out, "<span class=\"key\" style=\"background:%s\"></span>",
			run_page_class_colour((enum time_class)row->class));
	run_page_put_escaped(out, row->key);
	fputs("</td>", out);
}

static void put_gauge(FILE *out, double percent)
{
	fprintf(out, "<td><span class=\"gauge\"><span style=\"width:%.1f%%\"></span></span></td>",
		percent < 100 ? percent : 100);
}

/* ---- sections of a run ---- */

static void put_facts(FILE *out, const struct run_page *page)
{
	fputs("<p class=\"verdict\">", out);
	run_page_put_escaped(out, page->headline);
	fputs("</p>\n<p class=\"note\">", out);
	for (size_t i = 0; i < page->count; i++) {
		const struct run_page_row *row = &page->rows[i];
		char text[RUN_PAGE_TEXT];

		run_page_figure_text(text, row, run_page_figure(row));
		if (is_section(row, "run") && strcmp(row->key, "wall") == 0)
			fprintf(out, "window %s. ", text);
		if (is_section(row, "coverage"))
			run_page_put_escaped(out, row->text);
	}
	fputs("</p>\n", out);
}

static void put_bar(FILE *out, const struct run_page *page)
{
	fputs("<div class=\"bar\">", out);
	for (size_t i = 0; i < page->count; i++) {
		const struct run_page_row *row = &page->rows[i];

		if (is_section(row, "threads") && row->has_class)
			fprintf(out, "<div style=\"width:%.2f%%;background:%s\" title=\"%s %.2f %%\"></div>",
				row->percent, run_page_class_colour((enum time_class)row->class), row->key,
				row->percent);
	}
	fputs("</div>\n", out);
}

/* Rows of a section with what they may have; `with`: letters of columns, in this order: time, percent, gauge,
 * count, path, words. */
static void put_section(
	FILE *out, const struct run_page *page, const char *section, const char *title, const char *with)
{
	if (!has_section(page, section))
		return;
	fprintf(out, "<h3>%s</h3>\n<table>\n", title);
	for (size_t i = 0; i < page->count; i++) {
		const struct run_page_row *row = &page->rows[i];

		if (!is_section(row, section) || row->is_minor)
			continue;
		fputs("<tr>", out);
		put_key(out, row);
		for (const char *c = with; *c; c++)
			if (*c == 't')
				put_time(out, row);
			else if (*c == 'p')
				put_percent(out, row);
			else if (*c == 'g')
				put_gauge(out, row->percent);
			else if (*c == 'c')
				put_count(out, row);
			else
				put_cell(out, *c == 'P' ? "path" : "note", *c == 'P' ? row->path : row->text);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void put_gates(FILE *out, const struct run_page *page)
{
	if (!has_section(page, "gate"))
		return;
	fputs("<h3>Gates</h3>\n<table>\n", out);
	for (size_t i = 0; i < page->count; i++) {
		const struct run_page_row *row = &page->rows[i];

		if (!is_section(row, "gate"))
			continue;
		fputs("<tr>", out);
		put_cell(out, row->key, row->key);
		put_cell(out, "", row->text);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

void run_page_html_run(FILE *out, const struct run_page *page)
{
	fputs("<section>\n<h2>", out);
	run_page_put_escaped(out, page->name);
	fputs("</h2>\n", out);
	put_facts(out, page);
	put_gates(out, page);
	put_bar(out, page);
	put_section(out, page, "threads", "Threads' time by class", "tpw");
	put_section(out, page, "gpus", "GPUs, since their first use", "tpw");
	put_section(out, page, "operations", "GPU operations", "tcw");
	put_section(out, page, "efficiency", "Efficiencies", "pgw");
	put_section(out, page, "paths", "Largest call paths of each class", "tpP");
	put_section(out, page, "alike", "Threads that do alike: how many, and what they do more of than all",
		"cpPw");
}

/* ---- the group ---- */

void run_page_html_group(
	FILE *out, const struct run_page *group, const struct run_page *pages, uint32_t count)
{
	fputs("<section>\n<h2>", out);
	if (strcmp(group->name, "*") == 0)
		fprintf(out, "All %u runs", count);
	else
		run_page_put_escaped(out, group->name);
	fputs("</h2>\n<p class=\"verdict\">", out);
	run_page_put_escaped(out, group->headline);
	fputs("</p>\n<table>\n<tr><th></th><th></th><th>mean</th><th>least</th><th>most</th><th>most in</th>"
	      "<th></th></tr>\n",
		out);
	for (size_t i = 0; i < group->count; i++) {
		const struct run_page_row *row = &group->rows[i];
		double values[] = {run_page_figure(row), row->least, row->most};

		fputs("<tr>", out);
		put_cell(out, "note",
			i && strcmp(row->section, group->rows[i - 1].section) == 0 ? "" : row->section);
		put_key(out, row);
		for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
			char text[RUN_PAGE_TEXT];

			run_page_figure_text(text, row, values[j]);
			put_cell(out, "n", text);
		}
		put_cell(out, "", row->most > row->least ? pages[row->most_run].name : "");
		put_cell(out, row->path ? "path" : "note", row->path ? row->path : row->text);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n</section>\n", out);
}

/* ---- pictures ---- */

/* A metric's time by call path; nothing of it is no picture. */
static int put_flame(FILE *out, struct run *run, struct select *select, const char *metric, const char *title,
	struct arena *arena, struct error *error)
{
	struct profile profile;
	struct flame flame;
	int rc = select_option(select, "metric", metric, error);

	if (!rc)
		rc = select_bind(select, run, error);
	if (!rc)
		rc = profile_compute(&profile, run, select, PROFILE_TOP_DOWN, arena, error);
	if (!rc)
		rc = flame_lay(&flame, &profile, false, 0, arena, error);
	if (rc)
		return rc;
	if (!flame.count || !flame.total)
		return 0;
	fprintf(out, "<h3>%s</h3>\n<p class=\"note\">A click on a box zooms, on the lowest one back.</p>\n",
		title);
	flame_svg(&flame, title, out);
	return 0;
}

int run_page_html_pictures(FILE *out, struct run *run, struct select *select, const struct run_report *report,
	struct arena *arena, struct error *error)
{
	int rc;

	if (report->clusters.cluster_count > 1)
		fputs("<p class=\"note\">How much two threads differ: darker where they do other "
		      "things.</p>\n",
			out);
	run_page_heat_svg(out, run, &report->clusters);
	fputs("<h3>Timeline</h3>\n", out);
	rc = run_page_timeline_svg(out, run, select, report, error);
	if (!rc && report->threads)
		rc = put_flame(out, run, select, "REALTIME", "Threads' time by call path, working or waiting",
			arena, error);
	if (!rc && report->has_gpu)
		rc = put_flame(
			out, run, select, "GKER", "Time of kernels by launching call path", arena, error);
	fputs("</section>\n", out);
	return rc;
}
