/* SPDX-License-Identifier: Apache-2.0 */
/* adopt.c - see adopt.h. */
#include "record/agent/sample/adopt.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process/process.h"

/* Two lists of ranges: one is read, the other one is written. A reader that was slower than two renewals may
 * see a mixture: it checks what it found against the version. */
static struct {
	_Atomic uint32_t version; /* the list at version % 2 is valid */
	uint32_t count[2];
	struct adopt_range list[2][ADOPT_RANGES_MAX], first[2];
} ranges;

static struct thread *_Atomic offered[EVENT_RINGS_MAX]; /* by ring */
static _Atomic uint32_t inside;				/* threads between adopt_enter and adopt_leave */
static _Atomic uint32_t serial; /* of the measurement; thread_place.adopted is of one */

static uint64_t hardware; /* AT_HWCAP2 */

void adopt_forked(void)
{
	atomic_store(&inside, 0);
}

void adopt_begin(void)
{
	atomic_fetch_add(&serial, 1);
	hardware = getauxval(AT_HWCAP2);
	memset(offered, 0, sizeof(offered));
}

uint32_t adopt_measurement(void)
{
	return atomic_load(&serial);
}

void adopt_ranges_set(const struct adopt_range *list, uint32_t count, struct adopt_range first)
{
	uint32_t next = atomic_load(&ranges.version) + 1;

	if (count > ADOPT_RANGES_MAX)
		count = ADOPT_RANGES_MAX;
	memcpy(ranges.list[next % 2], list, count * sizeof(*list));
	ranges.count[next % 2] = count;
	ranges.first[next % 2] = first;
	atomic_store(&ranges.version, next);
}

static struct adopt_range range_find(const struct adopt_range *list, uint32_t count, uint64_t sp)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (list[middle].high <= sp)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && list[low].low <= sp ? list[low] : (struct adopt_range){0, 0};
}

/* The stack that holds sp, as far as all of it is known to stay mapped. libc keeps a thread's own data at its
 * stack's upper end: what the kernel shows as one range may be more than the stack, and go. Of another stack
 * nothing is read without asking the kernel. */
static struct adopt_range stack_find(uint64_t sp)
{
	uint32_t version = atomic_load(&ranges.version);
	struct adopt_range first = ranges.first[version % 2], found;
	uint64_t own = (uintptr_t)pthread_self();

	found = sp >= first.low && sp < first.high
			? first
			: range_find(ranges.list[version % 2], ranges.count[version % 2], sp);
	if (atomic_load(&ranges.version) != version)
		return (struct adopt_range){0, 0};
	if (found.high == first.high)
		return found;
	return own > sp && own < found.high ? (struct adopt_range){found.low, own}
					    : (struct adopt_range){0, 0};
}

static uint32_t ring_index(const struct thread *t)
{
	return (uint32_t)(((unsigned char *)t->ring.shared - process.rings) / EVENT_RING_STRIDE);
}

void adopt_offer(struct thread *t)
{
	atomic_store(&offered[ring_index(t)], t);
}

void adopt_withdraw(struct thread *t)
{
	atomic_store(&offered[ring_index(t)], NULL);
}

static struct thread *offer_find(uint32_t tid)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	for (uint32_t i = 0; i < claimed; i++) {
		struct thread *t = atomic_load(&offered[i]);

		if (t && t->ring.shared->tid == tid)
			return t;
	}
	return NULL;
}

static void stack_learn(uint64_t sp)
{
	struct adopt_range stack = stack_find(sp);

	thread_place.stack_low = stack.low;
	thread_place.stack_high = stack.high;
}

#define HARDWARE_FSGSBASE 2u /* of AT_HWCAP2: programs may read the register */

/* The calling thread has storage of glibc's, which notes its own address twice. A thread that was made
 * without glibc has none, and what lies where ours would be is something else. */
static bool has_storage(void)
{
#if defined(__x86_64__)
	uint64_t base = 0;

	if (hardware & HARDWARE_FSGSBASE)
		__asm__ volatile("rdfsbase %0" : "=r"(base));
	else
		__asm__ volatile("syscall"
				 : "+a"((long){SYS_arch_prctl})
				 : "D"(ARCH_GET_FS), "S"(&base)
				 : "rcx", "r11", "memory");
	return base && ((const uint64_t *)(uintptr_t)base)[0] == base &&
	       ((const uint64_t *)(uintptr_t)base)[2] == base;
#else
	return true;
#endif
}

/* Of threads that share one storage, only one is known: its ring has one writer. */
static struct thread *place_find(uint32_t tid)
{
	struct thread_place *place = &thread_place;
	uint32_t now = atomic_load(&serial);
	struct thread *t = place->adopted == now ? place->self : NULL;

	if (t)
		return t->ring.shared->tid == tid ? t : NULL;
	t = offer_find(tid);
	if (!t)
		return NULL;
	t->error_place = &errno;
	place->self = t;
	place->adopted = now;
	return t;
}

bool adopt_may_enter(void)
{
	return has_storage();
}

struct thread *adopt_enter(uint64_t sp)
{
	struct thread *t;

	atomic_fetch_add(&inside, 1);
	if (!process_is_live())
		return NULL;
	t = place_find((uint32_t)syscall(SYS_gettid));
	if (t && !thread_place.stack_high)
		stack_learn(sp);
	return t;
}

void adopt_leave(void)
{
	atomic_fetch_sub(&inside, 1);
}

bool adopt_end(uint64_t most_ns)
{
	uint64_t until_ns = process_now_ns() + most_ns;
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	while (atomic_load(&inside)) {
		if (process_now_ns() > until_ns)
			return false;
		sched_yield();
	}
	/* Nothing is written into storage of other threads, which may have gone: thread_place.adopted tells.
	 */
	atomic_fetch_add(&serial, 1);
	for (uint32_t i = 0; i < claimed; i++)
		atomic_store(&offered[i], NULL);
	return true;
}
