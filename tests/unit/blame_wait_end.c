/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_wait_end.c - who ended a wait, against traces of a few records whose answer is plain: locks,
 * barriers, collective calls, messages, synchronizations, joins, children; and where no record says it,
 * nobody.
 */
#include "tests/unit/blame_trace.h"

#include "blame/wait/wait_end.h"

#define MS 1000000u

static struct small_run small;

static uint32_t op(const char *name)
{
	return store_writer_op(small.writer, name, strlen(name));
}

static void wait_in(uint32_t stream, uint64_t begin_ms, uint64_t end_ms, uint32_t what, const char *path,
	const char *attributes)
{
	small_span(small.writer, stream, begin_ms * MS, end_ms * MS, what, small_path(small.writer, path),
		attributes);
}

/* A thread of a process; its life in ms. */
static uint32_t thread(uint32_t pid, uint32_t number, uint32_t tid, uint64_t begin_ms, uint64_t end_ms,
	const char *attributes)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(small.writer, "node"),
		.rank = (int32_t)pid,
		.pid = pid,
		.thread = number,
		.tid = tid,
		.begin_ns = begin_ms * MS,
		.end_ns = end_ms * MS};
	uint32_t id = store_writer_stream(small.writer, &stream);

	small_span(small.writer, id, begin_ms * MS, end_ms * MS, STORE_OP_MONITORED, 0, attributes);
	return id;
}

/* The stream of the run that the writer's thread became. */
static uint32_t stream_of(uint32_t pid, uint32_t number, enum store_stream_kind kind)
{
	for (uint32_t i = 0; i < run_stream_count(small.run); i++) {
		const struct store_stream *s = &run_stream(small.run, i)->s;

		if (s->pid == pid && s->kind == kind &&
			(kind == STORE_STREAM_CPU ? s->thread : s->queue) == number)
			return i;
	}
	fail_msg("no stream %u of process %u", number, pid);
	return 0;
}

static struct wait_end ask(uint32_t pid, uint32_t number, uint64_t begin_ms, uint64_t end_ms)
{
	struct error error = {0};
	struct wait_end end;

	if (!small.run)
		small_ready(&small);
	if (wait_end_find(&end, small.run, stream_of(pid, number, STORE_STREAM_CPU), begin_ms * MS,
		    end_ms * MS, &error))
		fail_msg("%s", error.text);
	return end;
}

static void check(const struct wait_end *end, enum wait_end_by by, uint32_t pid, uint32_t number)
{
	assert_int_equal(end->by, by);
	assert_int_equal(end->stream, stream_of(pid, number, STORE_STREAM_CPU));
	assert_true(end->from_ns < end->until_ns);
}

/* Thread 0 holds the lock first; 1 waits for it; 2 waits for both, for 1 from 30 to 50. */
static void test_lock(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 0; i < 4; i++)
		thread(1, i, 100 + i, 0, 100, "");
	wait_in(1, 11, 29, STORE_OP_BLOCKED, "main;take", "");
	wait_in(1, 10, 30, op("lock"), "main;take", "call=take,lock=0x10,holder=100");
	wait_in(2, 20, 50, op("lock"), "main;take", "call=take,lock=0x10,holder=100");
	wait_in(3, 20, 35, op("lock"), "main;take", "call=take,lock=0x20,holder=102"); /* another lock */
	wait_in(3, 60, 70, op("lock"), "main;take", "call=take,lock=0x10");
	wait_in(0, 70, 97, op("lock"), "main;take", "call=take,lock=0x30,holder=101");
	wait_in(2, 71, 95, op("lock"), "main;take", "call=take,lock=0x30,holder=101");
	end = ask(1, 1, 15, 16);
	check(&end, WAIT_END_HOLDER, 1, 0);
	assert_int_equal(end.begin_ns, 10 * MS);
	assert_int_equal(end.end_ns, 30 * MS);
	end = ask(1, 2, 15, 60); /* it fills most of this */
	check(&end, WAIT_END_HOLDER, 1, 1);
	assert_int_equal(end.from_ns, 30 * MS);
	assert_int_equal(end.until_ns, 50 * MS);
	end = ask(1, 3, 21, 22);
	check(&end, WAIT_END_HOLDER, 1, 2);
	end = ask(1, 0, 70, 71); /* longest for 0's first holder, not for the last one */
	check(&end, WAIT_END_HOLDER, 1, 1);
	assert_int_equal(end.until_ns, 95 * MS);
	assert_int_equal(ask(1, 3, 61, 62).by, WAIT_END_UNTOLD); /* libc did not tell */
	assert_int_equal(ask(1, 3, 80, 90).by, WAIT_END_NO_WAIT);
	small_end(&small);
}

/* Python's lock passes from 0 to 2 in 1's wait, which is two spans. */
static void test_gil(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 0; i < 3; i++)
		thread(1, i, 100 + i, 0, 100, "");
	wait_in(1, 10, 20, op("gil"), "main;take", "call=take_gil,lock=0x10,holder=100,again=1");
	wait_in(1, 20, 50, op("gil"), "main;take", "call=take_gil,lock=0x10,holder=102");
	wait_in(2, 60, 90, op("gil"), "main;take", "call=take_gil,lock=0x10,holder=100");
	wait_in(1, 70, 85, op("gil"), "main;take", "call=take_gil,lock=0x10,holder=100,again=1");
	end = ask(1, 1, 12, 13);
	check(&end, WAIT_END_HOLDER, 1, 0);
	end = ask(1, 1, 30, 31);
	check(&end, WAIT_END_HOLDER, 1, 2);
	end = ask(1, 2, 70, 71); /* 1 did not get it at 85 */
	check(&end, WAIT_END_HOLDER, 1, 0);
	assert_int_equal(end.until_ns, 90 * MS);
	small_end(&small);
}

static void test_barrier(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 0; i < 3; i++)
		thread(1, i, 100 + i, 0, 100, "");
	wait_in(0, 10, 41, op("barrier"), "main;meet", "call=meet,comm=0x1");
	wait_in(1, 20, 40, op("barrier"), "main;meet", "call=meet,comm=0x1");
	wait_in(2, 39, 40, op("barrier"), "main;meet", "call=meet,comm=0x1");
	wait_in(1, 41, 60, op("barrier"), "main;meet", "call=meet,comm=0x2"); /* nobody else comes */
	end = ask(1, 0, 12, 13);
	check(&end, WAIT_END_LAST, 1, 2);
	assert_int_equal(end.from_ns, 10 * MS);
	assert_int_equal(end.until_ns, 39 * MS);
	end = ask(1, 1, 21, 22);
	check(&end, WAIT_END_LAST, 1, 2);
	assert_int_equal(ask(1, 2, 39, 40).by, WAIT_END_ITSELF);
	assert_int_equal(ask(1, 1, 50, 51).by, WAIT_END_UNTOLD);
	small_end(&small);
}

static void test_ranks(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	for (uint32_t rank = 1; rank < 4; rank++)
		thread(rank, 0, 100 + rank, 0, 100, "");
	wait_in(0, 10, 30, op("mpi"), "main;all", "call=MPI_Allreduce,comm=world,seq=1");
	wait_in(1, 28, 30, op("mpi"), "main;all", "call=MPI_Allreduce,comm=world,seq=1");
	wait_in(2, 15, 30, op("mpi"), "main;all", "call=MPI_Allreduce,comm=world,seq=1");
	wait_in(0, 40, 60, op("mpi"), "main;get", "call=MPI_Recv,comm=world,peer=3,tag=1");
	wait_in(0, 70, 80, op("mpi"), "main;get", "call=MPI_Recv,comm=world.1.0,peer=1,tag=1");
	end = ask(1, 0, 12, 13);
	check(&end, WAIT_END_LAST, 2, 0);
	assert_int_equal(end.until_ns, 28 * MS);
	end = ask(1, 0, 41, 42);
	check(&end, WAIT_END_PEER, 3, 0);
	assert_int_equal(ask(1, 0, 71, 72).by, WAIT_END_UNTOLD); /* the 1 there may be any rank */
	small_end(&small);
}

/* The operation that ends last within the synchronization, not the one that runs on. */
static void test_sync(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	thread(1, 0, 100, 0, 100, "");
	for (uint32_t queue = 1; queue < 4; queue++)
		trace_queue(small.writer, 1, queue, 100 * MS);
	wait_in(0, 10, 50, STORE_OP_SYNC, "main;sync", "kind=device");
	wait_in(0, 60, 70, STORE_OP_SYNC, "main;sync", "kind=device");
	trace_kernel(small.writer, 1, 5 * MS, 20 * MS);
	trace_kernel(small.writer, 2, 5 * MS, 45 * MS);
	trace_kernel(small.writer, 3, 5 * MS, 99 * MS);
	end = ask(1, 0, 11, 12);
	assert_int_equal(end.by, WAIT_END_OPERATION);
	assert_int_equal(end.stream, stream_of(1, 2, STORE_STREAM_GPU));
	assert_int_equal(end.from_ns, 5 * MS);
	assert_int_equal(end.until_ns, 45 * MS);
	assert_int_equal(ask(1, 0, 61, 62).by, WAIT_END_UNTOLD);
	small_end(&small);
}

/* Threads and children end before, in and a little after the wait; a stranger's child does, too. */
static void test_ends(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	thread(1, 0, 100, 0, 1000, "command=make,parent=9");
	thread(1, 1, 101, 0, 200, "");
	thread(1, 2, 102, 0, 390, "");
	thread(1, 3, 103, 0, 395, "");
	thread(2, 0, 200, 10, 500, "command=cc a.c,parent=1");
	thread(3, 0, 300, 10, 600, "command=cc b.c,parent=1");
	thread(4, 0, 400, 10, 603, "command=cc c.c,parent=1");
	thread(5, 0, 500, 10, 598, "command=ld,parent=3");
	thread(6, 0, 600, 0, 1000, "command=make,parent=9");
	thread(7, 0, 700, 10, 501, "command=cc d.c,parent=6");
	thread(8, 0, 800, 10, 550, "command=cc e.c,parent=6");
	thread(1, 4, 104, 0, 185, "");
	wait_in(0, 100, 392, STORE_OP_BLOCKED, "main;pthread_join", "");
	wait_in(0, 450, 599, STORE_OP_BLOCKED, "main;waitpid", "");
	wait_in(0, 599, 601, STORE_OP_BLOCKED, "main;waitpid", "");
	wait_in(0, 601, 602, STORE_OP_BLOCKED, "main;waitpid", "");
	wait_in(0, 700, 800, STORE_OP_BLOCKED, "main;waitpid", "");
	wait_in(0, 800, 900, STORE_OP_BLOCKED, "main;read", "");
	wait_in(0, 900, 990, STORE_OP_BLOCKED, "main;read", "waker=300");
	wait_in(1, 100, 190, STORE_OP_BLOCKED, "main;Thread.join;sem_wait", "");
	wait_in(8, 300, 504, STORE_OP_BLOCKED, "main;pselect", ""); /* of process 6 */
	wait_in(8, 505, 560, STORE_OP_BLOCKED, "main;pselect", "");
	end = ask(1, 0, 110, 120);
	check(&end, WAIT_END_THREAD, 1, 2);
	end = ask(1, 1, 110, 120); /* Python's */
	check(&end, WAIT_END_THREAD, 1, 4);
	end = ask(6, 0, 310, 320); /* SIGCHLD ends the call */
	check(&end, WAIT_END_CHILD, 7, 0);
	assert_int_equal(
		ask(6, 0, 510, 520).by, WAIT_END_UNTOLD); /* that was no child: one ended long before */
	end = ask(1, 0, 460, 470);
	check(&end, WAIT_END_CHILD, 2, 0);
	end = ask(1, 0, 599, 601);
	check(&end, WAIT_END_CHILD, 3, 0);
	end = ask(1, 0, 601, 602); /* it was seen to end a little late */
	check(&end, WAIT_END_CHILD, 4, 0);
	assert_int_equal(ask(1, 0, 750, 760).by, WAIT_END_UNTOLD);
	assert_int_equal(ask(1, 0, 850, 860).by, WAIT_END_UNTOLD);
	assert_int_equal(ask(1, 0, 950, 960).by, WAIT_END_UNTOLD); /* that thread is dead by then */
	small_end(&small);
}

/* What a call that may end a wait says of it: the writer of that pipe, not of another. */
static void test_causes(void **state)
{
	struct wait_end end;

	(void)state;
	small_begin(&small);
	for (uint32_t i = 0; i < 3; i++)
		thread(1, i, 100 + i, 0, 1000, "switches=1");
	wait_in(0, 100, 200, op("wait"), "main;read", "call=read,cause=pipe,from=pipe:7");
	wait_in(0, 101, 200, STORE_OP_BLOCKED, "main;read", "");
	wait_in(1, 198, 199, op("wake"), "main;write", "call=write,wakes=pipe:7");
	wait_in(2, 199, 200, op("wake"), "main;write", "call=write,wakes=pipe:8");
	wait_in(0, 300, 400, op("wait"), "main;read", "call=read,cause=pipe,from=pipe:9");
	end = ask(1, 0, 110, 120);
	check(&end, WAIT_END_WAKER, 1, 1);
	assert_string_equal(end.cause, "pipe");
	assert_int_equal(ask(1, 0, 310, 320).by, WAIT_END_UNTOLD); /* its writer is outside the run */
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lock), cmocka_unit_test(test_gil),
		cmocka_unit_test(test_barrier), cmocka_unit_test(test_ranks), cmocka_unit_test(test_sync),
		cmocka_unit_test(test_ends), cmocka_unit_test(test_causes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
