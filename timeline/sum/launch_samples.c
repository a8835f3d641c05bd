/* SPDX-License-Identifier: Apache-2.0 */
/* launch_samples.c - see launch_samples.h. launch_samples_launches.c knows the launches. */
#include "timeline/sum/launch_samples.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/scan/scan.h"
#include "timeline/sum/launch_samples_internal.h"
#include "timeline/sum/sample_rate.h"

/* The key of a row; `launch` with the bit set is the pool of a kernel's shared samples. */
#define POOL 0x80000000u
struct key {
	uint32_t launch, context, metric;
};

/* Every read-out has about the same keys in the same order: the one that followed before is tried first. */
struct sum {
	struct key key;
	uint32_t follower; /* number of the key that followed the last time, plus 1; 0: none */
	double weight;
};

/* A kernel in the current read-out. */
struct kernel_now {
	uint64_t stamp;	 /* time of the read-out that this is of, plus 1; 0: none yet */
	double wanted;	 /* share of its samples that counts */
	uint32_t launch; /* the only path, 0: none, POOL | kernel: several */
	bool is_cut;
};

/* Of a kernel whose launches have several paths: time by path, over all read-outs of a stream. */
struct pool {
	struct launch_samples_row *parts; /* launch and weight */
	size_t count, capacity;
};

struct launch_samples {
	struct run *run;
	const struct launch_samples_question *question;
	struct launch_samples_launches launches;
	struct kernel_now *now; /* by kernel */
	struct launch_samples_share *shares;
	struct pool *pools;
	uint32_t kernel_count, kernel_room;
	struct key_ids keys;
	struct sum *sums; /* by number of the key */
	size_t sum_room;
	uint32_t last; /* number of the key before */
	struct launch_samples_row *rows;
	size_t row_count, row_room;
	struct key_ids expected_ids; /* of contexts */
	struct launch_samples_expected *expected;
	size_t expected_room;
	struct launch_samples_use use;
	bool has_period; /* use.period is of a stream, or of several */
};

/* ---- what a read-out has of a kernel ---- */

static bool kernels_widen(struct launch_samples *samples)
{
	uint32_t count = samples->launches.kernels.count, room = samples->kernel_room;

	if (count > room) {
		room = count > 2 * room ? count : 2 * room;
		if (!array_resize(&samples->now, room, sizeof *samples->now) ||
			!array_resize(&samples->shares, room, sizeof *samples->shares) ||
			!array_resize(&samples->pools, room, sizeof *samples->pools))
			return false;
		samples->kernel_room = room;
	}
	for (; samples->kernel_count < count; samples->kernel_count++) {
		samples->now[samples->kernel_count] = (struct kernel_now){0};
		samples->shares[samples->kernel_count] = (struct launch_samples_share){0};
		samples->pools[samples->kernel_count] = (struct pool){0};
	}
	return true;
}

/* Parts of a pool are few; the paths of a read-out follow each other. */
static bool pool_put(struct pool *pool, uint32_t launch, double time_ns)
{
	for (size_t i = 0; i < pool->count; i++)
		if (pool->parts[i].launch == launch) {
			pool->parts[i].weight += time_ns;
			return true;
		}
	if (!array_widen(&pool->parts, &pool->capacity, pool->count, sizeof *pool->parts))
		return false;
	pool->parts[pool->count++] = (struct launch_samples_row){.launch = launch, .weight = time_ns};
	return true;
}

static bool is_wanted(const struct launch_samples *samples, uint32_t context)
{
	return !samples->question->wants || samples->question->wants(samples->question->own, context);
}

static bool is_in_window(const struct launch_samples *samples, uint64_t time_ns)
{
	return time_ns >= samples->question->begin_ns && time_ns < samples->question->end_ns;
}

/* Without a launch: `context` is the sample's. */
static void judge_alone(const struct launch_samples *samples, struct kernel_now *now, uint64_t read_ns)
{
	now->wanted = is_in_window(samples, read_ns);
	now->launch = 0;
	now->is_cut = false;
}

/* By the kernel's launches in [from, read-out]. */
static bool judge(struct launch_samples *samples, uint32_t kernel, uint64_t from_ns, uint64_t read_ns)
{
	const struct launch_samples_question *question = samples->question;
	struct kernel_now *now = &samples->now[kernel];
	double whole_ns = 0, wanted_ns = 0, window_ns = 0;
	size_t count;
	const struct launch_samples_launch *list =
		launch_samples_covered(&samples->launches, kernel, from_ns, read_ns, &count);
	uint32_t only = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t time_ns = launch_samples_overlap(&list[i], from_ns, read_ns), in_ns;

		if (!time_ns)
			continue;
		in_ns = launch_samples_overlap(&list[i],
			from_ns > question->begin_ns ? from_ns : question->begin_ns,
			read_ns < question->end_ns ? read_ns : question->end_ns);
		whole_ns += (double)time_ns;
		window_ns += (double)in_ns;
		if (!in_ns || !is_wanted(samples, list[i].context))
			continue;
		wanted_ns += (double)in_ns;
		only = only && only != list[i].context ? POOL : list[i].context;
	}
	if (!(whole_ns > 0)) {
		judge_alone(samples, now, read_ns);
		return true;
	}
	now->wanted = wanted_ns / whole_ns;
	now->is_cut = window_ns < whole_ns;
	now->launch = only == POOL ? POOL | kernel : only;
	for (size_t i = 0; only == POOL && question->by_launch && i < count; i++) {
		uint64_t in_ns = launch_samples_overlap(&list[i],
			from_ns > question->begin_ns ? from_ns : question->begin_ns,
			read_ns < question->end_ns ? read_ns : question->end_ns);

		if (in_ns && is_wanted(samples, list[i].context) &&
			!pool_put(&samples->pools[kernel], list[i].context, (double)in_ns))
			return false;
	}
	return true;
}

/* ---- samples ---- */

static bool key_is(const struct key *a, const struct key *b)
{
	return a->context == b->context && a->metric == b->metric && a->launch == b->launch;
}

/* NULL: no memory. */
static struct sum *sum_put(struct launch_samples *samples, const struct key *key)
{
	bool is_new;
	uint32_t at = key_ids_put(&samples->keys, key, &is_new);

	if (at == KEY_IDS_NONE ||
		(is_new && !array_widen(&samples->sums, &samples->sum_room, at, sizeof *samples->sums)))
		return NULL;
	if (is_new)
		samples->sums[at] = (struct sum){.key = *key};
	return &samples->sums[at];
}

static struct sum *sum_find(struct launch_samples *samples, const struct key *key)
{
	uint32_t follower = samples->keys.count ? samples->sums[samples->last].follower : 0;
	struct sum *sum;

	if (follower && key_is(&samples->sums[follower - 1].key, key)) {
		samples->last = follower - 1;
		return &samples->sums[follower - 1];
	}
	sum = sum_put(samples, key);
	if (!sum)
		return NULL;
	samples->sums[samples->last].follower = (uint32_t)(sum - samples->sums) + 1;
	samples->last = (uint32_t)(sum - samples->sums);
	return sum;
}

static void share_add(struct launch_samples_share *share, const struct kernel_now *now, double weight)
{
	if (!now->launch)
		share->unknown += weight;
	else if (now->launch & POOL)
		share->shared += weight;
	else
		share->exact += weight;
	share->cut += now->is_cut ? weight : 0;
}

static int sample_take(struct launch_samples *samples, const struct batch *batch, size_t row,
	uint64_t from_ns, struct error *error)
{
	uint32_t kernel = launch_samples_kernel(&samples->launches, batch->context[row]);
	struct kernel_now *now;
	struct sum *sum;
	struct key key = {0, batch->context[row], batch->what[row]};
	double weight;

	if (kernel == KEY_IDS_NONE || (kernel >= samples->kernel_count && !kernels_widen(samples)))
		return error_memory(error);
	now = &samples->now[kernel];
	if (now->stamp != batch->begin_ns[row] + 1) {
		if (!judge(samples, kernel, from_ns, batch->begin_ns[row]))
			return error_memory(error);
		now->stamp = batch->begin_ns[row] + 1;
	}
	weight = (double)batch->amount[row] * now->wanted;
	if (!(weight > 0) || (!now->launch && !is_wanted(samples, batch->context[row])))
		return 0;
	share_add(&samples->shares[kernel], now, weight);
	key.launch = samples->question->by_launch ? now->launch : 0;
	sum = sum_find(samples, &key);
	if (!sum)
		return error_memory(error);
	sum->weight += weight;
	return 0;
}

/* ---- pools go to the paths of their launches ---- */

static double pool_whole(const struct pool *pool)
{
	double whole = 0;

	for (size_t p = 0; p < pool->count; p++)
		whole += pool->parts[p].weight;
	return whole;
}

static bool pool_settle(struct launch_samples *samples, uint32_t number)
{
	const struct sum sum = samples->sums[number];
	const struct pool *pool = &samples->pools[sum.key.launch & ~POOL];
	double whole = pool_whole(pool);

	for (size_t p = 0; p < pool->count; p++) {
		struct key key = {pool->parts[p].launch, sum.key.context, sum.key.metric};
		struct sum *part = sum_put(samples, &key);

		if (!part)
			return false;
		part->weight += sum.weight * pool->parts[p].weight / whole;
	}
	samples->sums[number].weight = 0;
	return true;
}

/* Of the streams before: another stream's samples are not of their launches. False: no memory. */
static bool pools_settle(struct launch_samples *samples)
{
	uint32_t count = samples->keys.count;
	bool are_any = false;

	for (uint32_t k = 0; k < samples->kernel_count; k++)
		are_any |= samples->pools[k].count > 0;
	for (uint32_t i = 0; are_any && i < count; i++)
		if (samples->sums[i].key.launch & POOL && samples->sums[i].weight > 0 &&
			!pool_settle(samples, i))
			return false;
	for (uint32_t k = 0; k < samples->kernel_count; k++)
		samples->pools[k].count = 0;
	return true;
}

/* ---- a stream ---- */

static uint64_t less_reach(uint64_t time_ns, unsigned times)
{
	return time_ns > times * LAUNCH_SAMPLES_REACH_NS ? time_ns - times * LAUNCH_SAMPLES_REACH_NS : 0;
}

static uint64_t more_reach(uint64_t time_ns, unsigned times)
{
	return time_ns < STORE_OPEN_NS - times * LAUNCH_SAMPLES_REACH_NS
		       ? time_ns + times * LAUNCH_SAMPLES_REACH_NS
		       : STORE_OPEN_NS;
}

/* ---- what full use would have given ---- */

/* A launch in the window; false: it does not count. */
static bool stretch_of(const struct launch_samples *samples, const struct launch_samples_launch *launch,
	struct sample_stretch *stretch)
{
	const struct launch_samples_question *question = samples->question;
	uint64_t run_ns = run_end_ns(samples->run);
	uint64_t time_ns = launch_samples_overlap(
		launch, question->begin_ns, question->end_ns < run_ns ? question->end_ns : run_ns);

	if (!time_ns || !is_wanted(samples, launch->context))
		return false;
	stretch->begin_ns = launch->begin_ns > question->begin_ns ? launch->begin_ns : question->begin_ns;
	stretch->end_ns = stretch->begin_ns + time_ns;
	return true;
}

/* Of launches that count. NULL: no memory. */
static struct sample_stretch *stretches_new(const struct launch_samples *samples, size_t *count)
{
	const struct launch_samples_launches *launches = &samples->launches;
	struct sample_stretch *stretches = calloc(launches->count + 1, sizeof *stretches);

	*count = 0;
	for (size_t i = 0; stretches && i < launches->count; i++)
		*count += stretch_of(samples, &launches->list[i], &stretches[*count]);
	return stretches;
}

static bool expected_put(struct launch_samples *samples, uint32_t launch, double weight)
{
	bool is_new;
	uint32_t at = key_ids_put(&samples->expected_ids, &launch, &is_new);

	if (at == KEY_IDS_NONE || (is_new && !array_widen(&samples->expected, &samples->expected_room, at,
						     sizeof *samples->expected)))
		return false;
	if (is_new)
		samples->expected[at] = (struct launch_samples_expected){.launch = launch};
	samples->expected[at].weight += weight;
	return true;
}

static bool launches_expect(struct launch_samples *samples, double cycles_per_ns)
{
	const struct launch_samples_launches *launches = &samples->launches;
	struct sample_stretch in;

	for (size_t i = 0; i < launches->count; i++)
		if (stretch_of(samples, &launches->list[i], &in) &&
			!expected_put(samples, launches->list[i].context,
				(double)(in.end_ns - in.begin_ns) * cycles_per_ns))
			return false;
	return true;
}

/* Of the stream whose launches are at hand; *is_known: the stream's samples are in the use. */
static int stream_expect(struct launch_samples *samples, uint32_t stream, bool *is_known, struct error *error)
{
	struct launch_samples_use *use = &samples->use;
	struct sample_stretch *stretches;
	struct sample_facts facts;
	double cycles_per_ns = 0;
	size_t count;
	int rc;

	*is_known = false;
	if (!run_stream(samples->run, stream)->s.count[STORE_SAMPLES])
		return 0;
	rc = sample_facts_read(&facts, samples->run, stream, error);
	if (rc)
		return rc;
	stretches = stretches_new(samples, &count);
	if (!stretches)
		return error_memory(error);
	count = sample_stretches_unite(stretches, count);
	rc = sample_rate_find(&cycles_per_ns, samples->run, stream, &facts, stretches, count, error);
	use->lost += facts.lost;
	use->period = !samples->has_period || use->period == facts.period ? facts.period : 0;
	samples->has_period = true;
	for (size_t i = 0; i < count; i++)
		use->expected += (double)(stretches[i].end_ns - stretches[i].begin_ns) * cycles_per_ns;
	free(stretches);
	*is_known = cycles_per_ns > 0;
	return rc == 0 && *is_known && !launches_expect(samples, cycles_per_ns) ? error_memory(error) : rc;
}

static double taken_so_far(const struct launch_samples *samples)
{
	double sum = 0;

	for (uint32_t k = 0; k < samples->kernel_count; k++)
		sum += samples->shares[k].exact + samples->shares[k].shared;
	return sum;
}

/* ---- the whole of a stream ---- */

/* Read-outs are at most so many reaches apart while there is something to read. */
#define APART 10u

static int stream_read(struct launch_samples *samples, uint32_t stream, struct error *error)
{
	const struct launch_samples_question *question = samples->question;
	uint64_t begin_ns = less_reach(question->begin_ns, APART),
		 end_ns = more_reach(question->end_ns, APART);
	/* Of the first read-out: from the stream's begin, or from where reading begins. */
	uint64_t from_ns = less_reach(begin_ns, 1), read_ns = 0;
	const struct batch *batch;
	struct scan *scan = NULL;
	double taken = question->expects ? taken_so_far(samples) : 0;
	bool is_known = false;
	long count;
	int rc = pools_settle(samples) ? 0 : error_memory(error);

	if (rc == 0)
		rc = launch_samples_launches_read(&samples->launches, stream, from_ns, end_ns, error);
	if (rc == 0 && question->expects)
		rc = stream_expect(samples, stream, &is_known, error);
	if (rc == 0)
		rc = scan_open(&scan, samples->run, stream, STORE_SAMPLES, begin_ns, end_ns,
			STORE_BEGIN | STORE_CONTEXT | STORE_WHAT | STORE_AMOUNT, 0, error);
	if (rc < 0)
		return rc;
	for (uint32_t k = 0; k < samples->kernel_count; k++)
		samples->now[k].stamp = 0;
	while ((count = scan_next(scan, &batch, error)) > 0 && rc == 0)
		for (size_t i = 0; i < batch->count && rc == 0; i++) {
			if (batch->begin_ns[i] != read_ns && read_ns)
				from_ns = less_reach(read_ns, 1);
			read_ns = batch->begin_ns[i];
			rc = sample_take(samples, batch, i, from_ns, error);
		}
	scan_close(scan);
	if (is_known)
		samples->use.taken += taken_so_far(samples) - taken;
	return count < 0 ? (int)count : rc;
}

/* ---- rows ---- */

static bool row_put(struct launch_samples *samples, const struct key *key, uint32_t launch, double weight)
{
	if (!array_widen(&samples->rows, &samples->row_room, samples->row_count, sizeof *samples->rows))
		return false;
	samples->rows[samples->row_count++] =
		(struct launch_samples_row){launch, key->context, key->metric, weight};
	return true;
}

/* The last stream's pools are settled here, without a sum for each part. */
static bool rows_make(struct launch_samples *samples)
{
	bool ok = true;

	for (uint32_t i = 0; i < samples->keys.count && ok; i++) {
		const struct key key = samples->sums[i].key;
		const struct pool *pool;
		double whole;

		if (!(key.launch & POOL)) {
			ok = row_put(samples, &key, key.launch, samples->sums[i].weight);
			continue;
		}
		if (!(samples->sums[i].weight > 0))
			continue;
		pool = &samples->pools[key.launch & ~POOL];
		whole = pool_whole(pool);
		for (size_t p = 0; p < pool->count && ok; p++)
			ok = row_put(samples, &key, pool->parts[p].launch,
				samples->sums[i].weight * pool->parts[p].weight / whole);
	}
	return ok;
}

int launch_samples_read(struct launch_samples **out, struct run *run,
	const struct launch_samples_question *question, struct error *error)
{
	struct launch_samples *samples = calloc(1, sizeof *samples);
	int rc = samples ? 0 : error_memory(error);

	*out = NULL;
	if (rc)
		return rc;
	samples->run = run;
	samples->question = question;
	key_ids_init(&samples->keys, sizeof(struct key));
	key_ids_init(&samples->expected_ids, sizeof(uint32_t));
	rc = launch_samples_launches_init(&samples->launches, run, error);
	for (uint32_t i = 0; i < question->stream_count && rc == 0; i++)
		if (run_stream(run, question->streams[i])->s.kind == STORE_STREAM_PC)
			rc = stream_read(samples, question->streams[i], error);
	if (rc == 0 && !rows_make(samples))
		rc = error_memory(error);
	samples->question = NULL;
	if (rc) {
		launch_samples_free(samples);
		return rc;
	}
	*out = samples;
	return 0;
}

void launch_samples_free(struct launch_samples *samples)
{
	if (!samples)
		return;
	for (uint32_t k = 0; k < samples->kernel_count; k++)
		free(samples->pools[k].parts);
	launch_samples_launches_fini(&samples->launches);
	key_ids_fini(&samples->keys);
	key_ids_fini(&samples->expected_ids);
	free(samples->expected);
	free(samples->now);
	free(samples->shares);
	free(samples->pools);
	free(samples->sums);
	free(samples->rows);
	free(samples);
}

const struct launch_samples_row *launch_samples_rows(const struct launch_samples *samples, size_t *count)
{
	*count = samples->row_count;
	return samples->rows;
}

const struct launch_samples_expected *launch_samples_expected(
	const struct launch_samples *samples, size_t *count)
{
	*count = samples->expected_ids.count;
	return samples->expected;
}

struct launch_samples_use launch_samples_use(const struct launch_samples *samples)
{
	return samples->use;
}

struct launch_samples_share launch_samples_share_of(const struct launch_samples *samples, const char *kernel)
{
	struct launch_samples_share sum = {0};

	for (uint32_t k = 0; k < samples->kernel_count; k++) {
		const struct launch_samples_share *share = &samples->shares[k];

		if (kernel && strcmp(launch_samples_name(&samples->launches, k), kernel) != 0)
			continue;
		sum.exact += share->exact;
		sum.shared += share->shared;
		sum.unknown += share->unknown;
		sum.cut += share->cut;
	}
	return sum;
}
