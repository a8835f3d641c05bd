/* SPDX-License-Identifier: Apache-2.0 */
/* agent_end.c - see agent_end.h. */
#include "record/agent/wrap/agent_end.h"

#include <stdatomic.h>

#include "record/agent/gpu/gpu.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/thread.h"

static _Atomic int ended;
static bool is_exiting; /* runtimes may be torn down already; they were flushed before */

void agent_begins(void)
{
	atomic_store(&ended, 0);
}

void agent_end(void)
{
	struct thread *thread;

	if (!process_is_own() || atomic_exchange(&ended, 1))
		return;
	if (!is_exiting)
		gpu_flush();
	gpu_look_back();
	thread = thread_here();
	if (thread) {
		start_stop_thread_end(thread);
		thread_settle(thread);
	}
	source_timer_end();
	process_end(process_now_ns());
}

void agent_resume(void)
{
	if (!process_is_own() || !atomic_exchange(&ended, 0))
		return;
	process_resume();
	if (thread_place.self)
		thread_resume(thread_place.self);
}

void agent_exits(void)
{
	is_exiting = true;
	agent_end();
}
