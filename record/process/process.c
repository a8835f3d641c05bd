/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h. */
#include "record/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/base/attribute_write.h"
#include "record/base/clock.h"
#include "record/base/memfd_check.h"
#include "record/base/pidfd_end.h"
#include "record/base/proc_read.h"
#include "record/gpu/correlate.h"
#include "record/process/drain_internal.h"
#include "record/process/remote_unwind.h"
#include "record/process/switches.h"

/* Copies the header's fixed fields and checks them. */
static int header_check(struct measured_process *process, struct error *error)
{
	const struct event_process *shared = process->shared;
	uint64_t activity_at = shared->activity_at;

	process->pid = shared->pid;
	process->parent_pid = shared->parent_pid;
	process->generation = shared->generation;
	process->rank = shared->rank;
	process->ring_count = shared->ring_count;
	process->rings_at = shared->rings_at;
	process->begin_ns = shared->begin_ns;
	process->period_ns = shared->period_ns;
	process->trap = shared->switches_trap;
	memcpy(process->metric_name, shared->metric, sizeof(process->metric_name));
	process->metric_name[sizeof(process->metric_name) - 1] = '\0';
	memcpy(process->executable, shared->executable, sizeof(process->executable));
	process->executable[sizeof(process->executable) - 1] = '\0';
	if (shared->magic != EVENT_MAGIC || shared->version != EVENT_VERSION)
		return error_set(error, ERROR_IO, "a process sent memory of another version of hpct");
	if (process->rings_at % 4096 || process->rings_at > process->shared_bytes ||
		process->rings_at < EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module) ||
		process->ring_count > EVENT_RINGS_MAX ||
		process->ring_count > (process->shared_bytes - process->rings_at) / EVENT_RING_STRIDE)
		return error_set(error, ERROR_IO, "a process sent memory whose sizes do not fit");
	if (activity_at && activity_at % 4096 == 0 && activity_at <= process->shared_bytes &&
		process->shared_bytes - activity_at >= EVENT_RING_HEADER + EVENT_ACTIVITY_DATA)
		process->gpu.activity = (struct event_ring *)((char *)process->shared + activity_at);
	process->tallies_at = shared->tallies_at;
	if (process->tallies_at % 4096 || process->tallies_at > process->shared_bytes ||
		process->ring_count > (process->shared_bytes - process->tallies_at) / EVENT_TALLIES_STRIDE)
		process->tallies_at = 0;
	process->names_at = shared->names_at;
	if (process->names_at % 4096 || process->names_at > process->shared_bytes ||
		process->shared_bytes - process->names_at < EVENT_NAMES_DATA)
		process->names_at = 0;
	process->code_at = shared->code_at;
	if (process->code_at % 4096 || process->code_at > process->shared_bytes ||
		process->shared_bytes - process->code_at < EVENT_CODE_DATA)
		process->code_at = 0;
	return 0;
}

/* If the memory shrank, reading it would fault: requires the seal against shrinking. */
static int memory_map(struct measured_process *process, int memory, struct error *error)
{
	if (!memfd_check(memory, F_SEAL_SHRINK, &process->shared_bytes) ||
		process->shared_bytes < EVENT_MODULES_AT)
		return error_set(error, ERROR_IO, "a process sent memory that is not sealed");
	process->shared = mmap(
		NULL, process->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	if (process->shared == MAP_FAILED) {
		process->shared = NULL;
		return error_set(error, ERROR_IO, "the memory of a process cannot be mapped");
	}
	return 0;
}

static int command_copy(struct measured_process *process, struct error *error)
{
	struct store_bytes text = {0};
	char words[sizeof(process->shared->command)];

	memcpy(words, process->shared->command, sizeof(words));
	title_text(process->begun, words, sizeof(words));
	command_quote(&text, words, sizeof(words));
	if (text.failed)
		return error_memory(error);
	process->command = (char *)text.data;
	return 0;
}

static const char *unit_text(uint32_t unit)
{
	return unit == EVENT_UNIT_BYTES ? "bytes" : unit == EVENT_UNIT_NS ? "ns" : "events";
}

static void counters_name(struct measured_process *process, struct store_writer *writer)
{
	uint32_t count = process->shared->counter_count;

	process->counter_count = count < EVENT_METRICS_MAX ? count : EVENT_METRICS_MAX;
	for (uint32_t i = 0; i < process->counter_count; i++) {
		char name[sizeof(process->shared->counters[i].name)];

		memcpy(name, process->shared->counters[i].name, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		process->logs_calls |= !strncmp(name, "IO:", 3) || !strncmp(name, "MEMLEAK:", 8);
		process->counters[i] = store_writer_metric(
			writer, name, unit_text(process->shared->counters[i].unit), false);
	}
	memcpy(process->sampler, process->shared->sampler, sizeof(process->sampler));
	process->sampler[sizeof(process->sampler) - 1] = '\0';
}

int measured_process_open(struct measured_process **out, struct store_writer *writer, int memory, int pidfd,
	struct error *error)
{
	struct measured_process *process = calloc(1, sizeof(*process));
	int result;

	if (!process) {
		close(memory);
		close(pidfd);
		return error_memory(error);
	}
	process->pidfd = pidfd;
	process->kept[0] = process->kept[1] = -1;
	process->first_stream = UINT32_MAX;
	result = memory_map(process, memory, error);
	close(memory);
	if (!result)
		result = header_check(process, error);
	if (!result)
		result = command_copy(process, error);
	if (result) {
		measured_process_free(process);
		return result;
	}
	process->gpu.pid = process->pid;
	process->gpu.generation = process->generation;
	process->gpu.rank = process->rank;
	process->gpu.begin_ns = process->begin_ns;
	process->gpu.command = process->command;
	process->gpu.lost = &process->lost;
	process->metric = store_writer_metric(writer, process->metric_name, "ns", false);
	counters_name(process, writer);
	*out = process;
	return 0;
}

static uint32_t rings_claimed(const struct measured_process *process)
{
	uint32_t claimed = atomic_load_explicit(&process->shared->ring_claimed, memory_order_acquire);

	return claimed < process->ring_count ? claimed : process->ring_count;
}

/* Adds rings claimed since the last call. */
static bool rings_grow(struct measured_process *process)
{
	const uint32_t claimed = rings_claimed(process);
	struct ring *grown;

	if (claimed <= process->ring_seen)
		return true;
	grown = realloc(process->rings, claimed * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + process->ring_seen, 0, (claimed - process->ring_seen) * sizeof(*grown));
	for (uint32_t i = process->ring_seen; i < claimed; i++)
		grown[i].stream = UINT32_MAX;
	process->rings = grown;
	process->ring_seen = claimed;
	return true;
}

/* MPI has told the program its rank: sets it in all streams. */
static void rank_learn(struct measured_process *process, struct store_writer *writer)
{
	int32_t known = atomic_load(&process->shared->rank_known);

	if (!known || process->rank == known - 1)
		return;
	process->rank = known - 1;
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		struct store_stream *stream =
			process->rings[i].stream == UINT32_MAX
				? NULL
				: store_writer_stream_edit(writer, process->rings[i].stream);
		if (stream)
			stream->rank = process->rank;
	}
	process->gpu.rank = process->rank;
	correlate_rank(&process->gpu, writer);
}

/* Programs set a title soon after they begin; those that change it later do it often. */
#define TITLE_LEAST_NS UINT64_C(20000000)
#define TITLE_MOST_NS UINT64_C(10000000000)

/* After an exec, what was read is the next program's. Without an agent nobody has told of that yet. */
static bool is_its_program(const struct measured_process *process)
{
	char name[40], path[sizeof(process->executable)];
	ssize_t size;

	if (!process->is_outside)
		return !measured_process_is_in_exec(process);
	snprintf(name, sizeof(name), "/proc/%u/exe", measured_process_proc_pid(process));
	size = readlink(name, path, sizeof(path) - 1);
	path[size > 0 ? size : 0] = '\0';
	return strncmp(path, process->executable, strlen(process->executable)) == 0;
}

static void title_look(struct measured_process *process, struct store_writer *writer, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > process->begin_ns ? now_ns - process->begin_ns : 0;
	char words[TITLE_BYTES];
	size_t size;

	if (now_ns < process->title_due_ns)
		return;
	age_ns = age_ns / 4 < TITLE_MOST_NS ? age_ns / 4 : TITLE_MOST_NS;
	process->title_due_ns = now_ns + (age_ns > TITLE_LEAST_NS ? age_ns : TITLE_LEAST_NS);
	size = proc_read(measured_process_proc_pid(process), "cmdline", words, sizeof(words));
	if (!is_its_program(process))
		return;
	if (title_take(process->title, process->begun, words, size))
		drain_process_told(process, writer);
}

/* What its agent read last. */
static void title_end(struct measured_process *process)
{
	const struct event_process *shared = process->shared;
	char words[sizeof(shared->title)];
	size_t size = shared->title_bytes;

	if (atomic_load_explicit(&shared->ended, memory_order_acquire) != EVENT_END_EXIT)
		return;
	memcpy(words, shared->title, sizeof(words));
	title_take(process->title, process->begun, words, size < sizeof(words) ? size : sizeof(words));
}

bool measured_process_is_dead(const struct measured_process *process)
{
	struct pollfd end = {process->pidfd, POLLIN, 0};

	return poll(&end, 1, 0) > 0;
}

uint32_t measured_process_proc_pid(const struct measured_process *process)
{
	return process->host_pid ? process->host_pid : process->pid;
}

bool measured_process_look(struct measured_process *process)
{
	return correlate_look(&process->gpu);
}

bool measured_process_is_filling(const struct measured_process *process)
{
	const uint32_t count = rings_claimed(process);

	for (uint32_t i = 0; i < count; i++)
		if (ring_unread_bytes(ring_at(process, i)) > EVENT_RING_DATA / 8)
			return true;
	return correlate_is_filling(&process->gpu);
}

size_t measured_process_drain(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns)
{
	size_t records = 0;

	if (!rings_grow(process))
		return 0;
	rank_learn(process, writer);
	drain_unheard_take(process, now_ns == UINT64_MAX);
	for (uint32_t i = 0; i < process->ring_seen; i++)
		records += ring_drain(process, i, writer, host);
	records += correlate_drain(&process->gpu, writer, host, now_ns);
	/* What a thread did before it ended is in the switch rings now. */
	sampling_off_take(&process->sampling_off, process->shared, clock_now_ns());
	for (uint32_t i = 0; i < process->ring_seen; i++)
		ring_sampling_off(process, i, writer), ring_unsampled(process, i, writer);
	records += switches_drain(process, writer, now_ns);
	for (uint32_t i = 0; i < process->ring_seen; i++)
		ring_release(process, i, writer);
	if (process->modules.jit)
		perf_map_look(&process->perf_map, writer, process->pid, clock_now_ns());
	if (now_ns != UINT64_MAX) {
		records += remote_unwind_look(process, writer, now_ns);
		title_look(process, writer, now_ns);
	}
	if (records)
		modules_unloaded(&process->modules, writer,
			(struct event_module *)((char *)process->shared + EVENT_MODULES_AT),
			atomic_load(&process->shared->module_count));
	return records;
}

void measured_process_complete(
	struct measured_process *process, struct store_writer *writer, uint64_t complete_ns)
{
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		struct ring *ring = &process->rings[i];
		struct store_stream *stream;

		if (ring->stream == UINT32_MAX)
			continue;
		if (!switches_cover(process->switches, ring->tid))
			wait_paths_show(&ring->waits, writer, ring->stream, complete_ns);
		switch_spans_show(&ring->switch_spans, &ring->waits, writer, ring->stream, complete_ns);
		stream = store_writer_stream_edit(writer, ring->stream);
		for (int track = 0; stream && track < STORE_TRACK_COUNT; track++) {
			uint64_t known_ns = track == STORE_SPANS
						    ? wait_paths_complete(&ring->waits, complete_ns)
						    : complete_ns;

			if (stream->complete_ns[track] < known_ns)
				stream->complete_ns[track] = known_ns;
		}
	}
	correlate_complete(&process->gpu, writer, complete_ns);
}

static void unmonitored_put(struct measured_process *process, struct store_writer *writer, uint32_t on,
	uint64_t end_ns, const char *reason)
{
	struct store_bytes text = {0};
	struct store_record span = {.begin_ns = process->unmonitored_ns,
		.end_ns = end_ns > process->unmonitored_ns ? end_ns : process->unmonitored_ns,
		.what = STORE_OP_UNMONITORED};
	struct store_stream *stream = store_writer_stream_edit(writer, on);

	attribute_write(&text, "reason", reason);
	if (!text.failed)
		span.attributes = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	store_writer_append(writer, on, STORE_SPANS, &span, 1);
	if (stream && stream->end_ns < span.end_ns)
		stream->end_ns = span.end_ns;
}

bool measured_process_is_in_exec(const struct measured_process *process)
{
	return atomic_load(&process->shared->ended) == EVENT_END_EXEC;
}

/* The state at its death, after an exec without successor: for example, the agent of a program that
 * another user runs cannot connect. */
static void exec_finish(
	struct measured_process *process, struct store_writer *writer, uint64_t end_ns, uint64_t now_ns)
{
	bool is_told = process->unmonitored_ns > 0;

	if (process->has_successor || !measured_process_is_in_exec(process)) {
		process->unmonitored_ns = 0;
		return;
	}
	if (!is_told)
		process->unmonitored_ns = end_ns;
	if (process->first_stream != UINT32_MAX)
		unmonitored_put(process, writer, process->first_stream, now_ns,
			is_told ? "exec of a program that takes no agent"
			: now_ns < end_ns + PIDFD_END_SOON_NS &&
					pidfd_end_how(measured_process_proc_pid(process), process->pidfd) ==
						PIDFD_END_BY_SIGNAL
				? "exec of a program that was killed before its agent registered"
				: "exec of a program whose agent could not start");
}

void measured_process_finish(
	struct measured_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns)
{
	bool is_locked_up = atomic_load(&process->shared->is_locked_up);
	uint64_t end_ns = now_ns;

	if (atomic_load(&process->shared->ended)) {
		uint64_t said_ns = atomic_load(&process->shared->end_ns);

		if (said_ns >= process->begin_ns && said_ns < now_ns)
			end_ns = said_ns;
	}
	process->end_ns = end_ns;
	process->has_status = !process->has_successor && pidfd_end_status(measured_process_proc_pid(process),
								 process->pidfd, &process->end_status);
	title_end(process);
	measured_process_look(process);
	measured_process_drain(process, writer, host, UINT64_MAX);
	correlate_fault_tell(&process->gpu, writer, host);
	correlate_calls_end(&process->gpu, writer, end_ns);
	measured_process_name(process, writer);
	if (is_locked_up)
		process->unmonitored_ns = end_ns;
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		uint32_t stream = process->rings[i].stream;

		ring_close(process, i, writer, end_ns);
		if (is_locked_up && stream != UINT32_MAX)
			unmonitored_put(process, writer, stream, now_ns,
				"its seccomp filter forbids system calls of the agent");
	}
	correlate_finish(&process->gpu, writer, host, end_ns);
	if (!is_locked_up)
		exec_finish(process, writer, end_ns, now_ns);
}

void measured_process_name(struct measured_process *process, struct store_writer *writer)
{
	process->perf_map.module = process->modules.jit;
	process->perf_map.code = process->code_at ? (const char *)process->shared + process->code_at : NULL;
	perf_map_name(&process->perf_map, writer, process->pid, process->begin_ns);
}

void measured_process_discard(struct measured_process *process)
{
	process->is_discarded = process->gpu.is_discarded = true;
}

void measured_process_free(struct measured_process *process)
{
	if (!process)
		return;
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		free(process->rings[i].contexts.list);
		free(process->rings[i].texts.list);
		tally_deltas_fini(&process->rings[i].tally_deltas);
		wait_paths_fini(&process->rings[i].waits);
		kernel_callchains_fini(&process->rings[i].callchains);
	}
	free(process->rings);
	python_places_fini(&process->python);
	correlate_free(process->gpu.correlate);
	gpu_module_fini(&process->gpu.kernels);
	sampling_off_fini(&process->sampling_off);
	perf_map_fini(&process->perf_map);
	remote_unwind_free(process->remote);
	switches_free(process->switches); /* before the memory, which may hold copies */
	free(process->children);
	free(process->command);
	if (process->shared)
		munmap(process->shared, process->shared_bytes);
	close(process->pidfd);
	for (int i = 0; i < 2; i++)
		if (process->kept[i] >= 0)
			close(process->kept[i]);
	free(process);
}
