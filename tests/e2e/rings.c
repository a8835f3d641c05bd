/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.c - waits for a ring of io_uring whose operations a thread of the kernel's starts, as liburing does,
 * and counts the waits that a signal has ended: nobody sends one. Prints "waits N ended N otherwise N"; 77:
 * no rings here. "rings N alarms": so many waits for what never comes, each until its alarm has come; "alarms
 * N". A sample may end such a wait earlier, or go by when the alarm has: then it must not go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define ENTRIES 8

__attribute__((noinline)) static long ring_enter(long ring, long submit, long least, long flags)
{
	register long r10 __asm__("r10") = flags;
	register long r8 __asm__("r8") = 0;
	register long r9 __asm__("r9") = 8;
	long result;

	__asm__ volatile("mov $0x1aa, %%eax\n\tsyscall"
			 : "=&a"(result)
			 : "D"(ring), "S"(submit), "d"(least), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static void *map(int ring, size_t bytes, off_t what)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (at == MAP_FAILED)
		exit(77);
	return at;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void alarms_wait(int ring, unsigned rounds)
{
	struct itimerval soon = {.it_value.tv_usec = 100000};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &action, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		while (alarms == (int)i && ring_enter(ring, 0, 1, IORING_ENTER_GETEVENTS) == -EINTR)
			;
	}
	printf("alarms %d\n", (int)alarms);
}

int main(int argc, char **argv)
{
	struct io_uring_params p = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1000};
	int ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, ended = 0, other = 0;
	static char room[1 << 20];
	unsigned *tail, *taken, *made, *wake;
	struct io_uring_sqe *entries;
	char *sq, *cq;

	if (ring < 0 || zero < 0)
		return 77;
	if (argc > 2) {
		alarms_wait(ring, rounds);
		return 0;
	}
	sq = map(ring, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = map(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	entries = map(ring, p.sq_entries * sizeof(*entries), IORING_OFF_SQES);
	tail = (unsigned *)(void *)(sq + p.sq_off.tail);
	wake = (unsigned *)(void *)(sq + p.sq_off.flags);
	taken = (unsigned *)(void *)(cq + p.cq_off.head);
	made = (unsigned *)(void *)(cq + p.cq_off.tail);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned at = i & (p.sq_entries - 1);

		entries[0] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ, .fd = zero, .addr = (uintptr_t)room, .len = sizeof(room)};
		((unsigned *)(void *)(sq + p.sq_off.array))[at] = 0;
		__atomic_store_n(tail, i + 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(wake, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
			ring_enter(ring, 1, 0, IORING_ENTER_SQ_WAKEUP);
		while (__atomic_load_n(made, __ATOMIC_ACQUIRE) == i) {
			long result = ring_enter(ring, 0, 1, IORING_ENTER_GETEVENTS);

			ended += result == -EINTR;
			other += result < 0 && result != -EINTR;
		}
		__atomic_store_n(taken, i + 1, __ATOMIC_RELEASE);
	}
	printf("waits %u ended %u otherwise %u\n", rounds, ended, other);
	return 0;
}
