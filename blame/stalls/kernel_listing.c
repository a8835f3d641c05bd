/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_listing.c - see kernel_listing.h. */
#include "blame/stalls/kernel_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/cause_chain.h"
#include "blame/stalls/kernel.h"
#include "timeline/debug/demangle.h"

/* Of a kernel's samples, that wait for an instruction whose own wait is sought. */
#define FEEDING_LEAST 0.01

/* ---- one instruction ---- */

void listing_figures_find(
	struct listing_figures *figures, const struct kernel_function *function, uint32_t at)
{
	const struct cause_samples *samples = &function->samples[at];

	*figures = (struct listing_figures){.issued = samples->all[STALL_NONE], .stall = STALL_NONE};
	for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
		figures->all += samples->all[stall];
		figures->latency += samples->latency[stall];
		if (stall == STALL_NONE || samples->all[stall] <= figures->of_stall)
			continue;
		figures->stall = (enum stall)stall;
		figures->of_stall = samples->all[stall];
	}
}

/* Adds to the cause that is there; when there is no room the smallest goes. */
static unsigned put_cause(struct listing_cause *causes, unsigned count, const struct cause *cause)
{
	unsigned least = 0;

	for (unsigned i = 0; i < count; i++) {
		if (causes[i].define == cause->define) {
			causes[i].samples += cause->samples;
			return count;
		}
		if (causes[i].samples < causes[least].samples)
			least = i;
	}
	if (count == LISTING_CAUSES && causes[least].samples >= cause->samples)
		return count;
	causes[count < LISTING_CAUSES ? count : least] =
		(struct listing_cause){cause->define, cause->samples};
	return count < LISTING_CAUSES ? count + 1 : count;
}

static int cause_compare(const void *left, const void *right)
{
	const struct listing_cause *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->define < b->define ? -1 : a->define > b->define;
}

unsigned listing_causes_find(
	const struct kernel_function *function, uint32_t use, struct listing_cause causes[LISTING_CAUSES])
{
	const struct causes *all = &function->causes;
	unsigned count = 0;

	for (size_t i = causes_first_of(all, use); i < all->count && all->list[i].use == use; i++)
		if (all->list[i].class != CAUSE_SELF)
			count = put_cause(causes, count, &all->list[i]);
	qsort(causes, count, sizeof *causes, cause_compare);
	return count;
}

/* ---- text ---- */

void listing_set_write(char *text, size_t size, const struct gpu_isa *isa, const struct gpu_set *set)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned first = 0; first < GPU_RESOURCES && used + 16 < size; first++) {
		unsigned last = first;

		if (!gpu_set_has(set, first))
			continue;
		while (last + 1 < GPU_RESOURCES && gpu_set_has(set, last + 1) && isa->is_run(last))
			last++;
		if (used)
			text[used++] = ' ';
		used += (size_t)isa->resource_name(first, text + used, size - used);
		if (last == first)
			continue;
		text[used++] = '-';
		used += (size_t)isa->resource_name(last, text + used, size - used);
		first = last;
	}
}

void listing_guard_write(char *text, size_t size, const struct gpu_instruction *instruction)
{
	*text = '\0';
	if (instruction->guard != GPU_ALWAYS)
		snprintf(text, size, "@%s%sP%u ", instruction->is_guard_negated ? "!" : "",
			instruction->is_guard_uniform ? "U" : "", instruction->guard);
}

void listing_instruction_write(
	char *text, size_t size, const struct gpu_isa *isa, const struct gpu_instruction *instruction)
{
	char guard[16], defines[LISTING_SET], uses[LISTING_SET];
	struct gpu_set used = instruction->uses;

	listing_guard_write(guard, sizeof guard, instruction);
	if (instruction->guard != GPU_ALWAYS) {
		unsigned resource = instruction->guard +
				    (instruction->is_guard_uniform ? GPU_UNIFORM_PREDICATE : GPU_PREDICATE);

		used.words[resource / 64] &= ~(UINT64_C(1) << resource % 64);
	}
	listing_set_write(defines, sizeof defines, isa, &instruction->defines);
	listing_set_write(uses, sizeof uses, isa, &used);
	snprintf(text, size, "%s%s%s%s%s%s", guard, instruction->name, *defines ? " " : "", defines,
		*uses ? " <- " : "", uses);
}

/* ---- a kernel: what it consists of ---- */

struct maker {
	struct kernel_listing *listing;
	const struct kernel *kernel;
	uint32_t *first; /* [function_count] instruction of each of the kernel's functions in the listing */
	size_t source_room;
};

static char *copy(struct kernel_listing *listing, const char *text)
{
	return arena_copy(&listing->arena, text, strlen(text));
}

/* How many functions and instructions there are; false: no memory. */
static bool take_room(struct maker *maker)
{
	struct kernel_listing *listing = maker->listing;
	size_t count = 0;

	for (size_t f = 0; f < maker->kernel->function_count; f++)
		count += maker->kernel->functions[f].code.count;
	listing->functions =
		arena_calloc(&listing->arena, maker->kernel->function_count + 1, sizeof *listing->functions);
	listing->instructions = arena_calloc(&listing->arena, count + 1, sizeof *listing->instructions);
	listing->files = arena_calloc(&listing->arena, LISTING_FILES, sizeof *listing->files);
	maker->first = arena_calloc(&listing->arena, maker->kernel->function_count + 1, sizeof *maker->first);
	return listing->functions && listing->instructions && listing->files && maker->first;
}

/* The number of the file in the listing; a new one if it is not there. LISTING_NO_FILE: no room. */
static uint32_t file_of(struct kernel_listing *listing, const char *path, uint32_t guess)
{
	if (guess < listing->file_count && strcmp(listing->files[guess].path, path) == 0)
		return guess;
	for (uint32_t i = 0; i < listing->file_count; i++)
		if (strcmp(listing->files[i].path, path) == 0)
			return i;
	if (listing->file_count == LISTING_FILES)
		return LISTING_NO_FILE;
	listing->files[listing->file_count].path = copy(listing, path);
	return listing->files[listing->file_count].path ? listing->file_count++ : LISTING_NO_FILE;
}

static void take_line(struct kernel_listing *listing, const struct kernel_function *function, uint32_t at,
	struct listing_instruction *to)
{
	const struct kernel_code *code = &function->code;
	uint32_t guess = to > listing->instructions ? to[-1].file : LISTING_NO_FILE;
	const char *path;

	to->file = LISTING_NO_FILE;
	if (code->loop_of[at] != LOOP_NONE)
		to->loop_line = code->loop_line[code->loop_of[at]];
	if (!gpu_code_line(code->binary, code->addresses[at], &path, &to->line) || !*path) {
		to->line = 0;
		return;
	}
	to->file = file_of(listing, path, guess);
	if (to->file != LISTING_NO_FILE)
		listing->files[to->file].all += to->all;
}

static bool take_instruction(struct maker *maker, const struct kernel_function *function, uint32_t at)
{
	struct kernel_listing *listing = maker->listing;
	const struct kernel_code *code = &function->code;
	struct listing_instruction *to = &listing->instructions[listing->count++];
	char text[LISTING_TEXT];

	listing_instruction_write(text, sizeof text, code->isa, &code->instructions[at]);
	to->text = copy(listing, text);
	to->address = code->addresses[at] - code->start;
	to->function = listing->function_count;
	for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
		to->by[stall] = function->samples[at].all[stall];
		to->all += to->by[stall];
		listing->by[stall] += to->by[stall];
	}
	take_line(listing, function, at, to);
	return to->text != NULL;
}

static bool take_function(struct maker *maker, size_t number)
{
	const struct kernel_function *function = &maker->kernel->functions[number];
	struct kernel_listing *listing = maker->listing;
	struct listing_function *to = &listing->functions[listing->function_count];
	char name[DEMANGLE_MAX];

	if (!demangle_symbol(function->code.name, name, sizeof name))
		snprintf(name, sizeof name, "%s", function->code.name);
	*to = (struct listing_function){.name = copy(listing, name),
		.first = listing->count,
		.count = function->code.count,
		.all = function->total,
		.is_kernel = function->is_kernel};
	maker->first[number] = listing->count;
	for (uint32_t at = 0; at < function->code.count; at++)
		if (!take_instruction(maker, function, at))
			return false;
	listing->function_count++;
	return to->name != NULL;
}

/* Code that could not be decoded has no instructions, and no entry. */
static bool take_functions(struct maker *maker, bool is_kernel)
{
	for (size_t f = 0; f < maker->kernel->function_count; f++)
		if (maker->kernel->functions[f].is_kernel == is_kernel &&
			maker->kernel->functions[f].code.count && !take_function(maker, f))
			return false;
	return true;
}

/* ---- a kernel: what its instructions wait for ---- */

static void add_source(
	struct maker *maker, struct listing_instruction *of, uint32_t at, double share, bool is_feeding)
{
	struct kernel_listing *listing = maker->listing;

	if (listing->source_count == maker->source_room)
		return;
	if (!of->source_count)
		of->first_source = listing->source_count;
	of->source_count++;
	listing->sources[listing->source_count++] =
		(struct listing_source){.at = at, .share = share, .is_feeding = is_feeding};
}

static void take_causes(struct maker *maker, size_t number, uint32_t at)
{
	const struct kernel_function *function = &maker->kernel->functions[number];
	uint32_t first = maker->first[number];
	struct listing_instruction *of = &maker->listing->instructions[first + at];
	struct listing_cause causes[LISTING_CAUSES];
	double stalls = of->all - of->by[STALL_NONE];
	unsigned count = listing_causes_find(function, at, causes);

	for (unsigned i = 0; i < count; i++)
		add_source(maker, of, first + causes[i].define, stalls > 0 ? causes[i].samples / stalls : 0,
			false);
}

/* Where the step leads from an instruction that does not wait for another one itself. */
static uint32_t place_of_step(const struct maker *maker, const struct cause_step *step)
{
	uint32_t first = maker->first[step->function - maker->kernel->functions];

	/* of AMD's loads the step is the wait for their operands, not what that one waits for */
	return first + (step->link == CAUSE_LINK_WAIT ? step->cause->use : step->at);
}

/* An instruction that many wait for, and that waits for no other itself: what delays it is the next step of
 * the chain (cause_chain.h). */
static void take_feeding(struct maker *maker, size_t number, uint32_t define)
{
	const struct kernel_function *function = &maker->kernel->functions[number];
	struct kernel_listing *listing = maker->listing;
	uint32_t at = maker->first[number] + define, to;
	struct listing_instruction *of = &listing->instructions[at];
	struct cause_step steps[CAUSE_CHAIN_MAX];

	if (of->source_count > 1 || (of->source_count && listing->sources[of->first_source].at != at) ||
		!cause_chain_find(maker->kernel, function, define, steps))
		return;
	to = place_of_step(maker, steps);
	if (to == at)
		return;
	if (of->source_count)
		listing->sources[of->first_source] = (struct listing_source){to, steps[0].share, true};
	else
		add_source(maker, of, to, steps[0].share, true);
}

static void take_waits(struct maker *maker, size_t number)
{
	const struct kernel_function *function = &maker->kernel->functions[number];
	const struct causes *causes = &function->causes;

	for (uint32_t at = 0; at < function->code.count; at++)
		take_causes(maker, number, at);
	for (size_t i = 0; i < causes->count; i++)
		if (causes->list[i].class != CAUSE_SELF &&
			causes->list[i].samples >= FEEDING_LEAST * maker->kernel->total)
			take_feeding(maker, number, causes->list[i].define);
}

static bool take_sources(struct maker *maker)
{
	struct kernel_listing *listing = maker->listing;

	maker->source_room = 1;
	for (size_t f = 0; f < maker->kernel->function_count; f++)
		maker->source_room +=
			maker->kernel->functions[f].causes.count + maker->kernel->functions[f].code.count;
	listing->sources = arena_calloc(&listing->arena, maker->source_room, sizeof *listing->sources);
	for (size_t f = 0; f < maker->kernel->function_count && listing->sources; f++)
		take_waits(maker, f);
	return listing->sources != NULL;
}

/* ---- a kernel: its files ---- */

struct order {
	struct listing_file file;
	uint32_t number;
};

static int order_compare(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->file.all != b->file.all)
		return a->file.all > b->file.all ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The file with most samples becomes the first. */
static bool sort_files(struct kernel_listing *listing)
{
	struct order *order = calloc((size_t)listing->file_count + 1, sizeof *order);
	uint32_t *now = calloc((size_t)listing->file_count + 1, sizeof *now);

	for (uint32_t i = 0; order && now && i < listing->file_count; i++)
		order[i] = (struct order){listing->files[i], i};
	if (order && now)
		qsort(order, listing->file_count, sizeof *order, order_compare);
	for (uint32_t i = 0; order && now && i < listing->file_count; i++) {
		listing->files[i] = order[i].file;
		now[order[i].number] = i;
	}
	for (uint32_t i = 0; order && now && i < listing->count; i++)
		if (listing->instructions[i].file != LISTING_NO_FILE)
			listing->instructions[i].file = now[listing->instructions[i].file];
	free(order);
	free(now);
	return order && now;
}

int kernel_listing_make(
	struct kernel_listing *listing, const struct kernel *kernel, uint64_t kernel_ns, struct error *error)
{
	struct maker maker = {.listing = listing, .kernel = kernel};

	*listing = (struct kernel_listing){.time_ns = kernel->time_ns,
		.launches = kernel->launches,
		.period = kernel->period,
		.kernel_share = kernel_ns ? (double)kernel->time_ns / (double)kernel_ns : 0,
		.all = kernel->total,
		.unread = kernel->unread};
	listing->name = copy(listing, kernel->name);
	if (!listing->name || !take_room(&maker) || !take_functions(&maker, true) ||
		!take_functions(&maker, false) || !take_sources(&maker) || !sort_files(listing))
		return error_memory(error);
	return 0;
}

void kernel_listing_fini(struct kernel_listing *listing)
{
	arena_fini(&listing->arena);
	*listing = (struct kernel_listing){0};
}
