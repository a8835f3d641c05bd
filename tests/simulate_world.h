/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_world.h - the parts that shapes of simulate.h share: random numbers, a program with functions and
 * call paths, streams with buffered records. A shape is a function over a world; times begin at 0.
 */
#ifndef TESTS_SIMULATE_WORLD_H
#define TESTS_SIMULATE_WORLD_H

#include "store/write/writer.h"
#include "tests/simulate.h"

#define SIMULATE_PHASES 8u
#define SIMULATE_HOT 64u /* leaves that share most of a phase's samples */
#define SIMULATE_KERNELS 12u
#define SIMULATE_PERIOD_NS 1000000u
#define SIMULATE_BUFFER 512u

/* One track of one stream, filled record by record. */
struct simulate_feed {
	struct simulate_world *world;
	uint32_t stream;
	enum store_track track;
	unsigned count;
	struct store_record records[SIMULATE_BUFFER];
};

struct simulate_world {
	const struct simulate_options *options;
	struct store_writer *writer;
	uint64_t chance;
	struct error *error;
	int rc; /* of the first commit that failed */
	uint32_t host, cputime, program, text_module;
	uint32_t *leaves; /* every node of the calling context tree */
	uint32_t leaf_count;
	uint32_t hot[SIMULATE_PHASES][SIMULATE_HOT];
	uint32_t launch_path;		    /* where kernels are launched */
	uint32_t kernels[SIMULATE_KERNELS]; /* contexts below it */
	uint32_t kernel_attributes[SIMULATE_KERNELS];
	uint64_t kernel_ns[SIMULATE_KERNELS];
	uint32_t copy;
	struct simulate_feed samples, spans, values; /* for shapes that fill one stream at a time */
	uint64_t links;
};

uint64_t simulate_draw(struct simulate_world *world);
uint64_t simulate_below(struct simulate_world *world, uint64_t limit);
/* Small numbers often, large ones rarely: [0, limit), each octave about equally likely. */
uint64_t simulate_skewed(struct simulate_world *world, uint64_t limit);

uint32_t simulate_text(struct simulate_world *world, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A frame with the name and symbol of a function: child of `parent`. */
uint32_t simulate_call(struct simulate_world *world, uint32_t parent, uint32_t function, uint32_t site);
/* A frame that is only a name. */
uint32_t simulate_name(struct simulate_world *world, uint32_t parent, const char *name);
void simulate_program(struct simulate_world *world);
void simulate_kernels(struct simulate_world *world);

/* The context of a thread at that time: phases of two seconds, each with hot leaves, 3 % elsewhere. */
uint32_t simulate_place(struct simulate_world *world, uint64_t time_ns);

void simulate_feed_begin(
	struct simulate_world *world, struct simulate_feed *feed, uint32_t stream, enum store_track track);
void simulate_feed_add(struct simulate_feed *feed, const struct store_record *record);
void simulate_feed_flush(struct simulate_feed *feed);
void simulate_sample(struct simulate_feed *feed, uint64_t time_ns, uint32_t context, uint64_t weight);
void simulate_span(
	struct simulate_feed *feed, uint64_t begin_ns, uint64_t end_ns, uint32_t context, uint32_t op);

uint32_t simulate_thread(struct simulate_world *world, int32_t rank, uint32_t thread);
uint32_t simulate_queue(struct simulate_world *world, int32_t rank, uint32_t device, uint32_t queue);
/* The stream's `monitored` span over its whole life. */
void simulate_monitored_begin(struct simulate_world *world, uint32_t stream, uint64_t begin_ns);
void simulate_monitored_end(
	struct simulate_world *world, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

void simulate_shape_cpu(struct simulate_world *world);
void simulate_shape_gpu(struct simulate_world *world);
void simulate_shape_mixed(struct simulate_world *world);
void simulate_shape_odd(struct simulate_world *world);
void simulate_shape_waits(struct simulate_world *world);

#endif
