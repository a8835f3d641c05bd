/* SPDX-License-Identifier: Apache-2.0 */
/* start_stop.c - see start_stop.h. */
#include "record/agent/sample/start_stop.h"

#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/process/switches.h"
#include "record/agent/sample/counter_group.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/trace.h"

static HOT_DATA struct {
	atomic_flag busy; /* never waited for: of two concurrent calls, one counts */
	_Atomic bool is_paused;
	_Atomic uint32_t epoch; /* number of starts */
} control = {.busy = ATOMIC_FLAG_INIT};

void start_stop_init(bool delayed)
{
	atomic_store(&control.is_paused, delayed);
	atomic_store(&process.is_parked, process.settings.dormant);
}

HOT bool start_stop_is_off(void)
{
	return atomic_load_explicit(&control.is_paused, memory_order_acquire);
}

/* ---- the log ---- */

/* A start leaves space for its stop, so that a stop always fits. */
static bool log_has_room(unsigned wanted)
{
	struct event_process *shared = process.shared;

	return atomic_load(&shared->pause_count) - atomic_load(&shared->pauses_taken) + wanted <=
	       EVENT_PAUSES_MAX;
}

static void log_put(uint64_t now_ns)
{
	struct event_process *shared = process.shared;
	uint32_t count = atomic_load(&shared->pause_count);

	atomic_store(&shared->pause_ns[count % EVENT_PAUSES_MAX], now_ns);
	atomic_store_explicit(&shared->pause_count, count + 1, memory_order_release);
}

void start_stop_process_begin(void)
{
	atomic_flag_clear(&control.busy);
	if (start_stop_is_off())
		log_put(process.shared->begin_ns);
}

/* ---- clocks ---- */

void start_stop_ring_begin(struct event_ring *ring)
{
	atomic_store(&ring->paused_cpu_ns, 0);
	atomic_store(&ring->pause_cpu_ns, start_stop_is_off() ? ring->cpu_begin_ns : EVENT_NOT_PAUSED);
}

HOT uint64_t start_stop_off_ns(const struct event_ring *ring, uint64_t cpu_ns)
{
	uint64_t paused = atomic_load(&ring->paused_cpu_ns), since = atomic_load(&ring->pause_cpu_ns);

	return paused + (since < cpu_ns ? cpu_ns - since : 0);
}

uint64_t start_stop_uncovered_ns(const struct thread *t)
{
	const struct event_ring *ring = t->ring.shared;
	uint64_t cpu_ns = process_thread_cpu_ns();
	uint64_t known = ring->cpu_begin_ns + start_stop_off_ns(ring, cpu_ns) + t->covered_ns;

	return cpu_ns > known ? cpu_ns - known : 0;
}

HOT bool start_stop_is_anew(const struct thread *t)
{
	return t->pause_epoch != atomic_load_explicit(&control.epoch, memory_order_acquire);
}

HOT uint64_t start_stop_weight(struct thread *t, uint64_t weight)
{
	uint32_t epoch = atomic_load_explicit(&control.epoch, memory_order_acquire);

	if (t->pause_epoch == epoch)
		return weight;
	t->pause_epoch = epoch;
	return start_stop_uncovered_ns(t);
}

static void paused_set(bool is_paused)
{
	atomic_store(&control.is_paused, is_paused);
	counter_groups_switch(is_paused);
}

static void clocks_stop(void)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	for (uint32_t i = 0; i < claimed; i++) {
		struct event_ring *ring = process_ring_at(i);
		uint64_t cpu_ns = 0;

		if (atomic_load(&ring->state) == EVENT_RING_CLAIMED)
			cpu_ns = process_cpu_of_thread_ns(ring->tid);
		if (cpu_ns)
			atomic_store(&ring->pause_cpu_ns, cpu_ns);
	}
}

static void clocks_start(void)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	for (uint32_t i = 0; i < claimed; i++) {
		struct event_ring *ring = process_ring_at(i);

		if (atomic_load(&ring->state) != EVENT_RING_CLAIMED)
			continue;
		atomic_store(
			&ring->paused_cpu_ns, start_stop_off_ns(ring, process_cpu_of_thread_ns(ring->tid)));
		atomic_store(&ring->pause_cpu_ns, EVENT_NOT_PAUSED);
	}
}

/* ---- off and on ---- */

/* Takes a sample of the caller now, so that its timeline is exact at the switch. */
static void here_sample(bool with_rest)
{
	struct thread *t = trace_begin();
	uint32_t node;
	uint64_t weight;

	if (!t)
		return;
	node = trace_callpath(t);
	weight = with_rest ? start_stop_uncovered_ns(t) : 0;
	t->covered_ns += weight;
	sample_publish_pathless(t, process_now_ns());
	weight += sample_saved_take(t);
	sample_publish(t, node, 0, weight, process_now_ns());
	thread_saved_publish(t);
	trace_end(t);
}

void start_stop_switch_off(void)
{
	if (!process_is_own() || atomic_flag_test_and_set(&control.busy))
		return;
	if (!start_stop_is_off()) {
		here_sample(true);
		paused_set(true);
		clocks_stop();
		log_put(process_now_ns());
	}
	atomic_flag_clear(&control.busy);
}

void start_stop_switch_on(void)
{
	if (process.settings.unsampled || atomic_load(&process.is_parked) || !process_is_own() ||
		atomic_flag_test_and_set(&control.busy))
		return;
	if (start_stop_is_off() && !log_has_room(2)) {
		atomic_fetch_add(&process.shared->pauses_refused, 1);
	} else if (start_stop_is_off()) {
		clocks_start();
		log_put(process_now_ns());
		atomic_fetch_add(&control.epoch, 1);
		here_sample(false);
		paused_set(false);
	}
	atomic_flag_clear(&control.busy);
}

/* ---- by whoever records ---- */

/* No sample is taken here: it would show whatever this signal met, or was sent for. */
static bool obey_off(void)
{
	source_timers_park(true);
	if (start_stop_is_off())
		return true;
	paused_set(true);
	clocks_stop();
	log_put(process_now_ns());
	return true;
}

/* False: the log is full. Whoever asked is told that it is not done, and it will be: he drains the log. */
static bool obey_on(void)
{
	bool is_to_begin = start_stop_is_off() && !process.settings.unsampled;

	if (is_to_begin && !log_has_room(2))
		return false;
	if (is_to_begin) {
		clocks_start();
		log_put(process_now_ns());
		atomic_fetch_add(&control.epoch, 1);
		paused_set(false);
	}
	switches_begin_late();
	source_timers_park(false);
	return true;
}

void start_stop_obey(void)
{
	uint32_t wanted;

	if (!process_is_own() || atomic_flag_test_and_set(&control.busy))
		return;
	wanted = atomic_load(&process.shared->control_wanted);
	if (wanted != atomic_load(&process.shared->control_done) &&
		(wanted & EVENT_CONTROL_ON ? obey_on() : obey_off()))
		atomic_store(&process.shared->control_done, wanted);
	atomic_flag_clear(&control.busy);
}

/* ---- marks and ranges ---- */

#define NAME_BYTES_MAX 255u

/* "name=...", escaped for attributes. */
static uint32_t name_text(struct thread *t, const char *name)
{
	static const char plain[] = "\t\n\r\\,=", letters[] = "tnr\\,=", digits[] = "0123456789abcdef";
	char text[sizeof("name=") + 4 * NAME_BYTES_MAX] = "name=";
	char *to = text + strlen(text);

	for (unsigned i = 0; name && i < NAME_BYTES_MAX && name[i]; i++) {
		unsigned char byte = (unsigned char)name[i];
		const char *at = strchr(plain, byte);

		if (at || byte < 0x20 || byte == 0x7f)
			*to++ = '\\';
		if (at)
			*to++ = letters[at - plain];
		else if (byte < 0x20 || byte == 0x7f)
			*to++ = 'x', *to++ = digits[byte >> 4], *to++ = digits[byte & 15];
		else
			*to++ = (char)byte;
	}
	*to = '\0';
	return trace_text(t, text);
}

/* NULL in a vfork child, which shares its parent's memory and must not write. */
static struct thread *own_begin(void)
{
	return process_is_own() ? trace_begin() : NULL;
}

static _Atomic bool has_steps;

void start_stop_step_note(const char *name)
{
	if (name && strcmp(name, "step") == 0)
		atomic_store_explicit(&has_steps, true, memory_order_relaxed);
}

bool start_stop_has_steps(void)
{
	return atomic_load_explicit(&has_steps, memory_order_relaxed);
}

void start_stop_mark(const char *name)
{
	struct thread *t = own_begin();
	struct event_span span = {.operation = STORE_OP_MARK};

	if (!t)
		return;
	start_stop_step_note(name);
	span.h.node = trace_callpath(t);
	span.attributes = name_text(t, name);
	span.begin_ns = span.end_ns = process_now_ns();
	trace_span(t, EVENT_SPAN, &span);
	trace_end(t);
}

void start_stop_span_open(uint32_t operation, const char *name)
{
	struct thread *t = own_begin();
	struct event_span *span;

	if (!t)
		return;
	if (t->open_count >= START_STOP_SPANS_MAX) {
		t->open_count++; /* its end will be ignored */
		trace_end(t);
		return;
	}
	span = &t->open[t->open_count++];
	*span = (struct event_span){.operation = operation, .link = EVENT_PROGRAM_SPAN + t->open_serial++};
	start_stop_step_note(name);
	span->h.node = trace_callpath(t);
	span->attributes = name_text(t, name);
	span->begin_ns = process_now_ns();
	trace_span(t, EVENT_OPEN, span);
	trace_end(t);
}

static void open_close(struct thread *t, unsigned at)
{
	struct event_span span = t->open[at];

	memmove(&t->open[at], &t->open[at + 1], (--t->open_count - at) * sizeof(span));
	span.end_ns = process_now_ns();
	trace_span(t, EVENT_CLOSE, &span);
}

void start_stop_span_close(uint32_t operation)
{
	struct thread *t = own_begin();
	unsigned at;

	if (!t)
		return;
	if (t->open_count > START_STOP_SPANS_MAX) {
		t->open_count--;
	} else {
		for (at = t->open_count; at && t->open[at - 1].operation != operation; at--)
			;
		if (at)
			open_close(t, at - 1);
	}
	trace_end(t);
}

void start_stop_thread_end(struct thread *t)
{
	if (t->open_count > START_STOP_SPANS_MAX)
		t->open_count = START_STOP_SPANS_MAX;
	if (!t->open_count || !trace_begin())
		return;
	while (t->open_count)
		open_close(t, t->open_count - 1);
	trace_end(t);
}
