/* SPDX-License-Identifier: Apache-2.0 */
/* inject_gpu.c - see inject_gpu.h. */
#include "record/agent/inject/inject_gpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/gpu/gpu.h"

enum { WAITS, BEGINS, LEAVES };

static const struct gpu_vendor *const vendors[] = {&gpu_nvidia, NULL};
static const char *const drivers[] = {"libcuda.so", NULL};

static struct {
	bool is_there;
	pthread_t thread;
	_Atomic uint32_t phase;
} gpu;

static void phase_set(uint32_t phase)
{
	atomic_store(&gpu.phase, phase);
	syscall(SYS_futex, &gpu.phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static uint32_t phase_await(uint32_t over)
{
	uint32_t now;

	while ((now = atomic_load(&gpu.phase)) <= over)
		syscall(SYS_futex, &gpu.phase, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
	return now;
}

static void *speaker(void *unused)
{
	syscall(SYS_prctl, PR_SET_NAME, INJECT_GPU_THREAD, 0, 0, 0);
	if (phase_await(WAITS) == LEAVES)
		return unused;
	gpu_come();
	phase_await(BEGINS);
	gpu_leave();
	return unused;
}

void inject_gpu_init(void)
{
	gpu.is_there = false;
	atomic_store(&gpu.phase, WAITS);
	gpu_init(vendors);
	if (gpu_library_is_there(drivers))
		gpu.is_there = !REAL(pthread_create)(&gpu.thread, NULL, speaker, NULL);
}

void inject_gpu_begin(void)
{
	if (gpu.is_there)
		phase_set(BEGINS);
}

void inject_gpu_end(void)
{
	if (!gpu.is_there)
		return;
	phase_set(LEAVES);
	REAL(pthread_join)(gpu.thread, NULL);
	gpu.is_there = false;
}
