/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - see collect.h. One loop, beside it the reader of switch rings (switch_reader.h):
 *
 *   listener   agents and launchers connect          rings      drained every 50 ms while many records
 *   launchers  "my program has ended"                           come, every 250 ms while few do; drain_ms()
 *   pidfds     a process has died: drain and close   hpct-names answers become symbols
 *                                                    commit     once a second, or when much data waits
 */
#include "record/collect/collect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/process_filter.h"
#include "record/base/clock.h"
#include "record/base/detach.h"
#include "record/collect/collect_internal.h"
#include "record/kernel/kernel.h"
#include "record/process/switch_reader.h"

#define NICE 5
#define DRAIN_MS 50
#define DRAIN_CALM_MS 250 /* no ring was a 16th full, or can fill in that time */
#define CALM_SAMPLES 500  /* half a ring, if each is on a path with ten new frames */
#define DRAIN_SOON_MS 2	  /* if a ring was a quarter full */
#define PEEK_STORM_MS 10  /* a ring holds some 8000 GPU launches */
#define PEEK_CALLS_MS 30  /* ... or 5000 calls, which is 40 ms of small messages */
#define NAMES_WAIT_NS UINT64_C(20000000000)
#define NAMES_TELL_NS UINT64_C(250000000)
#define NAMES_POLL_MS 20
#define GAUGES_COMMIT_NS UINT64_C(5000000000)
#define PEEK_AFTER_NS UINT64_C(2000000000) /* since a span, for a process that is calm otherwise */

/* Slots of the poll set, up to there per kind. */
#define POLLED_CALLERS 16
#define POLLED_LAUNCHERS 32
#define POLLED_ALL 64

/* ---- the loop ---- */

/* A GPU operation in its ring refers to a binary in the socket, and a process that died after an exec has
 * sent its last program's handshake: so read the sockets between looking at rings and draining them. */
static void sockets_read(struct collector *collector)
{
	bool has_more = false;

	for (struct measured_process *at = collector->processes; at; at = at->next) {
		at->has_died = measured_process_is_dead(at);
		has_more |= measured_process_look(at) || (at->has_died && measured_process_is_in_exec(at));
	}
	if (has_more)
		collect_callers_serve(collector);
}

static void rings_drain(struct collector *collector)
{
	struct measured_process **link = &collector->processes;
	size_t records = 0;

	collector->filled_ns = clock_now_ns() - collector->drained_ns;
	collector->drained_ns += collector->filled_ns;
	sockets_read(collector);
	while (*link) {
		struct measured_process *at = *link;

		if (at->has_died) {
			collect_process_end(collector, link);
			records++;
			continue;
		}
		records += measured_process_drain(
			at, collector->writer, collector->host_text, collector->drained_ns);
		collect_parents_learn(collector, at);
		children_announce(&collector->children, at, collector->writer, collector->host_text);
		link = &at->next;
	}
	collector->is_dirty |= records > 0;
}

/* Threads that start or change phase fill a ring several times faster than before: at the requested rate
 * it must not overflow before the next drain. */
static int calm_ms(const struct measured_process *process)
{
	uint64_t samples_ms = process->period_ns * CALM_SAMPLES / 1000000;

	if (!process->period_ns)
		return 2 * DRAIN_MS; /* periods count events: the rate is unknown */
	if (samples_ms > DRAIN_CALM_MS)
		return DRAIN_CALM_MS;
	return samples_ms < DRAIN_MS ? DRAIN_MS : (int)samples_ms;
}

/* Time to fill a quarter of a ring at the last rate, at most twice the last interval: ranges and calls
 * come in bursts, and a few short intervals with little data do not mean calm. */
static int burst_ms(const struct collector *collector, const struct measured_process *process)
{
	uint64_t fits_ms =
		collector->filled_ns / 1000000 * (EVENT_RING_DATA / 4) / (process->fullest_bytes + 1);
	uint64_t most_ms = process->drain_ms ? 2 * (uint64_t)process->drain_ms : DRAIN_MS;

	fits_ms = fits_ms < most_ms ? fits_ms : most_ms;
	return fits_ms < DRAIN_SOON_MS	 ? DRAIN_SOON_MS
	       : fits_ms > DRAIN_CALM_MS ? DRAIN_CALM_MS
					 : (int)fits_ms;
}

/* How long the rings may fill, by how full they were and what fills them. Each wake-up costs as much as ten
 * samples, cold caches included, so wake-ups are rare; but a due commit is not delayed for that. */
static int drain_ms(struct collector *collector)
{
	int timeout_ms = collector->ending_ns ? NAMES_POLL_MS : collect_commit_due_ms(collector);

	int control_ms = collect_control_due_ms(collector);

	timeout_ms = timeout_ms < DRAIN_CALM_MS ? timeout_ms : DRAIN_CALM_MS;
	timeout_ms = timeout_ms < control_ms ? timeout_ms : control_ms;
	for (struct measured_process *at = collector->processes; at; at = at->next) {
		int wanted_ms = at->fullest_bytes > EVENT_RING_DATA / 4	   ? DRAIN_SOON_MS
				: at->fullest_bytes > EVENT_RING_DATA / 16 ? DRAIN_MS
									   : calm_ms(at);

		at->is_bursting |= at->fullest_bytes > EVENT_RING_DATA / 8;
		at->drain_ms = burst_ms(collector, at);
		at->drain_ms = wanted_ms < at->drain_ms ? wanted_ms : at->drain_ms;
		timeout_ms = at->drain_ms < timeout_ms ? at->drain_ms : timeout_ms;
		at->fullest_bytes = 0;
	}
	return timeout_ms;
}

/* How often to check the rings of a process that may fill at any time, however calm it is now: GPU
 * launches come in bursts, as may calls of MPI, tallied calls (`-e IO`), ranges, and waits where there were
 * some lately. For other programs the collector does not wake for that: passes of gauges check them, too. */
static int peek_ms(const struct collector *collector, const struct measured_process *process)
{
	if (process->gpu.correlate)
		return PEEK_STORM_MS;
	if (!process->logs_calls && !process->has_ranges && !atomic_load(&process->shared->rank_known) &&
		collector->drained_ns > process->spans_ns + PEEK_AFTER_NS)
		return DRAIN_CALM_MS;
	return process->is_bursting ? PEEK_STORM_MS : PEEK_CALLS_MS;
}

static int peek_all_ms(const struct collector *collector)
{
	int least_ms = DRAIN_CALM_MS;

	for (const struct measured_process *at = collector->processes; at; at = at->next)
		least_ms = peek_ms(collector, at) < least_ms ? peek_ms(collector, at) : least_ms;
	return least_ms;
}

static bool is_filling(const struct collector *collector)
{
	for (const struct measured_process *at = collector->processes; at; at = at->next)
		if (measured_process_is_filling(at))
			return true;
	return false;
}

/* Reads the figures of host and processes; the rings need not be drained for that. */
static void gauges_pass(struct collector *collector, uint64_t now_ns)
{
	gauges_take(collector->gauges, collector->writer, collector->host_text, now_ns);
	for (struct measured_process *at = collector->processes; at; at = at->next) {
		struct gauges_target target = {
			measured_process_proc_pid(at), at->pid, at->generation, at->rank, at->begin_ns};

		if (!at->has_died)
			gauges_process_take(collector->gauges, &at->gauges, &target, collector->writer,
				collector->host_text);
	}
	gauges_taken(collector->gauges, collector->writer);
	/* A commit costs as much as several passes: what waits alone may wait longer. */
	collector->is_dirty |= now_ns - collector->committed_ns > GAUGES_COMMIT_NS;
}

/* Like poll, with passes of gauges meanwhile; ends early if one finds a ring that fills. */
static int poll_gauging(struct collector *collector, struct pollfd *polled, unsigned count, int timeout_ms)
{
	uint64_t now_ns = clock_now_ns(), end_ns = now_ns + (uint64_t)timeout_ms * 1000000;
	int result = 0;

	if (collector->has_failed || !collector->control.is_on || gauges_due_ns(collector->gauges) >= end_ns)
		return poll(polled, count, timeout_ms);
	for (; !result && now_ns < end_ns; now_ns = clock_now_ns()) {
		uint64_t due_ns = gauges_due_ns(collector->gauges),
			 until_ns = due_ns < end_ns ? due_ns : end_ns;
		uint64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		struct timespec wait = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};

		result = ppoll(polled, count, &wait, NULL);
		now_ns = clock_now_ns();
		if (now_ns < due_ns)
			continue;
		gauges_pass(collector, now_ns);
		if (is_filling(collector))
			break;
	}
	return result;
}

/* Like poll, but returns as soon as a burst fills a ring. */
static void poll_peeking(struct collector *collector, struct pollfd *polled, unsigned count, int timeout_ms)
{
	const int each_ms = peek_all_ms(collector);

	for (; timeout_ms > each_ms; timeout_ms -= each_ms)
		if (poll_gauging(collector, polled, count, each_ms) || is_filling(collector))
			return;
	poll_gauging(collector, polled, count, timeout_ms);
}

/* Waits for events or for the time to drain. Handshakes, launchers, symbols, process ends and the reader
 * of switch rings wake it at once, as far as the poll set has space; others wait for the time. */
static void wait_for_news(struct collector *collector, int timeout_ms)
{
	struct pollfd polled[POLLED_ALL + 1];
	unsigned count = 0, callers;
	int names = symbol_client_descriptor(collector->symbol_client);
	const struct launcher *launcher;

	/* Without a free descriptor a pending connection would wake us again and again. */
	polled[count++] = (struct pollfd){collector->is_full ? -1 : collector->listener, POLLIN, 0};
	polled[count++] = (struct pollfd){collector->is_full ? -1 : collector->abstract_listener, POLLIN, 0};
	for (struct caller *at = collector->callers; at && count < POLLED_CALLERS; at = at->next)
		polled[count++] = (struct pollfd){at->connection, POLLIN, 0};
	if (names >= 0)
		polled[count++] = (struct pollfd){names, POLLIN, 0};
	launcher = collector->launchers;
	for (; launcher && count < POLLED_LAUNCHERS; launcher = launcher->next)
		polled[count++] = (struct pollfd){launcher->connection, POLLIN, 0};
	callers = count;
	for (struct measured_process *at = collector->processes; at && count < POLLED_ALL; at = at->next)
		polled[count++] = (struct pollfd){at->pidfd, POLLIN, 0};
	polled[count++] = (struct pollfd){switch_reader_descriptor(), POLLIN, 0};
	poll_peeking(collector, polled, count, timeout_ms);
	switch_reader_event_clear();
	/* Checking costs a system call each, and the listener's creates a file first. */
	collector->is_called = launcher || collector->callers || collector->is_full;
	for (unsigned i = 0; i < callers; i++)
		collector->is_called |= polled[i].revents != 0;
}

/* A process may have died after its last child's handshake, and a child after its own: read those first. */
static void children_judge(struct collector *collector)
{
	bool is_over;

	children_look(&collector->children);
	if (collector->children.waiting_count || !collector->processes)
		collect_callers_serve(collector);
	is_over =
		!collector->processes && !collector->callers && !children_may_register(&collector->children);
	for (const struct launcher *at = collector->launchers; at; at = at->next)
		is_over &= at->has_ended;
	children_sweep(&collector->children, collector->writer, collector->host_text, is_over);
	collector->is_closing = is_over;
	collector->is_settled &= is_over;
}

/* What a run says of its end. */
static void end_put(struct collector *collector)
{
	struct clock_anchor last = clock_anchor_take();

	clock_anchor_put_last(collector->writer, &collector->anchor, &last);
	gauges_rest(collector->gauges, collector->writer, clock_now_ns());
}

/* Commits and symbolizes everything recorded so far, and tells the launchers that wait for it. */
static void settle(struct collector *collector)
{
	struct error error;

	collector->summary.unmonitored_children = collector->children.unmonitored;
	collector->summary.unmonitored_children_ns = collector->children.unmonitored_ns;
	source_copies_keep(&collector->sources, collector->writer);
	summary_put(&collector->summary, collector->writer, symbol_client_unnamed(collector->symbol_client),
		collector->has_failed ? collector->failure.text : NULL);
	collector->is_settled = collector->is_closing;
	if (collector->is_closing) {
		end_put(collector);
		store_writer_meta(collector->writer, "state", "complete");
		store_writer_hurry(collector->writer); /* a launcher waits for us: do not wait for the disk */
	}
	collect_commit(collector);
	if (local_spool_copy(&collector->spool, &error) && !collector->has_failed)
		collect_store_failed(collector, &error);
	if (collector->has_failed) /* it may have failed just now */
		summary_put(&collector->summary, collector->writer, 0, collector->failure.text);
	collect_launchers_send(collector, RENDEZVOUS_DONE, 0);
	collect_launchers_dismiss(collector);
	collector->ending_ns = 0;
}

/* True if the processes that outlived their launchers (a daemon, the program of a killed hpct-record) have
 * ended. */
static bool is_left_alone(const struct collector *collector)
{
	return collector->is_closing && !collector->is_settled && !collector->launchers &&
	       collector->summary.processes > 0;
}

/* A launcher whose program has ended waits until the last frames are symbolized. Other processes are
 * recorded meanwhile: programs that outlive the started one (daemons), other ranks. Those are symbolized
 * and summed when the last of them has ended. */
static void launchers_answer(struct collector *collector)
{
	if (!collect_launchers_have_ended(collector) && !is_left_alone(collector))
		return;
	if (!collector->ending_ns) {
		collector->ending_ns = collector->progress_ns = clock_now_ns();
		collect_callers_serve(collector);
		rings_drain(collector);
		children_judge(collector);
		symbol_client_begin_end(collector->symbol_client, collector->writer);
	}
	if (!collector->has_failed && symbol_client_outstanding(collector->symbol_client) &&
		clock_now_ns() - collector->ending_ns < NAMES_WAIT_NS) {
		if (clock_now_ns() - collector->progress_ns > NAMES_TELL_NS) {
			collector->progress_ns = clock_now_ns();
			collect_launchers_send(collector, RENDEZVOUS_PROGRESS,
				symbol_client_outstanding(collector->symbol_client));
		}
		return;
	}
	settle(collector);
}

static void step(struct collector *collector)
{
	size_t unnamed;

	wait_for_news(collector, drain_ms(collector));
	if (collector->is_called) {
		collect_callers_serve(collector);
		collect_launchers_serve(collector);
	}
	rings_drain(collector);
	collect_injected_follow(collector);
	collect_control_pass(collector);
	children_judge(collector);
	unnamed = symbol_client_outstanding(collector->symbol_client);
	symbol_client_pump(collector->symbol_client, collector->writer);
	collector->is_dirty |= symbol_client_outstanding(collector->symbol_client) != unnamed;
	launchers_answer(collector);
	collect_commit_if_due(collector);
}

static void collect(struct collector *collector)
{
	do
		step(collector);
	while (collector->processes || collector->launchers || collector->callers ||
		children_may_register(&collector->children) || is_left_alone(collector) ||
		!rendezvous_close(collector->rendezvous.place, collector->rendezvous.socket,
			collector->listener, collector->abstract_listener));
}

/* ---- begin and end ---- */

static void collector_fini(struct collector *collector)
{
	struct error error;

	if (!collector->is_settled) /* what launchers were told is complete stays as it is */
		end_put(collector);
	source_copies_fini(&collector->sources);
	modules_close();
	kernel_close();
	children_fini(&collector->children);
	gauges_free(collector->gauges);
	store_writer_close(collector->writer, &error);
	local_spool_end(&collector->spool);
	rendezvous_sweep(&collector->rendezvous);
	symbol_client_free(collector->symbol_client); /* may take a while */
}

_Noreturn static void collector_run(
	const struct collect_plan *plan, const struct rendezvous *rendezvous, uint64_t origin_ns)
{
	struct collector collector = {.plan = plan,
		.rendezvous = *rendezvous,
		.sources = {.is_wanted = plan->with_sources},
		.listener = DETACH_LISTENER,
		.abstract_listener = rendezvous->abstract_listener < 0 ? -1 : DETACH_ABSTRACT,
		.origin_ns = origin_ns};
	struct error error;

	detach(rendezvous->listener, rendezvous->abstract_listener);
	switch_reader_start();
	detach_thread(NICE);
	if (collect_store_make(&collector, &error) ||
		symbol_client_new(&collector.symbol_client, plan->names, &collector.sources, &error)) {
		collect_launchers_refuse(&collector, &error);
		_exit(1);
	}
	collect_control_init(&collector);
	summary_init(&collector.summary, plan->events);
	if (plan->gauges.interval_ns)
		collector.gauges = gauges_new(&plan->gauges, "", clock_now_ns());
	collector.children.left_out = process_filter_reason(plan->events);
	summary_unmonitored(
		&collector.summary, plan->unmonitored, plan->command, collector.writer, collector.host_text);
	collect_commit_soon(&collector);
	collect(&collector);
	collector_fini(&collector);
	_exit(0);
}

int collect_start(const struct collect_plan *plan, const struct rendezvous *rendezvous, struct error *error)
{
	uint64_t origin_ns = clock_now_ns();
	pid_t pid = fork();

	if (pid < 0)
		return error_set(error, ERROR_IO,
			"cannot start a process for the collector (%s); see ulimit -u, and pids.max of its "
			"cgroup",
			strerror(errno));
	if (!pid)
		collector_run(plan, rendezvous, origin_ns);
	return 0;
}
