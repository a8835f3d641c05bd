/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - see kernels.h. kernels_launch.c reads launches. */
#include "blame/stalls/kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/kernels_internal.h"
#include "store/base/array.h"
#include "timeline/base/glob.h"
#include "timeline/stats/instructions.h"
#include "timeline/sum/sample_rate.h"

/* ---- samples ---- */

static int sample_compare(const void *left, const void *right)
{
	const struct kernels_sample *a = left, *b = right;
	int order = a->function == b->function ? 0 : strcmp(a->function, b->function);

	if (order)
		return order;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

/* "KEY+0xADDRESS" below a function, as run_frames.c writes it. */
static bool place_of(struct run *run, uint32_t context, struct kernels_sample *sample)
{
	const struct run_context *c = run_context(run, context);
	const struct run_function *kernel = run_context_kernel(run, context);
	const struct run_scope *scope;
	const char *name;
	char *end;

	if (c->scope == UINT32_MAX)
		return false;
	scope = run_scope(run, c->scope);
	name = run_function(run, scope->function)->name;
	if (strlen(name) < 20 || strncmp(name + 16, "+0x", 3) != 0 || scope->parent == UINT32_MAX)
		return false;
	sample->key = strtoull(name, &end, 16);
	if (end != name + 16)
		return false;
	sample->address = strtoull(name + 19, &end, 16);
	/* Between the sampled function and its instruction inlined ones may stand. */
	if (!kernel)
		kernel = run_function(run, run_scope(run, scope->parent)->function);
	sample->function = kernel->name;
	return !*end;
}

static int facts_read(struct kernels *kernels, uint32_t stream, struct error *error)
{
	struct sample_facts facts;
	int rc = sample_facts_read(&facts, kernels->run, stream, error);

	kernels->summary.lost += facts.lost;
	kernels->period = facts.period ? facts.period : kernels->period;
	if (facts.multiprocessors)
		kernels->multiprocessors = (unsigned)facts.multiprocessors;
	return rc;
}

static int metrics_find(struct kernels *kernels, struct error *error)
{
	kernels->metric_count = run_metric_count(kernels->run);
	kernels->metrics = calloc((size_t)kernels->metric_count + 1, sizeof *kernels->metrics);
	if (!kernels->metrics)
		return error_memory(error);
	for (uint32_t m = 0; m < kernels->metric_count; m++)
		kernels->metrics[m].is_stall =
			stall_metric_parse(run_metric_name(kernels->run, m), &kernels->metrics[m].metric);
	return 0;
}

/* Places of the sums, in order of function, binary and address. */
static int samples_sort(struct kernels *kernels, struct error *error)
{
	size_t count;
	const struct launch_samples_row *rows = launch_samples_rows(kernels->read, &count);

	kernels->samples = calloc(count + 1, sizeof *kernels->samples);
	if (!kernels->samples)
		return error_memory(error);
	for (size_t i = 0; i < count; i++) {
		struct kernels_sample sample = {.metric = rows[i].metric, .weight = rows[i].weight};

		if (rows[i].metric < kernels->metric_count && kernels->metrics[rows[i].metric].is_stall &&
			place_of(kernels->run, rows[i].context, &sample))
			kernels->samples[kernels->sample_count++] = sample;
	}
	if (kernels->sample_count)
		qsort(kernels->samples, kernels->sample_count, sizeof *kernels->samples, sample_compare);
	return 0;
}

static bool wants(const void *select, uint32_t context)
{
	return select_wants_context(select, context);
}

static int require_samples(const struct kernels *kernels, const struct select *select, struct error *error)
{
	if (kernels->sample_count || kernels->has_unsampled)
		return 0;
	return instructions_none(kernels->run, select, error);
}

static int samples_read(struct kernels *kernels, const struct select *select, struct error *error)
{
	struct launch_samples_question question = {.begin_ns = select_records_begin_ns(select),
		.end_ns = select_records_end_ns(select),
		.wants = select_has_context(select) ? wants : NULL,
		.own = select,
		.expects = true};
	int rc = metrics_find(kernels, error);

	question.streams = select_all_streams(select, &question.stream_count);
	for (uint32_t i = 0; i < question.stream_count && rc == 0; i++)
		if (run_stream(kernels->run, question.streams[i])->s.kind == STORE_STREAM_PC)
			rc = facts_read(kernels, question.streams[i], error);
	if (rc == 0)
		rc = launch_samples_read(&kernels->read, kernels->run, &question, error);
	if (rc == 0)
		rc = samples_sort(kernels, error);
	return rc ? rc : require_samples(kernels, select, error);
}

/* ---- functions ---- */

struct kernel *kernels_named(struct kernels *kernels, const char *name)
{
	struct kernel *kernel;

	for (size_t i = 0; i < kernels->count; i++)
		if (kernels->list[i].name == name || strcmp(kernels->list[i].name, name) == 0)
			return &kernels->list[i];
	if (!array_widen(&kernels->list, &kernels->capacity, kernels->count, sizeof *kernels->list))
		return NULL;
	kernel = &kernels->list[kernels->count++];
	*kernel = (struct kernel){.name = name, .period = kernels->period};
	return kernel;
}

static bool vendor_is(const struct stall_metric *metric, const char *name)
{
	return metric->vendor_bytes == strlen(name) &&
	       memcmp(metric->vendor, name, metric->vendor_bytes) == 0;
}

/* Where the sampler gives no reason, the instruction does: a wait waits. */
static enum stall stall_of(const struct stall_metric *metric, const struct gpu_instruction *in)
{
	if (metric->stall != STALL_OTH || !vendor_is(metric, "no_reason"))
		return metric->stall;
	if (in->waits)
		return STALL_GMEM;
	return in->kind == GPU_KIND_BARRIER ? STALL_SYNC : STALL_OTH;
}

static void sample_add(const struct kernels *kernels, const struct kernels_sample *sample,
	const struct gpu_instruction *in, struct cause_samples *to)
{
	const struct stall_metric *metric = &kernels->metrics[sample->metric].metric;
	enum stall stall = stall_of(metric, in);
	bool is_fixed = vendor_is(metric, "wait") || vendor_is(metric, "alu_dependency") ||
			vendor_is(metric, "dist") || vendor_is(metric, "distacc") ||
			vendor_is(metric, "dist_acc");
	bool is_fence = vendor_is(metric, "membar");

	if (vendor_is(metric, "mio_throttle"))
		to->near += sample->weight;
	to->all[stall] += sample->weight;
	if (metric->is_latency)
		to->latency[stall] += sample->weight;
	if (is_fixed)
		to->fixed += sample->weight;
	if (is_fixed && metric->is_latency)
		to->fixed_latency += sample->weight;
	if (is_fence)
		to->fence += sample->weight;
	if (is_fence && metric->is_latency)
		to->fence_latency += sample->weight;
}

/* What cannot be decoded is remembered, too, as a function without instructions. */
static int function_read(struct kernel_function *to, struct gpu_code *binary,
	const struct gpu_function *function, struct error *error)
{
	int rc = kernel_code_read(&to->code, binary, function, error);

	if (rc > 0) {
		kernel_code_fini(&to->code);
		to->code = (struct kernel_code){
			.name = function->name, .start = function->start, .binary = binary};
		rc = 0;
	}
	if (rc == 0) {
		to->samples = calloc((size_t)to->code.count + 1, sizeof *to->samples);
		rc = to->samples ? 0 : error_memory(error);
	}
	if (rc)
		kernel_code_fini(&to->code);
	return rc;
}

struct kernel_function *kernels_function(struct kernel *kernel, struct gpu_code *binary,
	const struct gpu_function *function, struct error *error)
{
	struct kernel_function *at;

	for (size_t i = 0; i < kernel->function_count; i++)
		if (kernel->functions[i].code.start == function->start &&
			kernel->functions[i].code.binary == binary)
			return &kernel->functions[i];
	if (!array_widen(&kernel->functions, &kernel->function_room, kernel->function_count,
		    sizeof *kernel->functions)) {
		error_memory(error);
		return NULL;
	}
	at = &kernel->functions[kernel->function_count];
	*at = (struct kernel_function){.is_kernel = function->is_kernel};
	if (function_read(at, binary, function, error))
		return NULL;
	kernel->function_count++;
	return at;
}

static int sample_place(struct kernels *kernels, struct kernel *kernel, struct gpu_code *binary,
	const struct kernels_sample *sample, struct error *error)
{
	const struct gpu_function *function = binary ? gpu_code_at(binary, sample->address) : NULL;
	struct kernel_function *to = NULL;
	uint32_t at = UINT32_MAX;

	if (function)
		to = kernels_function(kernel, binary, function, error);
	if (function && !to)
		return error_memory(error);
	if (to)
		at = kernel_code_find(&to->code, sample->address);
	/* While a branch resolves, the instruction behind it is seen, which may never run. */
	if (to && at == UINT32_MAX)
		at = kernel_code_find(&to->code, sample->address - 1);
	if (at == UINT32_MAX || !to->code.instructions) {
		kernel->unread += sample->weight;
		return 0;
	}
	kernel->architecture = architecture_of_isa(to->code.isa, to->code.generation);
	sample_add(kernels, sample, &to->code.instructions[at], &to->samples[at]);
	return 0;
}

/* Samples of one function follow each other. */
static int samples_place(struct kernels *kernels, struct error *error)
{
	struct kernel *kernel = NULL;
	int rc = 0;

	for (size_t i = 0; i < kernels->sample_count && rc == 0; i++) {
		const struct kernels_sample *sample = &kernels->samples[i];
		struct kernels_binary *binary = kernels_binary_of(kernels, sample->key, sample->address);

		if (!kernel || kernel->name != sample->function)
			kernel = kernels_named(kernels, sample->function);
		if (!kernel || !binary)
			return error_memory(error);
		rc = sample_place(kernels, kernel, binary->code, sample, error);
	}
	return rc;
}

/* ---- the whole ---- */

/* What full use of the GPU would give while the kernels run. */
static void kernels_expect(struct kernels *kernels)
{
	size_t count;
	const struct launch_samples_expected *expected = launch_samples_expected(kernels->read, &count);

	for (size_t i = 0; i < count; i++) {
		struct kernel *kernel = kernels_launched(kernels, expected[i].launch);

		if (kernel)
			kernel->expected += expected[i].weight;
	}
}

static int kernel_compare(const void *left, const void *right)
{
	const struct kernel *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void kernel_fini(struct kernel *kernel)
{
	for (size_t f = 0; f < kernel->function_count; f++)
		kernels_function_fini(&kernel->functions[f]);
	free(kernel->functions);
}

/* After device functions were shared out: kernels that are left out have their part. */
static int kernels_choose(struct kernels *kernels, struct error *error)
{
	const char *glob = kernels->glob;
	size_t kept = 0;

	for (size_t i = 0; i < kernels->count; i++) {
		if (!glob || glob_match(glob, kernels->list[i].name))
			kernels->list[kept++] = kernels->list[i];
		else
			kernel_fini(&kernels->list[i]);
	}
	kernels->count = kept;
	return kept || !glob || kernels->has_unsampled
		       ? 0
		       : error_set(error, ERROR_EMPTY, "no kernel matches --kernel '%.200s'", glob);
}

static int kernels_require(const struct kernels *kernels, struct error *error)
{
	if (kernels->count || !kernels->has_unsampled)
		return 0;
	return kernels->glob ? error_set(error, ERROR_EMPTY, "no kernel of %s matches --kernel '%.200s'",
				       run_path(kernels->run), kernels->glob)
			     : error_set(error, ERROR_EMPTY, "%s has no GPU kernel in this window",
				       run_path(kernels->run));
}

static int kernels_analyse(struct kernels *kernels, struct error *error)
{
	int rc = 0;

	for (size_t i = 0; i < kernels->count && rc == 0; i++) {
		struct kernel *kernel = &kernels->list[i];

		if (!kernel->architecture)
			kernel->architecture = architecture_of(0);
		kernel->multiprocessors = kernels->multiprocessors ? kernels->multiprocessors
								   : kernel->architecture->multiprocessors;
		kernel->share = launch_samples_share_of(kernels->read, kernel->name);
		rc = kernel_analyse(kernel, error);
		for (size_t f = 0; f < kernel->function_count; f++) {
			kernels->summary.instructions += kernel->functions[f].code.count;
			kernels->summary.opaque += kernel->functions[f].code.opaque;
		}
	}
	if (rc == 0 && kernels->count)
		qsort(kernels->list, kernels->count, sizeof *kernels->list, kernel_compare);
	return rc;
}

int kernels_open(struct kernels **out, struct run *run, const struct select *select,
	const struct kernels_options *options, struct error *error)
{
	struct kernels *kernels = calloc(1, sizeof *kernels);
	int rc;

	*out = NULL;
	if (!kernels)
		return error_memory(error);
	kernels->run = run;
	kernels->has_unsampled = options->has_unsampled;
	kernels->glob = options->kernel;
	rc = kernels_files_open(kernels, options, error);
	if (rc == 0)
		rc = samples_read(kernels, select, error);
	if (rc == 0)
		rc = samples_place(kernels, error);
	if (rc == 0)
		rc = kernels_callers(kernels, error);
	if (rc == 0)
		rc = kernels_choose(kernels, error);
	if (rc == 0)
		rc = kernels_launches(kernels, select, error);
	if (rc == 0)
		rc = kernels_require(kernels, error);
	if (rc == 0)
		rc = kernels_chains(kernels, select, error);
	if (rc == 0) {
		kernels_expect(kernels);
		rc = kernels_analyse(kernels, error);
	}
	if (rc < 0) {
		kernels_close(kernels);
		return rc;
	}
	*out = kernels;
	return 0;
}

void kernels_function_fini(struct kernel_function *function)
{
	causes_fini(&function->causes);
	lanes_fini(&function->lanes);
	divergence_fini(&function->divergence);
	memory_use_fini(&function->memory);
	free(function->samples);
	kernel_code_fini(&function->code);
}

void kernels_close(struct kernels *kernels)
{
	if (!kernels)
		return;
	for (size_t i = 0; i < kernels->count; i++)
		kernel_fini(&kernels->list[i]);
	kernels_binaries_close(kernels);
	free(kernels->list);
	free(kernels->samples);
	launch_samples_free(kernels->read);
	free(kernels->metrics);
	free(kernels);
}

const struct kernel *kernels_list(const struct kernels *kernels, size_t *count)
{
	*count = kernels->count;
	return kernels->list;
}

const struct kernels_summary *kernels_summary(const struct kernels *kernels)
{
	return &kernels->summary;
}
