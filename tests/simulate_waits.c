/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_waits.c - the shape of threads that wait for each other: stages in a ring, each of which reads
 * what the one before has written, and now and then waits for its lock. hpct-blame has a known cause for
 * each wait.
 *
 *   stage 0  ==work==|write|~~~~~read of the last stage~~|=
 *   stage 1  ~~~~~~~~read~~|==work==|write|~~read~~|==lock~==
 */
#include <stdlib.h>

#include "tests/simulate_world.h"

#define BEGIN_NS 1000000u
#define STEP_SPANS 3u	  /* of a stage: about */
#define STAGES_A_TOKEN 2u /* so that most stages wait */
#define WORK_LEAST_NS 20000u
#define WORK_JITTER_NS 20000u
#define WRITE_NS 400u
#define WAKE_UP_NS 3000u /* from the write to the reader's return */
#define LOCK_EVERY 8u	 /* steps */
#define LOCK_NS 5000u
#define RETURN_NS 200u /* from a call that waits */

/* Of each stage and step: what it works, and when it writes. */
struct ring {
	uint32_t *work_ns;
	uint64_t *written_ns;
	uint64_t steps;
	uint32_t stages;
};

struct stage {
	uint32_t stream, number, read, lock, write; /* contexts of the calls */
	uint32_t wait, wake, locked;		    /* attributes */
	uint32_t op_wait, op_wake, op_lock;
	uint64_t now_ns, sampled_ns;
};

/* ---- times ---- */

/* When the stage may begin that step: what it reads has arrived. 0: at once. */
static uint64_t arrival(const struct ring *ring, uint32_t stage, uint64_t step)
{
	uint64_t tokens = ring->stages / STAGES_A_TOKEN + 1;

	if (stage)
		return ring->written_ns[(stage - 1) * ring->steps + step] + WAKE_UP_NS;
	return step < tokens
		       ? 0
		       : ring->written_ns[(ring->stages - 1) * ring->steps + step - tokens] + WAKE_UP_NS;
}

static bool is_locked(uint32_t stage, uint64_t step)
{
	return (stage + step) % LOCK_EVERY == 0;
}

static void times_make(struct simulate_world *world, struct ring *ring)
{
	for (uint64_t i = 0; i < ring->steps; i++)
		for (uint32_t s = 0; s < ring->stages; s++) {
			uint64_t at = s * ring->steps + i, arrival_ns = arrival(ring, s, i);
			uint64_t now_ns = i ? ring->written_ns[at - 1] + WRITE_NS : BEGIN_NS;

			ring->work_ns[at] = WORK_LEAST_NS + (uint32_t)simulate_below(world, WORK_JITTER_NS);
			now_ns = arrival_ns > now_ns ? arrival_ns + RETURN_NS : now_ns;
			ring->written_ns[at] =
				now_ns + ring->work_ns[at] + (is_locked(s, i) ? LOCK_NS + RETURN_NS : 0);
		}
}

/* ---- records ---- */

static void stage_span(struct simulate_world *world, uint64_t begin_ns, uint64_t end_ns, uint32_t op,
	uint32_t context, uint32_t attributes)
{
	simulate_feed_add(&world->spans, &(struct store_record){.begin_ns = begin_ns,
						 .end_ns = end_ns,
						 .context = context,
						 .what = op,
						 .attributes = attributes});
}

static void stage_sleep(struct simulate_world *world, struct stage *stage, uint64_t until_ns, uint32_t op,
	uint32_t context, uint32_t attributes)
{
	stage_span(world, stage->now_ns, until_ns + RETURN_NS, op, context, attributes);
	stage_span(world, stage->now_ns + 100, until_ns, STORE_OP_BLOCKED, context, 0);
	stage->now_ns = until_ns + RETURN_NS;
}

static void stage_sample(struct simulate_world *world, struct stage *stage)
{
	if (stage->now_ns - stage->sampled_ns < SIMULATE_PERIOD_NS)
		return;
	simulate_sample(&world->samples, stage->now_ns, simulate_place(world, stage->now_ns),
		(stage->now_ns - stage->sampled_ns) / 2);
	stage->sampled_ns = stage->now_ns;
}

static void stage_step(
	struct simulate_world *world, struct stage *stage, const struct ring *ring, uint64_t step)
{
	uint64_t arrival_ns = arrival(ring, stage->number, step), written_ns;

	if (arrival_ns > stage->now_ns)
		stage_sleep(world, stage, arrival_ns, stage->op_wait, stage->read, stage->wait);
	stage->now_ns += ring->work_ns[stage->number * ring->steps + step];
	if (is_locked(stage->number, step))
		stage_sleep(
			world, stage, stage->now_ns + LOCK_NS, stage->op_lock, stage->lock, stage->locked);
	stage_sample(world, stage);
	written_ns = stage->now_ns;
	stage->now_ns += WRITE_NS;
	stage_span(world, written_ns, stage->now_ns, stage->op_wake, stage->write, stage->wake);
}

static void stage_begin(struct simulate_world *world, struct stage *stage, uint32_t number)
{
	uint32_t root = simulate_call(world, STORE_CONTEXT_PROGRAM_ROOT, 0, 0);

	*stage = (struct stage){.stream = simulate_thread(world, -1, number),
		.number = number,
		.read = simulate_name(world, simulate_call(world, root, 3, number), "read"),
		.lock = simulate_name(world, simulate_call(world, root, 4, number), "pthread_mutex_lock"),
		.write = simulate_name(world, simulate_call(world, root, 5, number), "write"),
		.wait = simulate_text(world, "call=read,cause=pipe,from=pipe:%u", number),
		.wake = simulate_text(
			world, "call=write,wakes=pipe:%u", (number + 1) % world->options->streams),
		.locked = simulate_text(world, "call=pthread_mutex_lock,lock=0x%x,holder=%u",
			64 * (number / 2), number > 1 ? 400000 + number - 1 : 4000),
		.op_wait = store_writer_op(world->writer, "wait", 4),
		.op_wake = store_writer_op(world->writer, "wake", 4),
		.op_lock = store_writer_op(world->writer, "lock", 4),
		.now_ns = BEGIN_NS,
		.sampled_ns = BEGIN_NS};
	simulate_feed_begin(world, &world->samples, stage->stream, STORE_SAMPLES);
	simulate_feed_begin(world, &world->spans, stage->stream, STORE_SPANS);
	simulate_monitored_begin(world, stage->stream, BEGIN_NS);
	simulate_sample(&world->samples, BEGIN_NS, simulate_place(world, BEGIN_NS), 0);
}

void simulate_shape_waits(struct simulate_world *world)
{
	struct ring ring = {.steps = world->options->records / world->options->streams / STEP_SPANS + 1,
		.stages = world->options->streams};

	ring.work_ns = calloc(ring.steps * ring.stages, sizeof(*ring.work_ns));
	ring.written_ns = calloc(ring.steps * ring.stages, sizeof(*ring.written_ns));
	if (ring.work_ns && ring.written_ns)
		times_make(world, &ring);
	else
		world->rc = error_memory(world->error);
	for (uint32_t s = 0; s < ring.stages && !world->rc; s++) {
		struct stage stage;

		stage_begin(world, &stage, s);
		for (uint64_t i = 0; i < ring.steps && !world->rc; i++)
			stage_step(world, &stage, &ring, i);
		simulate_feed_flush(&world->samples);
		simulate_feed_flush(&world->spans);
		simulate_monitored_end(world, stage.stream, BEGIN_NS, stage.now_ns);
	}
	free(ring.work_ns);
	free(ring.written_ns);
}
