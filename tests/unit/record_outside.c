/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_outside.c - what a measurement from outside reads and sends: perf's samples, whole and cut anywhere;
 * the handshake for a process that is not the sender; switches that come as records; which processes may be
 * measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/base/handshake.h"
#include "record/outside/outside_find.h"
#include "record/outside/outside_perf.h"
#include "record/process/switches.h"
#include "record/process/switches_internal.h"

#define STACK 64u

/* A sample as the kernel lays it out; `used` of its STACK bytes are there. Returns its size. */
static size_t sample_make(char *to, uint64_t abi, uint64_t used)
{
	const uint64_t head[] = {77, 12 | UINT64_C(13) << 32, 1000}, wanted = STACK;
	const uint64_t kernel[] = {6, (uint64_t)PERF_CONTEXT_KERNEL, UINT64_C(1) << 63, UINT64_C(1) << 63 | 1,
		(uint64_t)PERF_CONTEXT_USER, 4711, 4712};
	size_t at = sizeof(struct perf_event_header);

	memcpy(to + at, head, sizeof(head));
	at += sizeof(head);
	memcpy(to + at, kernel, sizeof(kernel));
	at += sizeof(kernel);
	memcpy(to + at, &abi, sizeof(abi));
	at += sizeof(abi);
	for (uint64_t i = 0; abi && i < OUTSIDE_REGISTER_COUNT; i++, at += sizeof(i))
		memcpy(to + at, &(uint64_t){100 + i}, sizeof(i));
	memcpy(to + at, &wanted, sizeof(wanted));
	at += sizeof(wanted);
	memset(to + at, 0x5a, STACK);
	at += STACK;
	memcpy(to + at, &used, sizeof(used));
	return at + sizeof(used);
}

static void test_samples(void **state)
{
	struct outside_sample sample = {0};
	_Alignas(uint64_t) char record[1024];
	size_t bytes = sample_make(record, PERF_SAMPLE_REGS_ABI_64, 40);

	(void)state;
	assert_true(outside_sample_read(&sample, record, bytes));
	assert_int_equal(sample.event, 77);
	assert_int_equal(sample.pid, 12);
	assert_int_equal(sample.tid, 13);
	assert_int_equal(sample.time_ns, 1000);
	assert_int_equal(sample.kernel_count, 2);
	assert_true(sample.kernel[1] == (UINT64_C(1) << 63 | 1));
	assert_int_equal(sample.chain_count, 2);
	assert_true(sample.chain[0] == 4711 && sample.chain[1] == 4712);
	assert_int_equal(sample.stack_bytes, 40);
	assert_int_equal(sample.stack[39], 0x5a);
	assert_false(sample.is_cut || sample.is_32_bit);
#if defined(__x86_64__)
	assert_int_equal(sample.registers.value[ARCH_SP], 107);
	assert_int_equal(sample.registers.value[ARCH_FP], 106);
	assert_int_equal(sample.registers.value[ARCH_PC], 108);
	assert_int_equal(sample.registers.value[3], 101); /* rbx */
	assert_int_equal(sample.registers.value[15], 116);
#endif
	for (size_t less = 0; less < bytes; less++)
		assert_false(outside_sample_read(&sample, record, less));
	bytes = sample_make(record, PERF_SAMPLE_REGS_ABI_64, STACK);
	assert_true(outside_sample_read(&sample, record, bytes) && sample.is_cut);
	bytes = sample_make(record, PERF_SAMPLE_REGS_ABI_64, UINT64_MAX);
	assert_true(outside_sample_read(&sample, record, bytes));
	assert_int_equal(sample.stack_bytes, STACK);
	bytes = sample_make(record, PERF_SAMPLE_REGS_ABI_32, 8);
	assert_true(outside_sample_read(&sample, record, bytes) && sample.is_32_bit);
	assert_int_equal(sample.registers.known, 0);
	bytes = sample_make(record, 0, 8);
	assert_true(outside_sample_read(&sample, record, bytes));
	assert_int_equal(sample.registers.known, 0);
}

static void handshake_send(int to, unsigned count)
{
	struct event_handshake said = {.magic = EVENT_MAGIC,
		.version = EVENT_VERSION,
		.kind = EVENT_HANDSHAKE_OUTSIDE,
		.pid = 4711,
		.word = 9};
	int descriptors[3] = {to, to, to};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(descriptors))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(count * sizeof(int))}};
	struct iovec data = {&said, sizeof(said)};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};

	memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
	assert_int_equal(sendmsg(to, &message, MSG_NOSIGNAL), sizeof(said));
}

/* Its files in /proc are those of the process, not of hpct-record, which sends the message. */
static void test_the_handshake(void **state)
{
	struct handshake handshake;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	handshake_send(ends[0], 2);
	assert_int_equal(handshake_read(ends[1], &handshake), HANDSHAKE_PROCESS);
	assert_true(handshake.is_outside);
	assert_int_equal(handshake.pid, 4711);
	assert_int_equal(handshake.host_pid, 4711);
	assert_int_equal(handshake.word, 9);
	assert_int_equal(handshake.event_count, 0);
	handshake_refuse(HANDSHAKE_PROCESS, &handshake);
	handshake_send(ends[0], 3);
	assert_int_equal(handshake_read(ends[1], &handshake), HANDSHAKE_BAD);
	handshake_send(ends[0], 1);
	assert_int_equal(handshake_read(ends[1], &handshake), HANDSHAKE_BAD);
	close(ends[0]);
	close(ends[1]);
}

static void test_switches_as_records(void **state)
{
	const struct switch_event event = {.time_ns = 5, .tid = 7, .kind = SWITCH_OUT};
	struct switches *switches = NULL;

	(void)state;
	switches_put(switches, &event);
	assert_false(switches_cover(switches, 7));
	assert_int_equal(switches_stream(&switches), 0);
	assert_true(switches_cover(switches, 7));
	switches_put(switches, &event);
	assert_int_equal(switches->fresh.count, 1);
	assert_int_equal(switches->fresh.events[0].tid, 7);
	switches_free(switches);
}

static const char *why(const char *pids)
{
	static struct error error;
	struct outside_found found;
	struct outside_asked asked = {.pids = pids};

	error.text[0] = '\0';
	assert_int_equal(outside_find(&found, &asked, &error), -ERROR_USAGE);
	assert_null(found.pids);
	return error.text;
}

static void test_who_may_be_measured(void **state)
{
	struct outside_found found;
	struct error error;
	char pids[64];
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	snprintf(pids, sizeof(pids), "%d", (int)child);
	assert_non_null(strstr(why(pids), "a zombie"));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_non_null(strstr(why(pids), "there is no process"));
	snprintf(pids, sizeof(pids), "%d", (int)getpid());
	assert_non_null(strstr(why(pids), "itself"));
	assert_non_null(strstr(why("1;2"), "numbers"));
	assert_non_null(strstr(why(""), "numbers"));
	assert_non_null(strstr(why("99999999999"), "numbers"));
	snprintf(pids, sizeof(pids), "%d,%d", (int)getppid(), (int)getppid());
	assert_int_equal(outside_find(&found, &(struct outside_asked){.pids = pids}, &error), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.pids[0], getppid());
	assert_true(found.name[0] && found.words[0]);
	free(found.pids);
}

/* The run is called after the group, from wherever its directory is given. */
static void test_names_of_all(void **state)
{
	struct outside_found found;

	(void)state;
	outside_find_all(&found, NULL);
	assert_string_equal(found.name, "machine");
	outside_find_all(&found, "/sys/fs/cgroup/system.slice/cron.service");
	assert_string_equal(found.name, "cron.service");
	outside_find_all(&found, "cron.service");
	assert_string_equal(found.name, "cron.service");
	assert_memory_equal(found.words, "hpct-record\0--cgroup\0cron.service\0", 36);
}

/* A name is what its process made of it, and is printed. */
static void test_a_hostile_name(void **state)
{
	struct outside_found found;
	struct error error;
	int ends[2];
	char byte, pids[16];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails goes on here */
		prctl(PR_SET_NAME, "a\033[2J\n/b");
		assert_int_equal(write(ends[1], "x", 1), 1);
		pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	snprintf(pids, sizeof(pids), "%d", (int)child);
	assert_int_equal(outside_find(&found, &(struct outside_asked){.pids = pids}, &error), 0);
	assert_string_equal(found.name, "a?[2J?/b");
	free(found.pids);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_the_handshake),
		cmocka_unit_test(test_switches_as_records),
		cmocka_unit_test(test_who_may_be_measured),
		cmocka_unit_test(test_names_of_all),
		cmocka_unit_test(test_a_hostile_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
