/* SPDX-License-Identifier: Apache-2.0 */
/* names_pool.c - see names_pool.h. One thread steps whichever worker is ready. */
#include "timeline/names/names_pool.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#include "timeline/names/names_fork.h"

struct names_pool {
	unsigned jobs;
	struct names_worker *workers[NAMES_POOL_MAX];
};

static unsigned jobs_default(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : (unsigned)(CPU_COUNT(&cpus) + 1) / 2;
}

int names_pool_open(
	struct names_pool **out, const struct names_options *options, unsigned jobs, struct error *error)
{
	struct names_pool *pool = calloc(1, sizeof *pool);
	int rc = 0;

	*out = pool;
	if (!pool)
		return error_memory(error);
	jobs = jobs ? jobs : jobs_default();
	pool->jobs = jobs < NAMES_POOL_MAX ? jobs : NAMES_POOL_MAX;
	for (unsigned i = 0; i < pool->jobs && !rc; i++)
		rc = names_worker_open(&pool->workers[i], options, error);
	return rc;
}

void names_pool_close(struct names_pool *pool)
{
	if (!pool)
		return;
	for (unsigned i = 0; i < pool->jobs; i++)
		names_worker_close(pool->workers[i]);
	free(pool);
}

static bool is_large(const struct names_pool *pool, const struct names_task *task)
{
	return pool->jobs > 1 && task->request.offset_count >= NAMES_FORK_MIN;
}

/* One after the other, each by all processes. */
static int ask_large(struct names_pool *pool, struct names_task *tasks, size_t count, struct error *error)
{
	struct names_worker *worker = pool->workers[0];
	int rc = 0;

	for (size_t i = 0; i < count && rc >= 0; i++) {
		struct names_task *task = &tasks[i];

		if (!is_large(pool, task))
			continue;
		rc = names_worker_begin(
			worker, &task->request, pool->jobs, task->take, task->context, task->note, error);
		while (!rc)
			rc = names_worker_step(worker, error);
	}
	return rc < 0 ? rc : 0;
}

/* Hands out the other tasks from the first one on; how many workers are at one. Negative: memory. */
static int hand_out(
	struct names_pool *pool, struct names_task **next, const struct names_task *end, struct error *error)
{
	int busy = 0;

	for (unsigned i = 0; i < pool->jobs; i++) {
		struct names_worker *worker = pool->workers[i];

		while (*next < end && is_large(pool, *next))
			++*next;
		if (!names_worker_is_asking(worker) && *next < end) {
			struct names_task *task = (*next)++;
			int rc = names_worker_begin(
				worker, &task->request, 1, task->take, task->context, task->note, error);

			if (rc)
				return rc;
		}
		busy += names_worker_is_asking(worker);
	}
	return busy;
}

/* A step of each worker that has something to say, after waiting until one has. */
static int step(struct names_pool *pool, struct error *error)
{
	struct pollfd polls[NAMES_POOL_MAX];
	int wait_ms = 1000, rc = 0;

	for (unsigned i = 0; i < pool->jobs; i++) {
		bool is_asking = names_worker_is_asking(pool->workers[i]);

		polls[i] = (struct pollfd){
			.fd = is_asking ? names_worker_descriptor(pool->workers[i]) : -1, .events = POLLIN};
		if (is_asking && names_worker_is_ready(pool->workers[i]))
			wait_ms = 0;
	}
	poll(polls, pool->jobs, wait_ms);
	for (unsigned i = 0; i < pool->jobs && rc >= 0; i++) {
		struct names_worker *worker = pool->workers[i];

		if (!names_worker_is_asking(worker) || !(polls[i].revents || names_worker_is_ready(worker)))
			continue;
		do
			rc = names_worker_step(worker, error);
		while (!rc && names_worker_is_ready(worker));
	}
	return rc < 0 ? rc : 0;
}

int names_pool_ask(struct names_pool *pool, struct names_task *tasks, size_t count, struct error *error)
{
	struct names_task *next = tasks;
	int rc = ask_large(pool, tasks, count, error);

	if (rc)
		return rc;
	while ((rc = hand_out(pool, &next, tasks + count, error)) > 0) {
		rc = step(pool, error);
		if (rc)
			break;
	}
	return rc;
}
