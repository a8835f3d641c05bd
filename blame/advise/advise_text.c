/* SPDX-License-Identifier: Apache-2.0 */
/* advise_text.c - see advise_text.h. */
#include "blame/advise/advise_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advice.h"
#include "blame/advise/advise_place.h"
#include "blame/advise/shown_name.h"
#include "blame/stalls/cause_chain.h"
#include "store/base/arena.h"
#include "timeline/report/report.h"

static void text_line(FILE *out, const struct advise_place *place)
{
	if (!*place->file)
		return;
	fprintf(out, " at ");
	shown_name_put(out, place->file);
	fprintf(out, ":%u", place->line);
}

static void text_place(FILE *out, const char *word, const struct kernel_function *function, uint32_t at)
{
	struct advise_place place;

	advise_place_find(&place, function, at);
	fprintf(out, "        %s ", word);
	shown_name_put(out, place.function);
	text_line(out, &place);
	fprintf(out, " 0x%" PRIx64 " %s", place.address, place.instruction);
	if (function->code.loop_of[at] == LOOP_NONE)
		fprintf(out, "\n");
	else if (place.loop_line)
		fprintf(out, " in Loop at Line %u\n", place.loop_line);
	else
		fprintf(out, " in a Loop\n");
}

static void text_step(FILE *out, const struct cause_step *step, const struct kernel_function *before)
{
	static const char *const words[] = {"which waits for", "which loads what may come from",
		"which waits for the copy", "which others reach late, by",
		"which computes with what its caller has from"};
	static const char *const shares[] = {"its stalls", "the stalls of such stores", "such copies",
		"the stalls since the barrier before", "the stalls where it is computed"};
	struct advise_place place;

	advise_place_find(&place, step->function, step->at);
	fprintf(out, "        %s 0x%" PRIx64 " %s", words[step->link], place.address, place.instruction);
	if (step->function != before) {
		fprintf(out, " in ");
		shown_name_put(out, place.function);
	}
	text_line(out, &place);
	fprintf(out, " (");
	if (step->cause)
		fprintf(out, "%s, ", stall_name((enum stall)step->cause->stall));
	fprintf(out, "%.1f %% of %s)", 100 * step->share, shares[step->link]);
}

/* What the instruction that is waited for waited for itself, back to the root. */
static void text_chain(
	FILE *out, const struct kernel *kernel, const struct kernel_function *function, uint32_t from)
{
	struct cause_step steps[CAUSE_CHAIN_MAX];
	unsigned count = cause_chain_find(kernel, function, from, steps);

	for (unsigned i = 0; i < count; i++) {
		text_step(out, &steps[i], i ? steps[i - 1].function : function);
		fprintf(out, "%s\n", i + 1 == count ? ": the root" : "");
	}
}

static void text_hotspot(
	FILE *out, const struct kernel *kernel, const struct advice_hotspot *hotspot, unsigned number)
{
	const struct cause *cause = &hotspot->cause;

	fprintf(out, "     %u. %s (%s), importance %.3f %%, speedup %.3fx", number,
		cause->class == CAUSE_SELF ? stall_about((enum stall)cause->stall)
					   : cause_class_name((enum cause_class)cause->class),
		stall_name((enum stall)cause->stall), advise_percent(cause->samples, kernel->total),
		hotspot->speedup);
	if (cause->distance)
		fprintf(out, ", distance %u", cause->distance);
	fprintf(out, "\n");
	if (cause->class == CAUSE_SELF) {
		text_place(out, "At  ", hotspot->function, cause->use);
		return;
	}
	text_place(out, "From", hotspot->function, cause->define);
	text_place(out, "To  ", hotspot->function, cause->use);
	text_chain(out, kernel, hotspot->function, cause->define);
}

static void text_hints(FILE *out, const char *hints)
{
	while (*hints) {
		size_t size = strcspn(hints, "\n");

		fprintf(out, "      %.*s\n", (int)size, hints);
		hints += size + (hints[size] == '\n');
	}
}

/* What the whole window gains, if that can be told. */
static void text_gain(
	FILE *out, const struct kernel *kernel, const struct advice *advice, struct run_gains *gains)
{
	char window[REPORT_HUMAN_MAX], low[REPORT_HUMAN_MAX], high[REPORT_HUMAN_MAX];
	struct run_gain gain;

	if (!gains || !run_gains_of(gains, kernel, advice, &gain))
		return;
	report_human_duration(window, gain.window_ns);
	report_human_duration(low, (uint64_t)((double)gain.window_ns * (1 - 1 / gain.low)));
	report_human_duration(high, (uint64_t)((double)gain.window_ns * (1 - 1 / gain.high)));
	fprintf(out, "      of the run's %s this spares %s to %s: %.3fx to %.3fx (interval: %.3f to %.3f)\n",
		window, low, high, gain.low, gain.high, gain.least, gain.most);
}

static void text_advice(FILE *out, const struct kernel *kernel, const struct advice *advice, unsigned number,
	struct run_gains *gains)
{
	fprintf(out, "   %u. %s: importance %.3f %%, estimated speedup %.3fx (%.2f to %.2f)\n", number,
		advice->optimizer->title, advise_percent(advice->matched, kernel->total), advice->speedup,
		advice->low, advice->high);
	if (*advice->say)
		fprintf(out, "      %s.\n", advice->say);
	text_gain(out, kernel, advice, gains);
	text_hints(out, advice->optimizer->hints);
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		text_hotspot(out, kernel, &advice->hotspots[i], i + 1);
}

static void text_section(FILE *out, const struct kernel *kernel, const struct advice *advice, unsigned count,
	bool is_parallel, struct run_gains *gains)
{
	unsigned number = 0;

	for (unsigned i = 0; i < count; i++) {
		if ((advice[i].optimizer->category == OPTIMIZER_PARALLEL) != is_parallel)
			continue;
		if (!number++)
			fprintf(out, "  %s optimizers\n", is_parallel ? "Parallel" : "Code");
		text_advice(out, kernel, &advice[i], number, gains);
	}
}

static void text_launch(FILE *out, struct run *run, const struct kernel *kernel, struct arena *arena)
{
	const struct kernel_shape *shape = &kernel->shape;
	char *path = kernel->context ? run_context_path(run, kernel->context, UINT32_MAX, arena) : NULL;

	if (!kernel->launches) {
		fprintf(out, "  no launch of it is known in this window\n");
		return;
	}
	fprintf(out, "  %" PRIu64 " launch%s from %" PRIu64 " call path%s", kernel->launches,
		kernel->launches == 1 ? "" : "es", kernel->paths, kernel->paths == 1 ? "" : "s");
	if (shape->grid)
		fprintf(out, ", grid %ux%ux%u, block %ux%ux%u, %u registers", shape->extent[0],
			shape->extent[1], shape->extent[2], shape->extent[3], shape->extent[4],
			shape->extent[5], shape->registers);
	fprintf(out, "\n");
	if (path)
		fprintf(out, "  %.1f %% of its time by %s\n",
			advise_percent((double)kernel->context_ns, (double)kernel->time_ns), path);
}

/* How surely the samples are of the launches that the window and the call paths choose. */
static void text_share(FILE *out, const struct launch_samples_share *share)
{
	double whole = share->exact + share->shared + share->unknown;

	if (share->exact + share->shared > 0)
		fprintf(out,
			"  samples of launches: %.1f %% of one call path, exact; %.1f %% of several, shared "
			"by time",
			advise_percent(share->exact, whole), advise_percent(share->shared, whole));
	if (share->exact + share->shared > 0 && share->unknown > 0)
		fprintf(out, "; %.1f %% of none that is known", advise_percent(share->unknown, whole));
	if (share->exact + share->shared > 0)
		fprintf(out, "\n");
	if (share->cut > 0)
		fprintf(out,
			"  %.1f %% are of read-outs that the window cuts: the launches' time in it counts\n",
			advise_percent(share->cut, whole));
}

/* found: pieces of advice there are, of which `count` are asked for. */
static void text_kernel(FILE *out, struct run *run, const struct kernels *kernels,
	const struct kernel *kernel, const struct advice *advice, unsigned count, unsigned found,
	struct run_gains *gains, struct arena *arena)
{
	char duration[REPORT_HUMAN_MAX];
	double single, explained = advise_explained(kernel, &single);

	report_human_duration(duration, kernel->time_ns);
	shown_name_put(out, kernel->name);
	fprintf(out, "  %s, %.1f %% of kernel time\n", duration,
		advise_percent((double)kernel->time_ns, (double)kernels_summary(kernels)->kernel_ns));
	text_launch(out, run, kernel, arena);
	fprintf(out, "  %.0f samples: issued %.1f %%, active %.1f %%, latency %.1f %%",
		kernel->period ? kernel->total / (double)kernel->period : kernel->total,
		advise_percent(kernel->issued, kernel->total), advise_percent(kernel->active, kernel->total),
		advise_percent(kernel->latency, kernel->total));
	if (kernel->unread > 0)
		fprintf(out, ", %.1f %% in code that the run does not keep",
			advise_percent(kernel->unread, kernel->total));
	fprintf(out, "\n");
	if (kernel->expected > 0)
		fprintf(out, "  utilization %.1f %%: on average %.1f of %u multiprocessors had work\n",
			advise_percent(kernel->total, kernel->expected),
			kernel->total / kernel->expected * kernel->multiprocessors, kernel->multiprocessors);
	text_share(out, &kernel->share);
	fprintf(out, "  causes found for %.1f %% of dependency stalls, single dependency coverage %.2f\n",
		explained, single);
	text_section(out, kernel, advice, count, false, gains);
	text_section(out, kernel, advice, count, true, gains);
	if (!found)
		fprintf(out, "  no gain expected from any change that is known here\n");
	fprintf(out, "\n");
}

static void text_end(FILE *out, const struct kernels *kernels)
{
	const struct kernels_summary *summary = kernels_summary(kernels);

	fprintf(out, "%" PRIu64 " instructions decoded, %.2f %% of them unknown; %" PRIu64 " samples lost\n",
		summary->instructions, advise_percent((double)summary->opaque, (double)summary->instructions),
		summary->lost);
}

int advise_text(FILE *out, struct run *run, const struct kernels *kernels, struct run_gains *gains,
	uint64_t top, struct error *error)
{
	struct advice *advice = calloc(optimizer_count + 1, sizeof *advice);
	struct arena arena = {0};
	size_t count;
	const struct kernel *list = kernels_list(kernels, &count);
	int found = advice ? 0 : error_memory(error);

	for (size_t i = 0; i < count && found >= 0; i++) {
		found = advice_find(&list[i], advice, error);
		if (found >= 0)
			text_kernel(out, run, kernels, &list[i], advice,
				(uint64_t)found > top ? (unsigned)top : (unsigned)found, (unsigned)found,
				gains, &arena);
	}
	if (found >= 0)
		text_end(out, kernels);
	arena_fini(&arena);
	free(advice);
	return found < 0 ? found : 0;
}
