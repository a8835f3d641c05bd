/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda.c - NVIDIA GPUs, by CUPTI's activity records, on hpct's clock. The driver calls us in cuInit
 * (CUDA_INJECTION64_PATH), which covers every way of using CUDA: linked, static, loaded by Python. Does not
 * cover OpenCL on NVIDIA's GPUs.
 */
#include "record/agent/gpu/cuda/gpu_cuda.h"

#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/cuda/gpu_cuda_pc.h"
#include "record/agent/gpu/cuda/gpu_cuda_share.h"
#include "record/agent/gpu/cuda/gpu_cuda_util.h"
#include "record/agent/gpu/fatal_signal.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"
#include "record/agent/unwind/gpu_runtime_libraries.h"

#define PC_PERIOD_NS UINT64_C(50000000)	   /* half the span in which CUPTI hands over samples */
#define FLUSH_MOST_NS UINT64_C(1000000000) /* maximum wait of an ending program for the last records */

struct cuda cuda;

/* Number of flushes requested, and completed. */
static _Atomic uint32_t flush_asked, flush_done;
static _Atomic bool is_saving; /* a signal ends the process: there is no time to end sampling */

static bool event_asked(const char *word)
{
	const char *at = strstr(process.settings.events, word);

	return at && (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

extern char **environ;

static uint64_t CUPTIAPI now(void)
{
	return process_now_ns();
}

/* CUPTI's refusal in the user's terms; else `otherwise`. */
static const char *refusal(int result, const char *otherwise)
{
	switch (result) {
	case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
		return "another tool holds CUPTI";
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return "no permission to use CUPTI: set NVreg_RestrictProfilingToAdminUsers=0";
	case CUPTI_ERROR_NOT_INITIALIZED:
	case CUPTI_ERROR_INVALID_DEVICE:
		return "CUPTI finds no driver that it supports";
	default:
		return otherwise;
	}
}

const char *cuda_begin(void)
{
	int result = (int)cuda.api.cuptiSubscribe(&cuda.subscriber, cuda_called, NULL);

	if (result)
		return refusal(result, "CUPTI refused hpct as its tool");
	result = (int)cuda.api.cuptiActivityRegisterTimestampCallback(now);
	if (!result)
		result = cuda_records_enable();
	if (!result)
		result = cuda_calls_enable();
	if (!result)
		return NULL;
	cuda_records_disable();
	cuda.api.cuptiUnsubscribe(cuda.subscriber);
	return refusal(result, "CUPTI refused activity records");
}

/* Forced: CUPTI would return a buffer that it keeps to the next tool. */
void cuda_end(void)
{
	cuda.api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	cuda_records_disable();
	cuda.api.cuptiUnsubscribe(cuda.subscriber);
}

static void wait_change(_Atomic uint32_t *word, uint32_t seen, uint64_t most_ns)
{
	const struct timespec most = {(time_t)(most_ns / 1000000000), (long)(most_ns % 1000000000)};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void cuda_flusher_wake(void)
{
	wake(&flush_asked);
}

/* CUPTI delivers buffers when they are full or flushed, and a killed program loses what is in them, so
 * this flushes regularly. At the end, a buffer with an unfinished operation must be forced out. Only this
 * thread flushes, since CUPTI takes locks that a thread in a signal handler may hold. */
static void *flusher(void *nothing)
{
	uint32_t asked = 0;
	uint64_t seen = 0;

	(void)nothing;
	gpu_thread_hide();
	while (atomic_load(&cuda.state) != CUDA_OFF && process_is_own()) {
		uint64_t calls = atomic_load(&cuda.calls);
		bool is_asked = atomic_load(&flush_asked) != asked;

		asked = atomic_load(&flush_asked);
		/* Flush once more after the last launch, which may have been running. */
		if (atomic_load(&cuda.state) == CUDA_ON && (is_asked || calls != seen))
			cuda.api.cuptiActivityFlushAll(is_asked ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
		seen = calls;
		if (atomic_load(&cuda.state) == CUDA_ON) {
			cuda_pc_read(is_asked && !atomic_load(&is_saving));
			cuda_util_read(is_asked && !atomic_load(&is_saving));
		}
		atomic_store(&flush_done, asked);
		wake(&flush_done);
		wait_change(&flush_asked, asked, cuda_pc_is_on() ? PC_PERIOD_NS : cuda_util_read_ns());
	}
	return NULL;
}

static struct {
	_Atomic bool is_there;
	pthread_t thread; /* joined only if the agent leaves: mostly it runs to the end */
} flushing;

static void flusher_start(void)
{
	sigset_t all, before;

	if (atomic_exchange(&flushing.is_there, true))
		return;
	sigfillset(&all);
	REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
	if (REAL(pthread_create)(&flushing.thread, NULL, flusher, NULL) && process.settings.injected)
		atomic_store(&flushing.is_there, false);
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
}

/* It ends as the state is CUDA_OFF. */
static void flusher_stop(void)
{
	if (!atomic_exchange(&flushing.is_there, false))
		return;
	atomic_fetch_add(&flush_asked, 1);
	wake(&flush_asked);
	REAL(pthread_join)(flushing.thread, NULL);
}

/* XLA (JAX, TensorFlow) changes its graphs between launches; when they are traced as wholes, the program
 * ends with an unspecified launch failure (9 of 9 runs, CUDA 13.0). */
static bool graphs_must_be_nodes(void)
{
	static const char *const xla[] = {
		"xla_cuda_plugin", "xla_extension", "libtensorflow", "_pywrap_tensorflow", NULL};

	if (!gpu_library_is_there(xla))
		return false;
	atomic_store(&process.shared->graphs_by_node, 1);
	return true;
}

void cuda_graphs_look(void)
{
	if (atomic_load(&cuda.whole_graphs) && graphs_must_be_nodes() &&
		atomic_exchange(&cuda.whole_graphs, false))
		cuda.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

static void start(uint64_t caller)
{
	int idle = CUDA_IDLE;
	const char *why;

	if (!gpu_is_wanted(&gpu_nvidia) || !process_is_own() ||
		!atomic_compare_exchange_strong(&cuda.state, &idle, CUDA_STARTING))
		return;
	cuda.whole_graphs = event_asked("cuda-graphs=graph") && !graphs_must_be_nodes();
	cuda.hold = event_asked("cuda=hold");
	gpu_runtime_libraries_add(caller, false);
	why = cuda_library_open(&cuda.api);
	if (!why) {
		gpu_runtime_libraries_add((uintptr_t)cuda.api.cuptiSubscribe, true);
		cuda_pc_open();
		cuda_util_open();
		why = cuda_begin();
	}
	atomic_store(&cuda.state, why ? CUDA_OFF : CUDA_ON);
	if (why) {
		gpu_unmonitored(why);
		return;
	}
	flusher_start();
	gpu_exit_watch();
	if (!process.settings.injected) /* handlers of the program's would have to be kept apart from it */
		fatal_signal_watch();
}

/* The driver calls this in cuInit, in the library that CUDA_INJECTION64_PATH names. */
WRAPPER int InitializeInjection(void);
WRAPPER int InitializeInjection(void)
{
	start((uintptr_t)__builtin_return_address(0));
	return 1;
}

/* A subscriber cannot see which tool holds CUPTI; inside programs it is always Kineto so far. */
void cuda_share_give(void)
{
	int on = CUDA_ON;

	if (!process_is_own() || cuda.hold || !atomic_compare_exchange_strong(&cuda.state, &on, CUDA_YIELDED))
		return;
	cuda_end();
	gpu_unmonitored("torch.profiler");
}

void cuda_share_take(void)
{
	int yielded = CUDA_YIELDED;

	if (!process_is_own() || !atomic_compare_exchange_strong(&cuda.state, &yielded, CUDA_STARTING))
		return;
	if (cuda_begin()) {
		atomic_store(&cuda.state, CUDA_YIELDED);
		return;
	}
	atomic_store(&cuda.state, CUDA_ON);
	gpu_unmonitored(NULL);
}

static void cuda_library_loaded(const char *path)
{
	(void)path;
	start((uintptr_t)__builtin_return_address(0));
}

/* ---- in a running process ---- */

static int driver_look(struct dl_phdr_info *info, size_t bytes, void *begin)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)bytes;
	if (!slash || strncmp(slash + 1, "libcuda.so", strlen("libcuda.so")) != 0)
		return 0;
	*(uint64_t *)begin = info->dlpi_addr;
	return 1;
}

/* Contexts that there are already are told of by nobody. */
static void cuda_come(void)
{
	uint64_t driver = 0;

	if (!dl_iterate_phdr(driver_look, &driver))
		return;
	atomic_store(&cuda.state, CUDA_IDLE);
	start(driver);
	if (atomic_load(&cuda.state) == CUDA_ON)
		gpu_used(gpu_now_ns());
}

static void cuda_leave(void)
{
	int on = CUDA_ON;

	if (!atomic_compare_exchange_strong(&cuda.state, &on, CUDA_OFF))
		return;
	flusher_stop();
	cuda_end();
}

/* The driver was loaded but did not call us: CUDA_INJECTION64_PATH named another library. */
static void other_tool_say(void)
{
	static const char *const driver[] = {"libcuda.so", NULL};
	const char *tool = environment_value(environ, EVENT_ENV_CUDA);
	int idle = CUDA_IDLE;

	if (atomic_load(&cuda.state) == CUDA_IDLE && tool && strcmp(tool, process.settings.agent) != 0 &&
		gpu_library_was_there(driver) && atomic_compare_exchange_strong(&cuda.state, &idle, CUDA_OFF))
		gpu_unmonitored("CUDA_INJECTION64_PATH names another tool");
}

/* The flusher alone calls CUPTI: the calling thread may be in a signal handler. */
static void flush_wait(uint64_t most_ns)
{
	uint64_t until_ns = process_now_ns() + most_ns;
	uint32_t wanted, done;

	if (atomic_load(&cuda.state) != CUDA_ON || !process_is_own())
		return;
	wanted = atomic_fetch_add(&flush_asked, 1) + 1;
	wake(&flush_asked);
	while ((int32_t)((done = atomic_load(&flush_done)) - wanted) < 0 && process_now_ns() < until_ns)
		wait_change(&flush_done, done, most_ns / 10);
}

static void cuda_flush(void)
{
	flush_wait(FLUSH_MOST_NS);
}

static void cuda_save(void)
{
	atomic_store(&is_saving, true);
	flush_wait(GPU_SAVE_NS);
}

/* CUDA does not survive a fork, and CUPTI hangs in the child. The child may use CUDA if its parent had not
 * started to. */
static void cuda_child(void)
{
	if (atomic_load(&cuda.state) != CUDA_IDLE)
		atomic_store(&cuda.state, CUDA_OFF);
}

const struct gpu_vendor gpu_nvidia = {.name = "nvidia",
	.library_loaded = cuda_library_loaded,
	.flush = cuda_flush,
	.save = cuda_save,
	.look_back = other_tool_say,
	.come = cuda_come,
	.leave = cuda_leave,
	.child = cuda_child};
