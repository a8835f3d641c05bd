/* SPDX-License-Identifier: Apache-2.0 */
/* gil.c - see gil.h. */
#include "record/agent/wrap/gil.h"

#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/environment.h"
#include "record/agent/python/python_gil.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/wrap/cause.h"

#define GIL_TEXT_BYTES 96
#define THREAD_BYTES 1024 /* of glibc's struct pthread: its tid is among them */

/* "call=take_gil,lock=0x7f12,holder=4711": as of other locks. */
static void put_text(char to[GIL_TEXT_BYTES], const struct thread *t, bool is_again)
{
	strcpy(to, "call=take_gil,lock=");
	environment_hexadecimal(to + strlen(to), t->gil);
	if (t->gil_holder) {
		strcat(to, ",holder=");
		environment_decimal(to + strlen(to), t->gil_holder);
	}
	if (is_again)
		strcat(to, ",again=1");
}

/* What has been waited so far, since another thread holds it now. */
static void part_publish(struct thread *t, uint64_t end_ns, const void *function)
{
	struct wait wait = {.thread = t, .begin_ns = t->gil_begin_ns};
	char text[GIL_TEXT_BYTES];
	struct wait_call call = {.name = "gil", .attributes = text, .is_later = true};

	if (end_ns - t->gil_begin_ns <= WAIT_LEAST_NS || start_stop_is_off())
		return;
	put_text(text, t, true);
	wait_publish(&wait, end_ns, function, &call);
}

/* A thread state may name a thread that has ended, whose memory is gone. */
OWN static uint64_t holder_of(uint64_t gil)
{
	uint64_t thread = python_gil_holder(gil);
	char bytes[THREAD_BYTES];

	if (!thread || !safe_read(bytes, (const void *)(uintptr_t)thread, sizeof(bytes)))
		return 0;
	return cause_thread_number((pthread_t)thread);
}

OWN static void part_begin(struct thread *t, uint64_t gil, uint64_t now_ns, const void *function)
{
	uint64_t holder = holder_of(gil);

	if (t->gil_begin_ns && t->gil == gil && t->gil_holder == holder)
		return;
	if (t->gil_begin_ns && t->gil == gil)
		part_publish(t, now_ns, function);
	t->gil = gil;
	t->gil_holder = holder;
	t->gil_begin_ns = now_ns;
}

OWN static void part_end(const struct wait *wait, uint64_t gil, const void *function)
{
	struct thread *t = wait->thread;
	char text[GIL_TEXT_BYTES];
	struct wait_call call = {.name = "gil", .attributes = text};
	uint64_t end_ns;
	bool is_published;

	if (!t || t != thread_self())
		return;
	end_ns = process_now_ns();
	if (python_gil_is_taken(gil)) {
		wait_end_at(wait, end_ns, function, NULL);
		return;
	}
	call.begin_ns = t->gil_begin_ns;
	is_published = t->gil_begin_ns && end_ns - t->gil_begin_ns > WAIT_LEAST_NS && !start_stop_is_off();
	if (is_published)
		put_text(text, t, false);
	wait_end_at(wait, end_ns, function, is_published ? &call : NULL);
	t->gil_begin_ns = 0;
}

int gil_wait(uint64_t gil, pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	const void *function = (const void *)(uintptr_t)REAL(pthread_cond_timedwait);
	struct wait wait;
	int result;

	wait_begin(&wait);
	if (wait.thread)
		part_begin(wait.thread, gil, wait.begin_ns, function);
	else if (thread_self())
		thread_self()->gil_begin_ns = 0; /* what is measured later is a wait of its own */
	result = real.pthread_cond_timedwait(condition, mutex, until);
	part_end(&wait, gil, function);
	return result;
}
