/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.c - the demo: a solver-like program of five threads in phases. Argument: scale (default 1,
 * about 2.5 s on two cores).
 *
 * What the trace must show. Five streams: main, worker 1 .. worker 4. CPU time, at scale 1, in ms:
 *
 *   main;read_input                              300            main alone, workers not born yet
 *   <thread root>;worker;step;assemble     270 300 330 360      worker 1 .. 4: uneven on purpose
 *   <thread root>;worker;step;solve;smooth       400 each
 *   <thread root>;worker;step;solve;residual     200 each
 *   main;exchange                                120            workers wait at a barrier
 *   main;write_output                            200            half of it asleep: 200 ms CPU, 100 ms not
 *
 * in three steps of equal size. Shares of the whole (4280 ms): assemble 29.4 %, smooth 37.4 %,
 * residual 18.7 %, read_input 7.0 %, write_output 4.7 %, exchange 2.8 %. The program measures itself
 * by its threads' CPU clocks and prints, at its end, function, tab, nanoseconds.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, STEPS = 3 };
enum { READ_INPUT, ASSEMBLE, SMOOTH, RESIDUAL, EXCHANGE, WRITE_OUTPUT, PARTS };

static const char *const part_name[PARTS] = {
	"read_input", "assemble", "smooth", "residual", "exchange", "write_output"};
static uint64_t part_ns[WORKERS + 1][PARTS]; /* by thread, main last */
static double scale = 1;
static pthread_barrier_t barrier;

struct worker {
	pthread_t thread;
	int index;
};

static double ms(double milliseconds)
{
	return milliseconds * 1e6 * scale;
}

static void wait_for_all(void)
{
	pthread_barrier_wait(&barrier);
	NO_TAIL_CALL();
}

#define PART(thread, part, milliseconds)                        \
	do {                                                    \
		uint64_t begin_ = cpu_now_ns();                 \
		BURN(ms(milliseconds));                         \
		part_ns[thread][part] += cpu_now_ns() - begin_; \
	} while (0)

APART static void read_input(void)
{
	PART(WORKERS, READ_INPUT, 300);
}

APART static void exchange(void)
{
	PART(WORKERS, EXCHANGE, 120. / STEPS);
}

APART static void write_output(void)
{
	for (int block = 0; block < 4; block++) {
		struct timespec pause = {0, 25000000};

		PART(WORKERS, WRITE_OUTPUT, 50);
		nanosleep(&pause, NULL);
	}
}

APART static void assemble(int index)
{
	PART(index, ASSEMBLE, (270. + 30 * index) / STEPS);
}

APART static void smooth(int index)
{
	PART(index, SMOOTH, 400. / STEPS);
}

APART static void residual(int index)
{
	PART(index, RESIDUAL, 200. / STEPS);
}

APART static void solve(int index)
{
	smooth(index);
	residual(index);
	NO_TAIL_CALL();
}

APART static void step(int index)
{
	assemble(index);
	wait_for_all();
	solve(index);
	NO_TAIL_CALL();
}

APART static void *worker(void *argument)
{
	const struct worker *self = argument;
	char name[16];

	snprintf(name, sizeof(name), "worker %u", (unsigned)(self->index + 1) % 10);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < STEPS; i++) {
		step(self->index);
		wait_for_all(); /* main exchanges */
		wait_for_all();
	}
	return NULL;
}

static void report(void)
{
	for (int part = 0; part < PARTS; part++) {
		uint64_t sum_ns = 0;

		for (int thread = 0; thread <= WORKERS; thread++)
			sum_ns += part_ns[thread][part];
		printf("%s\t%llu\n", part_name[part], (unsigned long long)sum_ns);
	}
}

int main(int argc, char **argv)
{
	struct worker workers[WORKERS];

	if (argc > 1)
		scale = atof(argv[1]);
	read_input();
	pthread_barrier_init(&barrier, NULL, WORKERS + 1);
	for (int i = 0; i < WORKERS; i++) {
		workers[i].index = i;
		if (pthread_create(&workers[i].thread, NULL, worker, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < STEPS; i++) {
		wait_for_all(); /* after assemble */
		wait_for_all(); /* after solve */
		exchange();
		wait_for_all();
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	write_output();
	report();
	return 0;
}
