/* SPDX-License-Identifier: Apache-2.0 */
/* causes.c - see causes.h. */
#include "blame/stalls/causes.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

#define REACH 1300u    /* instructions: more than any latency */
#define EDGES_MAX 256u /* of one use, in the order of the code; compilers make a few */

#define KINDS_MEMORY                                                                                \
	(1u << GPU_KIND_LOAD | 1u << GPU_KIND_STORE | 1u << GPU_KIND_ATOMIC | 1u << GPU_KIND_COPY | \
		1u << GPU_KIND_OPAQUE)

const char *cause_class_name(enum cause_class class)
{
	static const char *const names[CAUSE_CLASS_COUNT] = {"self", "local memory dependency",
		"constant memory dependency", "global memory dependency", "shared memory dependency",
		"arithmetic dependency", "write-after-read dependency", "barrier", "memory fence",
		"divergent branch"};

	return names[class];
}

struct finding {
	struct causes *causes;
	const struct dependency_code *code;
	const struct cause_samples *samples;
	const struct architecture *architecture;
	struct dependency_slice *slice;
	struct error *error;
};

/* What kind of dependency a stall tells of. */
enum question { ASK_MEMORY, ASK_UNDER_WAY, ASK_VARIABLE, ASK_FIXED, ASK_BARRIER, ASK_FENCE };

/* ---- rules ---- */

_Static_assert(2 * GPU_TOKENS == 64, "tokens are the bits from their first on and of the next word");

static bool has_token(const struct gpu_set *set)
{
	return set->words[GPU_TOKEN / 64] >> GPU_TOKEN % 64 || set->words[GPU_TOKEN / 64 + 1];
}

static bool is_fixed(const struct gpu_instruction *in)
{
	return in->write_barrier == GPU_NO_BARRIER && in->read_barrier == GPU_NO_BARRIER &&
	       !(KINDS_MEMORY >> in->kind & 1) && !has_token(&in->defines);
}

/* Rule 1: the operation can cause such a stall. A load of shared memory or of a constant is an execution
 * dependency (S2 Fig 5), as NVIDIA counts it. */
static bool can_cause(enum question question, const struct gpu_instruction *in)
{
	bool is_far = in->space != GPU_SPACE_SHARED && in->space != GPU_SPACE_NONE;

	switch (question) {
	case ASK_MEMORY:
		return in->kind == GPU_KIND_OPAQUE || in->kind == GPU_KIND_COPY ||
		       (in->kind == GPU_KIND_BARRIER && in->space == GPU_SPACE_SHARED) || /* of a copy */
		       ((KINDS_MEMORY >> in->kind & 1) && is_far);
	case ASK_UNDER_WAY:
		return in->counts || has_token(&in->defines);
	case ASK_VARIABLE:
		return !is_fixed(in);
	case ASK_FIXED:
		return is_fixed(in);
	case ASK_BARRIER:
		return in->kind == GPU_KIND_BARRIER;
	case ASK_FENCE:
		return in->kind == GPU_KIND_FENCE;
	}
	return false;
}

/* Rule 3: on every path the latency has passed. */
static bool is_over(const struct finding *finding, const struct dependency *edge)
{
	return edge->shortest >
	       architecture_latency(finding->architecture, &finding->code->instructions[edge->define]);
}

/* ---- Eq 1 ---- */

void causes_apportion(const double *issued, const uint32_t *lengths, size_t count, double *shares)
{
	double sum = 0, all = 0;

	for (size_t i = 0; i < count; i++)
		all += issued[i];
	for (size_t i = 0; i < count; i++) {
		/* Without a sample all issued alike. */
		shares[i] = (all > 0 ? issued[i] : 1) / (lengths[i] ? lengths[i] : 1);
		sum += shares[i];
	}
	for (size_t i = 0; i < count; i++)
		shares[i] /= sum;
}

/* ---- causes ---- */

static bool cause_add(struct causes *causes, const struct cause *cause)
{
	if (cause->samples <= 0)
		return true;
	if (!array_widen(&causes->list, &causes->capacity, causes->count, sizeof *causes->list))
		return false;
	causes->list[causes->count++] = *cause;
	return true;
}

static enum cause_class class_of(const struct finding *finding, const struct dependency *edge)
{
	const struct gpu_instruction *define = &finding->code->instructions[edge->define];
	const struct gpu_instruction *use = &finding->code->instructions[edge->use];
	bool is_raw = define->write_barrier != GPU_NO_BARRIER && use->wait_mask >> define->write_barrier & 1;
	bool is_war = define->read_barrier != GPU_NO_BARRIER && use->wait_mask >> define->read_barrier & 1;

	if (is_war && !is_raw)
		return CAUSE_WAR;
	switch ((enum gpu_space)define->space) {
	case GPU_SPACE_LOCAL:
		return CAUSE_LOCAL;
	case GPU_SPACE_CONSTANT:
		return CAUSE_CONSTANT;
	case GPU_SPACE_SHARED:
		return CAUSE_SHARED;
	case GPU_SPACE_GLOBAL:
	case GPU_SPACE_TEXTURE:
	case GPU_SPACE_ANY:
		return CAUSE_GLOBAL;
	default:
		break;
	}
	if (define->kind == GPU_KIND_BARRIER)
		return CAUSE_BARRIER;
	return define->kind == GPU_KIND_FENCE ? CAUSE_FENCE : CAUSE_ARITHMETIC;
}

static bool stay(struct finding *finding, uint32_t use, enum stall stall, double samples, double latency)
{
	return cause_add(finding->causes, &(struct cause){.define = use,
						  .use = use,
						  .stall = (uint8_t)stall,
						  .class = CAUSE_SELF,
						  .samples = samples,
						  .latency = latency});
}

static void lengths_find(
	const struct finding *finding, const struct dependency *edges, size_t count, uint32_t *lengths)
{
	for (size_t i = 0; i < count; i++)
		lengths[i] = dependency_longest(finding->slice, edges[i].define, edges[i].use);
}

static bool share_out(struct finding *finding, const struct dependency *edges, const uint32_t *lengths,
	size_t count, enum stall stall, double samples, double latency)
{
	double issued[EDGES_MAX], shares[EDGES_MAX];
	bool ok = true;

	for (size_t i = 0; i < count; i++)
		issued[i] = finding->samples[edges[i].define].all[STALL_NONE];
	causes_apportion(issued, lengths, count, shares);
	for (size_t i = 0; i < count && ok; i++)
		ok = cause_add(finding->causes, &(struct cause){.define = edges[i].define,
							.use = edges[i].use,
							.stall = (uint8_t)stall,
							.class = (uint8_t)class_of(finding, &edges[i]),
							.distance = lengths[i] ? lengths[i] : 1,
							.samples = samples * shares[i],
							.latency = latency * shares[i]});
	return ok;
}

/* The resources by which that stall comes. A wait mask names barriers: then nothing else is waited for. */
static struct gpu_set resources_of(enum question question, const struct gpu_instruction *use)
{
	struct gpu_set wanted;

	if (question == ASK_UNDER_WAY && has_token(&use->uses)) {
		memset(&wanted, 0, sizeof wanted);
		for (unsigned t = 0; t < 2 * GPU_TOKENS; t++)
			gpu_set_add(&wanted, GPU_TOKEN + t);
		return wanted;
	}
	memset(&wanted, 0xff, sizeof wanted);
	for (unsigned b = 0; b < GPU_BARRIERS; b++) {
		unsigned word = (GPU_BARRIER + b) / 64;

		if (question == ASK_FIXED)
			wanted.words[word] &= ~(UINT64_C(1) << (GPU_BARRIER + b) % 64);
	}
	if (question != ASK_FIXED)
		for (unsigned r = 0; r < GPU_BARRIER; r++)
			if (use->wait_mask || use->kind == GPU_KIND_WAIT)
				wanted.words[r / 64] &= ~(UINT64_C(1) << r % 64);
	return wanted;
}

/* All three rules. Returns how many edges are left in `kept`. */
static size_t prune(struct finding *finding, enum question question, const struct dependency *edges,
	size_t count, struct dependency *kept)
{
	size_t left = 0;

	for (size_t i = 0; i < count && left < EDGES_MAX; i++)
		if (can_cause(question, &finding->code->instructions[edges[i].define]) &&
			!is_over(finding, &edges[i]))
			kept[left++] = edges[i];
	count = left;
	left = 0;
	for (size_t i = 0; i < count; i++)
		if (!dependency_is_dominated(finding->slice, &kept[i]))
			kept[left++] = kept[i];
	return left;
}

static int slice_of(struct finding *finding, enum question question, uint32_t use,
	const struct dependency **edges, size_t *count)
{
	struct gpu_set wanted = resources_of(question, &finding->code->instructions[use]);

	if (question == ASK_BARRIER || question == ASK_FENCE)
		return dependency_slice_kinds(finding->slice, use,
			1u << (question == ASK_BARRIER ? GPU_KIND_BARRIER : GPU_KIND_FENCE), edges, count,
			finding->error);
	return dependency_slice_back(finding->slice, use, &wanted, edges, count, finding->error);
}

static int blame(struct finding *finding, enum question question, uint32_t use, enum stall stall,
	double samples, double latency)
{
	struct dependency kept[EDGES_MAX];
	uint32_t lengths[EDGES_MAX];
	struct causes *causes = finding->causes;
	const struct dependency *edges;
	size_t count, left;
	int rc;

	if (samples <= 0)
		return 0;
	causes->dependent += samples;
	/* The barrier itself, and the fence, where it was sampled. */
	if (question >= ASK_BARRIER && can_cause(question, &finding->code->instructions[use])) {
		causes->explained += samples;
		return cause_add(causes, &(struct cause){use, use, (uint8_t)stall,
						 question == ASK_BARRIER ? CAUSE_BARRIER : CAUSE_FENCE, 0,
						 samples, latency})
			       ? 0
			       : error_memory(finding->error);
	}
	rc = slice_of(finding, question, use, &edges, &count);
	if (rc < 0)
		return rc;
	left = prune(finding, question, edges, count, kept);
	lengths_find(finding, kept, left, lengths);
	if (dependency_slice_is_cut(finding->slice))
		left = count = 0;
	causes->nodes++;
	causes->single_before += count <= 1;
	causes->single_after += left <= 1;
	if (!left)
		return stay(finding, use, stall, samples, latency) ? 0 : error_memory(finding->error);
	causes->explained += samples;
	return share_out(finding, kept, lengths, left, stall, samples, latency)
		       ? 0
		       : error_memory(finding->error);
}

static int instruction_blame(struct finding *finding, uint32_t i)
{
	const struct gpu_instruction *in = &finding->code->instructions[i];
	const struct cause_samples *s = &finding->samples[i];
	int rc = 0;

	for (unsigned stall = 0; stall < STALL_COUNT && !rc; stall++) {
		double all = s->all[stall], latency = s->latency[stall];

		switch (stall) {
		case STALL_GMEM:
			rc = blame(finding, in->waits || has_token(&in->uses) ? ASK_UNDER_WAY : ASK_MEMORY, i,
				stall, all, latency);
			break;
		case STALL_IDEP:
			rc = blame(finding, ASK_FIXED, i, stall, s->fixed, s->fixed_latency);
			if (!rc)
				rc = blame(finding, ASK_VARIABLE, i, stall, all - s->fixed,
					latency - s->fixed_latency);
			break;
		case STALL_SYNC:
			rc = blame(finding, ASK_FENCE, i, stall, s->fence, s->fence_latency);
			if (!rc)
				rc = blame(finding, ASK_BARRIER, i, stall, all - s->fence,
					latency - s->fence_latency);
			break;
		default:
			if (!stay(finding, i, stall, all, latency))
				rc = error_memory(finding->error);
		}
	}
	return rc;
}

int causes_find(struct causes *causes, const struct dependency_code *code,
	const struct cause_samples *samples, const struct architecture *architecture,
	struct parse_budget *budget, struct error *error)
{
	struct finding finding = {
		causes, code, samples, architecture, dependency_slice_new(code, REACH, budget), error};
	int rc = finding.slice ? 0 : error_memory(error);

	*causes = (struct causes){0};
	for (uint32_t i = 0; i < code->count && !rc; i++)
		rc = instruction_blame(&finding, i);
	dependency_slice_free(finding.slice);
	return rc;
}

void causes_fini(struct causes *causes)
{
	free(causes->list);
	*causes = (struct causes){0};
}

size_t causes_first_of(const struct causes *causes, uint32_t use)
{
	size_t low = 0, high = causes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (causes->list[middle].use < use)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
