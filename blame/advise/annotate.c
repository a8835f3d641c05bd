/* SPDX-License-Identifier: Apache-2.0 */
/* annotate.c - see annotate.h. */
#include "blame/advise/annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advise_place.h"
#include "blame/advise/shown_name.h"
#include "blame/stalls/kernel_listing.h"

#define KEPT 3u		/* instructions without samples that are printed on each side of what is left out */
#define CAUSE_LEAST 0.1 /* of an instruction's samples, that is worth a word */

const struct report_column annotate_columns[] = {{"kernel", REPORT_TEXT}, {"function", REPORT_TEXT},
	{"address", REPORT_NUMBER}, {"instruction", REPORT_TEXT}, {"defines", REPORT_TEXT},
	{"uses", REPORT_TEXT}, {"file", REPORT_TEXT}, {"line", REPORT_NUMBER}, {"loop_line", REPORT_NUMBER},
	{"samples", REPORT_NUMBER}, {"percent", REPORT_PERCENT}, {"issued_percent", REPORT_PERCENT},
	{"latency_percent", REPORT_PERCENT}, {"stall", REPORT_TEXT}, {"stall_percent", REPORT_PERCENT},
	{"cause_address", REPORT_NUMBER}, {"cause_percent", REPORT_PERCENT}};
const unsigned annotate_column_count = sizeof annotate_columns / sizeof *annotate_columns;

/* What is said of one instruction. */
struct figures {
	struct listing_figures of;
	struct listing_cause cause; /* that explains most of its stalls */
	bool has_cause;		    /* false: they stay here, or there are none */
};

static struct figures figures_of(const struct kernel_function *function, uint32_t at)
{
	struct listing_cause causes[LISTING_CAUSES];
	struct figures figures;

	listing_figures_find(&figures.of, function, at);
	figures.has_cause = listing_causes_find(function, at, causes) > 0;
	if (figures.has_cause)
		figures.cause = causes[0];
	return figures;
}

/* ---- text ---- */

#define SHARE_COLUMNS 30 /* ahead of the instruction */

struct listing {
	FILE *out;
	const struct kernel *kernel;
	const struct kernel_function *function;
	bool *is_kept;	  /* [count] */
	const char *file; /* of the line that was printed last */
	uint32_t line;
	unsigned width;
};

/* What was sampled, what it waits for, and some neighbours. */
static void keep_some(struct listing *listing)
{
	const struct kernel_code *code = &listing->function->code;

	for (uint32_t at = 0; at < code->count; at++) {
		struct figures figures = figures_of(listing->function, at);

		if (figures.of.all <= 0)
			continue;
		for (uint32_t i = at > KEPT ? at - KEPT : 0; i < code->count && i <= at + KEPT; i++)
			listing->is_kept[i] = true;
		if (figures.has_cause && figures.cause.samples >= CAUSE_LEAST * figures.of.all)
			listing->is_kept[figures.cause.define] = true;
	}
}

static void text_line(struct listing *listing, const struct advise_place *place)
{
	if (!*place->file ||
		(listing->file && place->line == listing->line && !strcmp(place->file, listing->file)))
		return;
	fprintf(listing->out, "  ");
	shown_name_put(listing->out, place->file);
	fprintf(listing->out, ":%u", place->line);
	if (place->loop_line)
		fprintf(listing->out, ", in the loop at line %u", place->loop_line);
	fprintf(listing->out, "\n");
	listing->file = place->file;
	listing->line = place->line;
}

static void text_instruction(struct listing *listing, uint32_t at)
{
	const struct kernel_code *code = &listing->function->code;
	struct figures figures = figures_of(listing->function, at);
	char instruction[LISTING_TEXT], share[16] = "", stall[32] = "";
	struct advise_place place;
	int room = (int)listing->width - SHARE_COLUMNS - 24;

	advise_place_find(&place, listing->function, at);
	text_line(listing, &place);
	listing_instruction_write(instruction, sizeof instruction, code->isa, &code->instructions[at]);
	if (figures.of.all > 0)
		snprintf(share, sizeof share, "%.2f", advise_percent(figures.of.all, listing->kernel->total));
	if (figures.of.of_stall > 0)
		snprintf(stall, sizeof stall, "%s %.0f%%", stall_name(figures.of.stall),
			advise_percent(figures.of.of_stall, figures.of.all));
	fprintf(listing->out, "%8s  %-10s %6" PRIx64 "  ", share, stall, place.address);
	if (!figures.has_cause || figures.cause.samples < CAUSE_LEAST * figures.of.all) {
		fprintf(listing->out, "%s\n", instruction);
		return;
	}
	fprintf(listing->out, "%-*s  waits for %" PRIx64 " %s", room > 0 ? room : 0, instruction,
		code->addresses[figures.cause.define] - code->start,
		code->instructions[figures.cause.define].name);
	fprintf(listing->out, " %.0f%%", advise_percent(figures.cause.samples, figures.of.all));
	fprintf(listing->out, "\n");
}

static int text_function(struct listing *listing, struct error *error)
{
	const struct kernel_code *code = &listing->function->code;
	uint32_t left_out = 0;
	char name[DEMANGLE_MAX];

	listing->is_kept = calloc(code->count + 1, sizeof *listing->is_kept);
	if (!listing->is_kept)
		return error_memory(error);
	keep_some(listing);
	if (!demangle_symbol(code->name, name, sizeof name))
		snprintf(name, sizeof name, "%s", code->name);
	fprintf(listing->out, " %s", listing->function->is_kernel ? "" : "calls ");
	shown_name_put(listing->out, name);
	fprintf(listing->out, "  %.2f %% of its samples\n",
		advise_percent(listing->function->total, listing->kernel->total));
	fprintf(listing->out, "%8s  %-10s %6s  %s\n", "percent", "stall", "at",
		"instruction: defines <- uses");
	listing->file = NULL;
	for (uint32_t at = 0; at <= code->count; at++) {
		if (at < code->count && !listing->is_kept[at]) {
			left_out++;
			continue;
		}
		if (left_out)
			fprintf(listing->out, "%22s... %u without samples\n", "", left_out);
		left_out = 0;
		if (at < code->count)
			text_instruction(listing, at);
	}
	free(listing->is_kept);
	return 0;
}

/* As kernels_list() has them. */
int annotate_text(FILE *out, const struct kernels *kernels, unsigned width, struct error *error)
{
	size_t count;
	const struct kernel *list = kernels_list(kernels, &count);
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		char duration[REPORT_HUMAN_MAX];

		report_human_duration(duration, list[i].time_ns);
		shown_name_put(out, list[i].name);
		fprintf(out, "  %s, %.1f %% of kernel time\n", duration,
			advise_percent((double)list[i].time_ns, (double)kernels_summary(kernels)->kernel_ns));
		if (list[i].unread > 0)
			fprintf(out, "  %.1f %% of its samples in code that the run does not keep\n",
				advise_percent(list[i].unread, list[i].total));
		for (size_t f = 0; f < list[i].function_count && rc == 0; f++) {
			struct listing listing = {.out = out,
				.kernel = &list[i],
				.function = &list[i].functions[f],
				.width = width};

			if (list[i].functions[f].total > 0)
				rc = text_function(&listing, error);
		}
		fprintf(out, "\n");
	}
	return rc;
}

/* ---- rows ---- */

static void row_instruction(struct report *report, const struct kernel *kernel,
	const struct kernel_function *function, uint32_t at)
{
	const struct gpu_instruction *instruction = &function->code.instructions[at];
	struct figures figures = figures_of(function, at);
	char defines[LISTING_SET], uses[LISTING_SET], name[64], guard[16];
	struct advise_place place;
	double unit = kernel->period ? (double)kernel->period : 1;

	advise_place_find(&place, function, at);
	listing_guard_write(guard, sizeof guard, instruction);
	snprintf(name, sizeof name, "%s%s", guard, instruction->name);
	listing_set_write(defines, sizeof defines, function->code.isa, &instruction->defines);
	listing_set_write(uses, sizeof uses, function->code.isa, &instruction->uses);
	report_string(report, kernel->name);
	report_string(report, place.function);
	report_number(report, place.address);
	report_string(report, name);
	report_string(report, defines);
	report_string(report, uses);
	report_string(report, place.file);
	report_number(report, place.line);
	report_number(report, place.loop_line);
	report_number(report, (uint64_t)(figures.of.all / unit + 0.5));
	report_real(report, advise_percent(figures.of.all, kernel->total));
	report_real(report, advise_percent(figures.of.issued, figures.of.all));
	report_real(report, advise_percent(figures.of.latency, figures.of.all));
	if (figures.of.of_stall > 0)
		report_string(report, stall_name(figures.of.stall));
	else
		report_none(report);
	report_real(report, advise_percent(figures.of.of_stall, figures.of.all));
	if (figures.has_cause) {
		report_number(report, function->code.addresses[figures.cause.define] - function->code.start);
		report_real(report, advise_percent(figures.cause.samples, figures.of.all));
	} else {
		report_none(report);
		report_none(report);
	}
	report_row(report);
}

void annotate_rows(struct report *report, const struct kernels *kernels)
{
	size_t count;
	const struct kernel *list = kernels_list(kernels, &count);

	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < list[i].function_count; f++)
			for (uint32_t at = 0; at < list[i].functions[f].code.count; at++)
				row_instruction(report, &list[i], &list[i].functions[f], at);
}
