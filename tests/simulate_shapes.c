/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_shapes.c - the shapes that look like programs: threads in phases (cpu), queues with the
 * threads that feed them (gpu), and ranks with both, waiting and losses (mixed).
 */
#include "tests/simulate_world.h"

#define JITTER_NS 20000u
#define THREAD_BEGIN_NS 1000000u
#define LAUNCH_NS 4000u	 /* of the launching call */
#define MIXED_THREADS 3u /* and one queue in each rank */
#define MIXED_STEPS 50	 /* of ranks that are slower, then from the first one on */

/* Times and turns of one thread while it is made. */
struct thread {
	uint32_t stream;
	uint64_t begin_ns, now_ns;
	uint64_t owed_ns; /* CPU time since the last sample */
	uint32_t context;
};

static void thread_begin(
	struct simulate_world *world, struct thread *thread, uint32_t stream, uint64_t begin_ns)
{
	*thread = (struct thread){.stream = stream, .begin_ns = begin_ns, .now_ns = begin_ns};
	simulate_feed_begin(world, &world->samples, stream, STORE_SAMPLES);
	simulate_feed_begin(world, &world->spans, stream, STORE_SPANS);
	simulate_feed_begin(world, &world->values, stream, STORE_VALUES);
	simulate_monitored_begin(world, stream, begin_ns);
	thread->context = simulate_place(world, begin_ns);
	simulate_sample(&world->samples, begin_ns, thread->context, 0);
}

/* One period on: the sample that the timer takes. Two in three stay where they were. */
static void thread_sample(struct simulate_world *world, struct thread *thread)
{
	thread->now_ns += SIMULATE_PERIOD_NS - JITTER_NS / 2 + simulate_below(world, JITTER_NS);
	if (simulate_below(world, 3) == 0)
		thread->context = simulate_place(world, thread->now_ns);
	simulate_sample(&world->samples, thread->now_ns, thread->context,
		SIMULATE_PERIOD_NS * (simulate_below(world, 200) ? 1 : 2));
}

static void thread_end(struct simulate_world *world, struct thread *thread)
{
	thread->now_ns += SIMULATE_PERIOD_NS / 3;
	simulate_sample(&world->samples, thread->now_ns, thread->context, SIMULATE_PERIOD_NS / 3);
	simulate_feed_flush(&world->samples);
	simulate_feed_flush(&world->spans);
	simulate_feed_flush(&world->values);
	simulate_monitored_end(world, thread->stream, thread->begin_ns, thread->now_ns);
}

static uint64_t share_of(const struct simulate_world *world)
{
	uint64_t share = world->options->records / world->options->streams;

	return share > 4 ? share : 4;
}

void simulate_shape_cpu(struct simulate_world *world)
{
	uint64_t share = share_of(world);

	for (uint32_t s = 0; s < world->options->streams && !world->rc; s++) {
		struct thread thread;

		thread_begin(world, &thread, simulate_thread(world, -1, s), THREAD_BEGIN_NS + s * 1000);
		for (uint64_t i = 3; i < share; i++)
			thread_sample(world, &thread);
		thread_end(world, &thread);
	}
}

/* ---- queues ---- */

/* A queue and the thread that feeds it, in step. Four buffers are too large for the stack. */
struct pair {
	struct simulate_feed queue;
	struct thread feeder;
	uint64_t free_ns; /* when the queue has done what it was given */
	unsigned turn;
};

static void launch(struct simulate_world *world, struct pair *pair)
{
	unsigned kernel = pair->turn++ % SIMULATE_KERNELS;
	struct thread *feeder = &pair->feeder;
	struct store_record span = {.begin_ns = feeder->now_ns,
		.end_ns = feeder->now_ns + LAUNCH_NS,
		.link = ++world->links,
		.context = world->launch_path,
		.what = STORE_OP_LAUNCH};

	simulate_feed_add(&world->spans, &span);
	feeder->now_ns = span.end_ns + 500 + simulate_below(world, 2000);
	span.begin_ns = pair->free_ns > span.end_ns ? pair->free_ns + 800 + simulate_below(world, 100)
						    : span.end_ns + 2000;
	span.end_ns = span.begin_ns + world->kernel_ns[kernel] +
		      simulate_below(world, world->kernel_ns[kernel] / 50);
	span.context = world->kernels[kernel];
	span.what = STORE_OP_KERNEL;
	span.attributes = world->kernel_attributes[kernel];
	if (kernel == SIMULATE_KERNELS - 1) {
		span.context = world->copy;
		span.what = STORE_OP_COPY;
		span.attributes = simulate_text(world, "kind=host-to-device");
		span.bytes = 1 << 20;
	}
	simulate_feed_add(&pair->queue, &span);
	pair->free_ns = span.end_ns;
}

/* The feeder waits until its queue is empty; then both rest a while. */
static void synchronize(struct simulate_world *world, struct pair *pair)
{
	struct thread *feeder = &pair->feeder;

	if (pair->free_ns > feeder->now_ns) {
		simulate_span(
			&world->spans, feeder->now_ns, pair->free_ns, world->launch_path, STORE_OP_SYNC);
		feeder->now_ns = pair->free_ns + 1000;
	}
	thread_sample(world, feeder);
}

static void fill_pair(struct simulate_world *world, struct pair *pair, int32_t rank, uint32_t thread,
	uint32_t queue, uint64_t records)
{
	uint32_t feeder_stream = simulate_thread(world, rank, thread);
	uint32_t queue_stream = simulate_queue(world, rank, 0, queue);

	thread_begin(world, &pair->feeder, feeder_stream, THREAD_BEGIN_NS);
	simulate_feed_begin(world, &pair->queue, queue_stream, STORE_SPANS);
	simulate_monitored_begin(world, queue_stream, THREAD_BEGIN_NS);
	pair->free_ns = 0;
	pair->turn = 0;
	for (uint64_t i = 0; i + 4 < records; i += 2) {
		launch(world, pair);
		if (pair->turn % 40 == 0)
			synchronize(world, pair);
	}
	synchronize(world, pair);
	thread_end(world, &pair->feeder);
	simulate_feed_flush(&pair->queue);
	simulate_monitored_end(world, queue_stream, THREAD_BEGIN_NS, pair->feeder.now_ns);
}

void simulate_shape_gpu(struct simulate_world *world)
{
	static struct pair pair;
	uint32_t pairs = world->options->streams / 2 ? world->options->streams / 2 : 1;

	simulate_kernels(world);
	for (uint32_t p = 0; p < pairs && !world->rc; p++)
		fill_pair(world, &pair, -1, p, p + 1, world->options->records / pairs);
}

/* ---- ranks ---- */

/* Now and then something else than running. */
static void interrupt(struct simulate_world *world, struct thread *thread, uint32_t op, uint64_t duration_ns)
{
	struct store_record span = {.begin_ns = thread->now_ns + 1000,
		.end_ns = thread->now_ns + 1000 + duration_ns,
		.context = op == STORE_OP_BLOCKED || op == STORE_OP_RUNNABLE ? thread->context : 0,
		.amount = op == STORE_OP_LOST ? 1 + simulate_below(world, 50) : 0,
		.what = op};

	simulate_feed_add(&world->spans, &span);
	if (op == STORE_OP_LOST)
		store_writer_stream_edit(world->writer, thread->stream)->lost += span.amount;
	thread->now_ns = span.end_ns;
}

static void mark(struct simulate_world *world, struct thread *thread, uint64_t number)
{
	struct store_record span = {.begin_ns = thread->now_ns,
		.end_ns = thread->now_ns,
		.context = thread->context,
		.what = STORE_OP_MARK,
		.attributes = simulate_text(world, "name=step %llu", (unsigned long long)number)};

	simulate_feed_add(&world->spans, &span);
}

static void fill_worker(struct simulate_world *world, int32_t rank, uint32_t thread_number, uint64_t records)
{
	struct thread thread;

	thread_begin(world, &thread, simulate_thread(world, rank, thread_number),
		THREAD_BEGIN_NS + thread_number * 50000);
	for (uint64_t i = 3; i < records; i++) {
		uint64_t what = simulate_below(world, 400);

		thread_sample(world, &thread);
		if (what < 30)
			interrupt(
				world, &thread, STORE_OP_BLOCKED, 100000 + simulate_skewed(world, 20000000));
		else if (what < 38)
			interrupt(world, &thread, STORE_OP_RUNNABLE, 20000 + simulate_below(world, 3000000));
		else if (what == 38)
			interrupt(world, &thread, STORE_OP_UNMONITORED, 5000000);
		else if (what == 39)
			interrupt(world, &thread, STORE_OP_LOST, 2000000);
		if (thread_number == 1 && i % 500 == 0)
			mark(world, &thread, i / 500);
	}
	thread_end(world, &thread);
}

/* Each rank: a feeding thread with its queue, and workers; MIXED_STEPS ranks a little slower each than the
 * one before: with more of them the last ones would have most of all records. */
void simulate_shape_mixed(struct simulate_world *world)
{
	static struct pair pair;
	uint64_t share = share_of(world);
	uint32_t left = world->options->streams;

	simulate_kernels(world);
	for (int32_t rank = 0; left && !world->rc; rank++) {
		uint64_t records = share + share * (uint64_t)(rank % MIXED_STEPS) / MIXED_STEPS;

		fill_pair(world, &pair, rank, 0, 1, 2 * records);
		left -= left < 2 ? left : 2;
		for (uint32_t thread = 1; thread < MIXED_THREADS && left; thread++, left--)
			fill_worker(world, rank, thread, records);
	}
}
