/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - see collect.h. One loop, beside it the reader of switch rings (switch_reader.h):
 *
 *   listener   agents and launchers say hello        rings      drained every 50 ms while many records come,
 *   launchers  "my program has ended"                           250 while few do, and few can; see drain_ms()
 *   pidfds     a process has died: drain and close   hpct-names answers become symbols
 *                                                    commit     once a second, or when much waits
 */
#include "record/collect/collect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/process_filter.h"
#include "record/base/clock.h"
#include "record/base/detach.h"
#include "record/collect/collect_internal.h"
#include "record/kernel/kernel.h"
#include "record/process/switch_reader.h"

#define NICE 5
#define DRAIN_MS 50
#define DRAIN_CALM_MS 250 /* no ring held a 16th, nor can be full by then */
#define CALM_SAMPLES 500  /* half a ring, each on a path with ten frames that are new to it */
#define DRAIN_SOON_MS 2	  /* a ring was a quarter full */
#define PEEK_STORM_MS 10  /* a ring holds some 8000 launches of GPUs */
#define PEEK_CALLS_MS 30  /* ... or 5000 calls, which is 40 ms of small messages */
#define NAMES_WAIT_NS UINT64_C(20000000000)
#define NAMES_TELL_NS UINT64_C(250000000)
#define NAMES_POLL_MS 20

/* Places in what is waited for, each kind up to there. */
#define POLLED_CALLERS 16
#define POLLED_LAUNCHERS 32
#define POLLED_ALL 64

/* ---- the loop ---- */

/* An operation that lies in its ring has its binary in the socket, who died after an exec the hello of its
 * last program: those are read in between. */
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
		children_announce(&collector->children, at, collector->writer, collector->host_text);
		link = &at->next;
	}
	collector->is_dirty |= records > 0;
}

/* Threads that start or change what they do fill a ring several times as fast as before: at the pace that was
 * asked for it must not overflow meanwhile. */
static int calm_ms(const struct measured_process *process)
{
	uint64_t samples_ms = process->period_ns * CALM_SAMPLES / 1000000;

	if (!process->period_ns)
		return 2 * DRAIN_MS; /* by counts: nobody knows */
	if (samples_ms > DRAIN_CALM_MS)
		return DRAIN_CALM_MS;
	return samples_ms < DRAIN_MS ? DRAIN_MS : (int)samples_ms;
}

/* At the rate of the last time a quarter of a ring, and no more than twice as long as last time: ranges and
 * calls come in bursts, and who found little while it looked often must not take that for calm. */
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

/* How long the rings may fill, by how full they were and by who fills them. Each time that we wake costs the
 * machine as much as ten samples, caches gone cold included; a commit that is due need not be late for that.
 */
static int drain_ms(struct collector *collector)
{
	int timeout_ms = collector->ending_ns ? NAMES_POLL_MS : collect_commit_due_ms(collector);

	timeout_ms = timeout_ms < DRAIN_CALM_MS ? timeout_ms : DRAIN_CALM_MS;
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

/* How often the rings of a process are to be peeked at, which may fill at any time, however calm it is now:
 * launches come in storms, and so may calls, of MPI or those that are tallied (`-e IO`), and ranges. Few
 * programs have such: for the others a machine is not woken as often. */
static int peek_ms(const struct measured_process *process)
{
	if (process->gpu.correlate)
		return PEEK_STORM_MS;
	if (!process->tallies_at && !process->has_ranges && !atomic_load(&process->shared->rank_known))
		return DRAIN_CALM_MS;
	return process->is_bursting ? PEEK_STORM_MS : PEEK_CALLS_MS;
}

static int peek_all_ms(const struct collector *collector)
{
	int least_ms = DRAIN_CALM_MS;

	for (const struct measured_process *at = collector->processes; at; at = at->next)
		least_ms = peek_ms(at) < least_ms ? peek_ms(at) : least_ms;
	return least_ms;
}

static bool is_filling(const struct collector *collector)
{
	for (const struct measured_process *at = collector->processes; at; at = at->next)
		if (peek_ms(at) < DRAIN_CALM_MS && measured_process_is_filling(at))
			return true;
	return false;
}

/* As poll, but over as soon as a storm fills a ring. */
static void poll_peeking(
	const struct collector *collector, struct pollfd *polled, unsigned count, int timeout_ms)
{
	const int each_ms = peek_all_ms(collector);

	for (; timeout_ms > each_ms; timeout_ms -= each_ms)
		if (poll(polled, count, each_ms) || is_filling(collector))
			return;
	poll(polled, count, timeout_ms);
}

/* Waits for news or the time to drain. Who calls, a launcher, a name, the end of a process and the reader of
 * switch rings wake it at once, as far as there is room; the others wait for the time. */
static void wait_for_news(struct collector *collector, int timeout_ms)
{
	struct pollfd polled[POLLED_ALL + 1];
	unsigned count = 0, callers;
	int names = symbol_client_descriptor(collector->symbol_client);
	const struct launcher *launcher;

	/* Who cannot be let in would wake us again and again. */
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
	/* To ask in vain costs a system call each, and the listener's makes a file first. */
	collector->is_called = launcher || collector->callers || collector->is_full;
	for (unsigned i = 0; i < callers; i++)
		collector->is_called |= polled[i].revents != 0;
}

/* A process may have died after its last child said hello, a child after its own: that is heard first. */
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

/* All that was recorded so far is committed and named; whoever waits for that is told. */
static void settle(struct collector *collector)
{
	struct error error;

	collector->summary.unmonitored_children = collector->children.unmonitored;
	collector->summary.unmonitored_children_ns = collector->children.unmonitored_ns;
	source_copies_keep(&collector->sources, collector->writer);
	summary_put(&collector->summary, collector->writer,
		symbol_client_outstanding(collector->symbol_client),
		collector->has_failed ? collector->failure.text : NULL);
	collector->is_settled = collector->is_closing;
	if (collector->is_closing) {
		store_writer_meta(collector->writer, "state", "complete");
		store_writer_hurry(collector->writer); /* who waits for us need not wait for the disk */
	}
	collect_commit(collector);
	if (local_spool_copy(&collector->spool, &error) && !collector->has_failed)
		collect_store_failed(collector, &error);
	if (collector->has_failed) /* perhaps only now */
		summary_put(&collector->summary, collector->writer, 0, collector->failure.text);
	collect_launchers_send(collector, RENDEZVOUS_DONE, 0);
	collect_launchers_dismiss(collector);
	collector->ending_ns = 0;
}

/* What outlived its launchers, a daemon or the program of an hpct-record that was killed, has come to its
 * end. */
static bool is_left_alone(const struct collector *collector)
{
	return collector->is_closing && !collector->is_settled && !collector->launchers &&
	       collector->summary.processes > 0;
}

/* A launcher whose program has ended waits for the names of what was seen last. Meanwhile others are recorded
 * on: programs that outlive the one that was started (daemons), other ranks. They are named and summed up
 * when the last of them has ended. */
static void launchers_answer(struct collector *collector)
{
	if (!collect_launchers_have_ended(collector) && !is_left_alone(collector))
		return;
	if (!collector->ending_ns) {
		collector->ending_ns = collector->progress_ns = clock_now_ns();
		collect_callers_serve(collector);
		rings_drain(collector);
		children_judge(collector);
		symbol_client_ask(collector->symbol_client, collector->writer);
		symbol_client_pump(collector->symbol_client, collector->writer);
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
	struct clock_anchor last = clock_anchor_take();
	struct error error;

	clock_anchor_put_last(collector->writer, &collector->anchor, &last);
	source_copies_fini(&collector->sources);
	modules_close();
	kernel_close();
	children_fini(&collector->children);
	store_writer_close(collector->writer, &error);
	local_spool_end(&collector->spool);
	rendezvous_sweep(&collector->rendezvous);
	symbol_client_free(collector->symbol_client); /* which may take a while */
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
	summary_init(&collector.summary, plan->events);
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
			"no process can be made for the collector (%s); see ulimit -u, and pids.max of its "
			"cgroup",
			strerror(errno));
	if (!pid)
		collector_run(plan, rendezvous, origin_ns);
	return 0;
}
