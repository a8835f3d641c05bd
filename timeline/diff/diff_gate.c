/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_gate.c - gates for continuous integration: limits on growth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/base/glob.h"
#include "timeline/diff/diff.h"
#include "timeline/report/report.h"
#include "timeline/select/select_time.h"

static bool parse_percent(const char *text, double *percent)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*percent = strtod(text, &end);
	return end[0] == '%' && !end[1];
}

int diff_gate_parse(struct diff_gate *gate, const char *text, struct arena *arena, struct error *error)
{
	const char *sign = NULL;

	/* Keys may hold a '>' themselves. */
	for (const char *at = text; (at = strstr(at, ">+")); at++)
		sign = at;
	*gate = (struct diff_gate){.text = text};
	if (!sign || sign == text ||
		(!parse_percent(sign + 2, &gate->percent) && !select_duration(sign + 2, &gate->duration_ns)))
		return error_set(error, ERROR_USAGE,
			"--gate '%s': write GLOB>+PERCENT%% or GLOB>+DURATION, as in 'solve*>+5%%'", text);
	gate->glob = arena_copy(arena, text, (size_t)(sign - text));
	return gate->glob ? 0 : error_memory(error);
}

static double limit_of(const struct diff_gate *gate, const struct diff_row *row)
{
	if (gate->duration_ns)
		return (double)gate->duration_ns;
	return gate->percent / 100 * (double)row->time_ns[DIFF_A];
}

static void say(const struct diff_gate *gate, const struct diff_row *row, const char *what, size_t others,
	enum error_code code, struct error *why)
{
	char a[REPORT_HUMAN_MAX], b[REPORT_HUMAN_MAX], noise[REPORT_HUMAN_MAX];

	report_human_duration(a, row->time_ns[DIFF_A]);
	report_human_duration(b, row->time_ns[DIFF_B]);
	if (row->is_noise_known)
		report_human_duration(noise, row->noise_ns);
	else
		strcpy(noise, "not known");
	error_set(why, code, "gate '%s' %s: %s went from %s to %s, noise %s%s", gate->text, what,
		report_shown_path(row->key), a, b, noise, others ? ", and others" : "");
}

static bool is_covered(
	const struct diff_gate *gate, const struct diff_result *result, double least, struct error *why)
{
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		if (result->coverage[side] >= least)
			continue;
		error_set(why, ERROR_EMPTY,
			"gate '%s' cannot be judged: only %.1f %% of %s is known, and --coverage asks for "
			"%.1f %%",
			gate->text, 100 * result->coverage[side], side == DIFF_A ? "A" : "B", 100 * least);
		return false;
	}
	return true;
}

enum diff_verdict diff_gate_judge(const struct diff_gate *gate, const struct diff_result *result,
	double least_coverage, struct error *why)
{
	const struct diff_row *hit = NULL, *hidden = NULL;
	size_t matches = 0, hits = 0;

	*why = (struct error){0};
	if (!is_covered(gate, result, least_coverage, why))
		return DIFF_UNJUDGED;
	for (size_t i = 0; i < result->count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (!glob_match(gate->glob, row->key))
			continue;
		matches++;
		if ((double)row->delta_ns <= limit_of(gate, row))
			continue;
		if (row->delta_ns <= (int64_t)row->noise_ns) {
			hidden = hidden ? hidden : row;
			continue;
		}
		hits++;
		hit = hit ? hit : row;
	}
	if (hit)
		say(gate, hit, "is hit", hits - 1, ERROR_GATE, why);
	else if (hidden)
		say(gate, hidden, "holds only because of the noise (repeats lower it)", 0, ERROR_NONE, why);
	else if (!matches)
		error_set(why, ERROR_EMPTY, "gate '%s' cannot be judged: no key of A or B matches it",
			gate->text);
	return hit ? DIFF_HIT : matches ? DIFF_HOLDS : DIFF_UNJUDGED;
}
