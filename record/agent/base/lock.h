/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - a futex lock for wrappers; pthread's locks may be replaced by the program or wrapped by us. Signal
 * handlers may use only lock_try. A fork child resets the word to 0.
 */
#ifndef RECORD_AGENT_LOCK_H
#define RECORD_AGENT_LOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct lock {
	_Atomic uint32_t state; /* 0 free, 1 held, 2 held with waiters */
};

static inline bool lock_try(struct lock *lock)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong(&lock->state, &free, 1);
}

static inline void lock_take(struct lock *lock)
{
	if (lock_try(lock))
		return;
	while (atomic_exchange(&lock->state, 2))
		syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void lock_give(struct lock *lock)
{
	if (atomic_exchange(&lock->state, 0) == 2)
		syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
