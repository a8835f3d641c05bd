/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.c - load, fork and end of the agent inside a measured program. On any failure the program runs
 * unmeasured and otherwise unchanged: the agent prints nothing, waits for nothing and ends nothing.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "record/agent/base/emulated.h"
#include "record/agent/base/real.h"
#include "record/agent/base/vdso.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/gpu.h"
#include "record/agent/java/java_trace.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/agent_kind.h"
#include "record/agent/process/debugger.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"
#include "record/agent/process/process_filter.h"
#include "record/agent/sample/counter.h"
#include "record/agent/sample/counter_group.h"
#include "record/agent/sample/papi.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/torch/torch.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/wrap/agent_end.h"

static const struct gpu_vendor *const vendors[] = {&gpu_nvidia, &gpu_opencl, &gpu_level0, NULL};

#define STACK_BYTES_MAX (UINT64_C(1) << 30)

int __cxa_atexit(void (*function)(void *), void *argument, void *library);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);
extern void *__dso_handle;

static char **program_argv;
static char **program_envp;

/* The main thread's stack ends below argv and extends down to its limit. */
static void main_stack_set(char **argv)
{
	struct rlimit limit;
	uint64_t bytes = STACK_BYTES_MAX;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	thread_place.stack_high = (uintptr_t)argv;
	thread_place.stack_low = (uintptr_t)argv - bytes;
}

/* Starts measuring this process, in the calling thread, which is the only one. */
static int start(void)
{
	struct thread *thread;

	if (process_open(program_argv, program_envp))
		return -1;
	start_stop_process_begin();
	module_slots_init();
	thread_init();
	thread = thread_new();
	if (!thread)
		goto close_process;
	atomic_store(&process.shared->thread_count, 1);
	source_choose();
	source_waits_choose();
	counter_open();
	counter_groups_open();
	papi_open();
	thread_begin(thread, 0);
	wrap_thread_adopt();
	if (thread_place.self && !process_send()) {
		source_hand_over();
		counter_begin(thread_place.self);
		counter_groups_begin(thread_place.self);
		return 0;
	}
	if (thread_place.self)
		thread_end(thread_place.self);
close_process:
	process_close();
	return -1;
}

/* Child processes decide for themselves, whether this one is excluded or not. */
static bool is_wanted(void)
{
	return process_filter_wants(
		process.settings.events, process_number(), environment_rank(program_envp));
}

OWN static void start_in_child(void)
{
	int error = errno;

	thread_place.self = NULL;
	address_reserve_forked();
	signal_guards_over();
	counter_groups_forked();
	papi_forked();
	if (process.is_suspended)
		return;
	signal_guards_reinstall();
	agent_begins();
	vdso_look();
	if (is_wanted())
		start();
	gpu_child();
	torch_child();
	java_trace_child();
	errno = error;
}

/* Registered before the program's exit handlers, so it runs after them and after destructors. */
OWN static void at_exit(void *nothing)
{
	(void)nothing;
	agent_exits();
	STAY;
}

/* valgrind emulates a processor and complains about system calls that it does not know. */
static bool is_under_valgrind(char **envp)
{
	const char *preload = environment_value(envp, "LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

OWN static void begin(char **argv, char **envp)
{
	real_init();
	vdso_init();
	if (!agent_kind_is_wanted(&argv, &envp) || is_under_valgrind(envp) || process_settings_read(envp) ||
		emulated_is_measured() || debugger_would_stop() || !process_is_permitted())
		return;
	if (environment_hides_trap(envp))
		REAL(sigaction)(SIGTRAP, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	gpu_init(vendors);
	program_argv = argv;
	program_envp = envp;
	main_stack_set(argv);
	start_stop_init(process.settings.delayed);
	module_map_init(envp);
	if (is_wanted() && !wrap_thread_open() && !signal_guards_open() && !start()) {
		__register_atfork(NULL, NULL, start_in_child, __dso_handle);
		__cxa_atexit(at_exit, NULL, NULL);
	} else {
		signal_guards_close();
	}
	STAY;
}

/* Samples taken before this returns belong to no call of the program: they get the root as their path. */
FENCE __attribute__((constructor)) static void load(int argc, char **argv, char **envp)
{
	int error = errno;

	(void)argc;
	begin(argv, envp);
	errno = error;
}
