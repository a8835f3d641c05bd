/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_records.c - the kernel's records of all processors. A thread moves between processors, so each time
 * the rings are gone over thrice: first forks, so that every thread is known, then switches and ends, then
 * samples, which are unwound where they lie. What is left of a record is small and waits until it can be
 * taken in order of time: no older one can come any more.
 */
#include "record/outside/outside_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/exec_target.h"
#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/outside/outside_perf.h"
#include "store/base/array.h"
#include "store/ring/handshake.h"

#define MARGIN_NS UINT64_C(2000000)   /* the kernel may be delayed before it publishes */
#define STALE_NS UINT64_C(1000000000) /* code outside all modules: their list may be old */
#define FORKS_MAX 16u		      /* between a process and one that is known */
#define CHILD_NS UINT64_C(50000000)   /* by then a child has executed what it is to be, or will not */

/* ---- the ring ---- */

/* The record at a position, whole; *bytes its size, 0: damaged. */
static const char *record_at(
	struct outside *outside, const struct outside_cpu *cpu, uint64_t at, size_t *bytes)
{
	const char *data = cpu->memory + sysconf(_SC_PAGESIZE);
	uint64_t place = at & (outside->data_bytes - 1), room = outside->data_bytes - place;
	const struct perf_event_header *header = (const void *)(data + place); /* records are aligned to 8 */

	*bytes = header->size;
	if (*bytes < sizeof(*header) || *bytes > cpu->head - at) {
		*bytes = 0;
		return NULL;
	}
	if (*bytes <= room)
		return data + place;
	memcpy(outside->scratch, data + place, room);
	memcpy(outside->scratch + room, data, *bytes - room);
	return outside->scratch;
}

static struct perf_event_mmap_page *page_of(const struct outside_cpu *cpu)
{
	return (struct perf_event_mmap_page *)(void *)cpu->memory;
}

static void ring_walk(struct outside *outside, const struct outside_cpu *cpu,
	void (*take)(struct outside *, const char *, size_t))
{
	size_t bytes;

	for (uint64_t at = page_of(cpu)->data_tail; at < cpu->head; at += bytes) {
		const char *record = record_at(outside, cpu, at, &bytes);

		if (!bytes)
			return;
		take(outside, record, bytes);
	}
}

/* Old and new events both write while the stack size changes. */
static bool counts(const struct outside *outside, uint64_t event, uint64_t time_ns)
{
	return event >= outside->first_id ? time_ns >= outside->cut_ns : time_ns < outside->cut_ns;
}

static void record_add(struct outside *outside, struct outside_record record)
{
	if (!array_widen((void **)&outside->records, &outside->record_capacity, outside->record_count,
		    sizeof *outside->records))
		return;
	record.order = outside->arrived++;
	outside->records[outside->record_count++] = record;
}

/* ---- processes and threads ---- */

static struct outside_child *child_find(struct outside *outside, uint32_t pid)
{
	for (size_t i = 0; i < outside->child_count; i++)
		if (outside->children[i].pid == pid)
			return &outside->children[i];
	return NULL;
}

static void child_remove(struct outside *outside, struct outside_child *child)
{
	*child = outside->children[--outside->child_count];
}

/* The process that a child was forked from, or the one that that was forked from, if nothing is known of it.
 */
static const struct outside_target *forked_from(
	struct outside *outside, uint32_t parent_pid, uint64_t time_ns)
{
	const struct outside_target *target = outside_target_find(outside, parent_pid, time_ns);
	const struct outside_child *child;

	for (unsigned i = 0; i < FORKS_MAX && !target; i++) {
		child = child_find(outside, parent_pid);
		if (!child)
			return NULL;
		parent_pid = child->parent_pid;
		target = outside_target_find(outside, parent_pid, time_ns);
	}
	return target;
}

/* A process of what is measured does something for the first time. */
static struct outside_target *target_begin(struct outside *outside, const struct outside_birth *birth)
{
	unsigned count = 0;

	for (const struct outside_target *at = outside->targets; at; at = at->next)
		count++;
	if (count >= OUTSIDE_PROCESSES_MAX) {
		outside->totals.processes_refused++;
		return NULL;
	}
	return outside_target_new(outside, birth);
}

/* A child that has not become another program. */
static struct outside_target *child_begin(
	struct outside *outside, uint32_t pid, uint32_t parent_pid, uint64_t begin_ns)
{
	return target_begin(outside, &(struct outside_birth){.pid = pid,
					     .parent_pid = parent_pid,
					     .begin_ns = begin_ns,
					     .like = forked_from(outside, parent_pid, begin_ns)});
}

/* Any thread of what is measured: inherited events know them before we do. A child that may bring an agent of
 * its own in a moment is none yet if it only waits. */
static struct outside_thread *thread_of(
	struct outside *outside, uint32_t pid, uint32_t tid, uint64_t time_ns, bool is_at_work)
{
	struct outside_thread *thread = outside_thread_find(outside, tid);
	struct outside_target *target;
	struct outside_child *child;

	if (thread && thread->target->pid == pid)
		return thread;
	target = outside_target_find(outside, pid, time_ns);
	if (target && target->end_ns)
		return NULL;
	child = child_find(outside, pid);
	if (!target && child && (is_at_work || !outside->plan.agent)) {
		target = child_begin(
			outside, pid, child->parent_pid, outside->plan.agent ? time_ns : child->begin_ns);
		child_remove(outside, child);
	}
	if (!target && !child && outside->plan.is_all && pid && pid != (uint32_t)getpid())
		target = target_begin(outside, &(struct outside_birth){.pid = pid, .begin_ns = time_ns});
	if (!target)
		return NULL;
	return outside_thread_new(outside, target, tid,
		target->begin_ns < time_ns ? time_ns : target->begin_ns, !outside->plan.is_all);
}

/* ---- forks, execs, ends ---- */

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
	struct outside_sample_id id;
};

static void fork_take(struct outside *outside, const struct task_record *task)
{
	struct outside_target *target = outside_target_find(outside, task->pid, task->time_ns);

	if (task->pid == task->parent_pid) {
		if (target && !target->end_ns && !outside_thread_find(outside, task->tid))
			outside_thread_new(outside, target, task->tid, task->time_ns, true);
		return;
	}
	if (outside->plan.is_alone || child_find(outside, task->pid) ||
		!array_widen((void **)&outside->children, &outside->child_capacity, outside->child_count,
			sizeof *outside->children))
		return;
	outside->children[outside->child_count++] =
		(struct outside_child){task->pid, task->parent_pid, task->time_ns};
}

static void end_take(struct outside *outside, const struct task_record *task)
{
	struct outside_thread *thread = outside_thread_find(outside, task->tid);
	struct outside_child *child = child_find(outside, task->pid);

	if (thread)
		record_add(outside, (struct outside_record){
					    .time_ns = task->time_ns, .thread = thread, .kind = OUTSIDE_END});
	else if (child && task->pid == task->tid)
		child_remove(outside, child);
}

/* True if the program that runs there since time_ns brings its own agent: the kernel has told of its mapping,
 * or what can be seen of the program says that it will come. */
static bool has_agent(const struct outside *outside, uint32_t pid, uint64_t time_ns)
{
	char path[40], *text;
	bool has = false;
	size_t room = 1u << 17, got;

	if (!outside->plan.agent)
		return false;
	for (size_t i = 0; i < outside->agent_count; i++)
		if (outside->agents[i].pid == pid && outside->agents[i].time_ns >= time_ns)
			return true;
	text = malloc(room);
	got = text ? proc_read(pid, "environ", text, room) : 0;
	for (size_t at = 0; at < got && !has; at += strlen(text + at) + 1)
		has = !strncmp(text + at, EVENT_ENV_SOCKET "=", sizeof(EVENT_ENV_SOCKET)) &&
		      !strcmp(text + at + sizeof(EVENT_ENV_SOCKET), outside->plan.socket);
	free(text);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return has && exec_target_kind(AT_FDCWD, path, outside->plan.agent) == EXEC_TARGET_TAKES;
}

static void exec_take(struct outside *outside, const struct outside_exec *exec)
{
	uint32_t pid = exec->pid;
	uint64_t time_ns = exec->time_ns;
	struct outside_target *before = outside_target_find(outside, pid, time_ns), *fresh;
	struct outside_child *child = child_find(outside, pid);
	uint32_t generation = 0, parent_pid = child ? child->parent_pid : 0;
	bool is_ours = before || child || outside->plan.parent || outside->plan.is_all;

	if (before) {
		generation = before->generation + 1;
		parent_pid = before->parent_pid;
	}
	if (child)
		child_remove(outside, child);
	if (!is_ours || (before && before->begin_ns == time_ns))
		return;
	if (has_agent(outside, pid, time_ns)) {
		if (before)
			outside_target_end(outside, before, EVENT_END_EXEC, time_ns);
		return;
	}
	if (before)
		outside_target_end(outside, before, EVENT_END_EXEC, time_ns);
	fresh = target_begin(outside, &(struct outside_birth){.pid = pid,
					      .parent_pid = parent_pid,
					      .generation = generation,
					      .begin_ns = time_ns,
					      .name = exec->name});
	if (fresh) {
		struct outside_thread *thread = outside_thread_new(outside, fresh, pid, time_ns, true);

		if (thread) {
			thread->has_switched = true;
			thread->in_ns = time_ns;
		}
	}
}

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[]; /* padded to 8 bytes, then the id */
};

static void comm_take(
	struct outside *outside, const struct comm_record *comm, const struct outside_sample_id *id)
{
	struct outside_thread *thread;

	if (comm->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		return; /* execs_find has it */
	thread = outside_thread_find(outside, comm->tid);
	if (thread)
		outside_thread_name(thread, comm->name, id->time_ns);
}

static void lost_take(struct outside *outside, uint64_t count)
{
	outside->totals.lost += count;
	for (struct outside_target *at = outside->targets; at; at = at->next)
		if (!at->end_ns && at->threads && !at->threads->has_ended) {
			for (uint64_t i = 0; i < count && i < 65536; i++)
				ring_lose(&at->threads->ring, RING_LOST_FULL, 0, clock_now_ns());
			return;
		}
}

static void switch_take(
	struct outside *outside, const struct perf_event_header *header, const struct outside_sample_id *id)
{
	struct outside_thread *thread = thread_of(outside, id->pid, id->tid, id->time_ns, false);
	uint8_t kind = OUTSIDE_IN;

	if (!thread)
		return;
	if (header->misc & PERF_RECORD_MISC_SWITCH_OUT)
		kind = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? OUTSIDE_PREEMPTED : OUTSIDE_OUT;
	record_add(outside, (struct outside_record){.time_ns = id->time_ns, .thread = thread, .kind = kind});
}

struct mapped_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t begin, bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char name[]; /* padded to 8 bytes, then the id */
};

/* The name of what was mapped; NULL: the record is damaged. */
static const char *mapped_name(const struct mapped_record *mapped, size_t bytes)
{
	size_t room = bytes > sizeof(*mapped) + sizeof(struct outside_sample_id)
			      ? bytes - sizeof(*mapped) - sizeof(struct outside_sample_id)
			      : 0;

	return room && strnlen(mapped->name, room) < room ? mapped->name : NULL;
}

static void mapping_take(struct outside *outside, const struct mapped_record *mapped, size_t bytes,
	const struct outside_sample_id *id)
{
	struct outside_target *target = outside_target_find(outside, id->pid, id->time_ns);
	const char *name = mapped_name(mapped, bytes);
	const struct mapped_identity identity = {
		mapped->inode, mapped->major, mapped->minor, mapped->generation};

	if (!target || target->end_ns || !name)
		return;
	target->modules_ns = 0;
	remote_unwind_modules_mapped(&target->modules, mapped->begin, mapped->offset, &identity, name);
}

static uint64_t time_of(const char *record, size_t bytes)
{
	const struct perf_event_header *header = (const void *)record;
	struct outside_sample_id id;
	struct outside_sample sample;

	if (header->type == PERF_RECORD_SAMPLE)
		return outside_sample_read(&sample, record, bytes) ? sample.time_ns : 0;
	if (bytes < sizeof(*header) + sizeof(id))
		return 0;
	memcpy(&id, record + bytes - sizeof(id), sizeof(id));
	return id.time_ns;
}

/* The pass is for records of this time. */
static bool is_in_window(const struct outside *outside, const char *record, size_t bytes)
{
	uint64_t time_ns = time_of(record, bytes);

	return time_ns >= outside->window_begin_ns && time_ns < outside->window_end_ns;
}

/* First pass: who is there. A short life may begin in one processor's ring and end in another's. */
static void begin_take(struct outside *outside, const char *record, size_t bytes)
{
	const struct perf_event_header *header = (const void *)record;
	struct outside_sample_id id;

	if (header->type != PERF_RECORD_FORK || !is_in_window(outside, record, bytes))
		return;
	memcpy(&id, record + bytes - sizeof(id), sizeof(id));
	if (counts(outside, id.event, id.time_ns))
		fork_take(outside, (const void *)record);
}

/* Second pass. */
static void event_take(struct outside *outside, const char *record, size_t bytes)
{
	const struct perf_event_header *header = (const void *)record;
	struct outside_sample_id id;
	uint64_t lost;

	if (header->type == PERF_RECORD_SAMPLE || !is_in_window(outside, record, bytes))
		return;
	memcpy(&id, record + bytes - sizeof(id), sizeof(id));
	if (!counts(outside, id.event, id.time_ns) && header->type != PERF_RECORD_LOST)
		return;
	switch (header->type) {
	case PERF_RECORD_EXIT:
		end_take(outside, (const void *)record);
		break;
	case PERF_RECORD_COMM:
		comm_take(outside, (const void *)record, &id);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		switch_take(outside, header, &id);
		break;
	case PERF_RECORD_MMAP2:
		mapping_take(outside, (const void *)record, bytes, &id);
		break;
	case PERF_RECORD_LOST:
		memcpy(&lost, record + sizeof(*header) + 8, sizeof(lost));
		lost_take(outside, lost);
		break;
	default:
		break;
	}
}

/* ---- samples ---- */

static void modules_refresh(
	struct outside_target *target, const struct arch_registers *registers, uint64_t time_ns)
{
	if (target->modules_ns && registers->known && time_ns > target->modules_ns + STALE_NS &&
		!remote_unwind_modules_find(&target->modules, registers->value[ARCH_PC]))
		target->modules_ns = 0;
	if (!target->modules_ns && !target->end_ns)
		outside_target_modules(target, time_ns);
}

/* True in the middle of an exec, whose record may come later: the old program's memory is gone, and the new
 * one's is not there yet. So has a thread of the kernel, or one that is ending, no registers. */
static bool has_no_stack(
	struct outside *outside, const struct outside_thread *thread, const struct outside_sample *sample)
{
	struct outside_target *target = thread->target;

	return !sample->stack_bytes &&
	       (outside_records_exec(outside, target->pid, sample->time_ns) ||
		       !remote_unwind_modules_find(&target->modules, sample->registers.value[ARCH_PC]) ||
		       outside_target_has_left(target));
}

/* Third pass. */
static void sample_take(struct outside *outside, const char *record, size_t bytes)
{
	const struct perf_event_header *header = (const void *)record;
	struct outside_thread *thread;
	struct outside_record taken = {.kind = OUTSIDE_SAMPLE};
	enum outside_python_taken python;
	struct outside_sample sample;
	uint64_t begin_ns;

	if (header->type != PERF_RECORD_SAMPLE || !is_in_window(outside, record, bytes) ||
		!outside_sample_read(&sample, record, bytes) ||
		!counts(outside, sample.event, sample.time_ns))
		return;
	thread = thread_of(outside, sample.pid, sample.tid, sample.time_ns, true);
	if (!thread || sample.time_ns < thread->begin_ns)
		return;
	begin_ns = clock_now_ns();
	modules_refresh(thread->target, &sample.registers, sample.time_ns);
	python = outside_python_take(outside, thread, sample.time_ns);
	if (python == OUTSIDE_PYTHON_DROP)
		return;
	taken.time_ns = sample.time_ns;
	taken.thread = thread;
	taken.node = outside_thread_path(outside, thread,
		&(struct outside_copy){&sample.registers, sample.stack, sample.stack_bytes, sample.chain,
			sample.chain_count},
		python == OUTSIDE_PYTHON_READ, &taken.is_partial);
	if (sample.kernel_count && (!sample.registers.known || has_no_stack(outside, thread, &sample))) {
		taken.node = thread->root;
		taken.is_partial = false;
	}
	if (sample.kernel_count)
		outside_thread_kernel(thread, sample.time_ns, sample.kernel, sample.kernel_count);
	ring_count(&thread->ring.shared->handler_ns, clock_now_ns() - begin_ns);
	outside->window_samples++;
	outside->window_cut += taken.is_partial && sample.is_cut;
	outside->totals.partial += taken.is_partial;
	record_add(outside, taken);
}

/* ---- in order of time ---- */

static int records_compare(const void *a, const void *b)
{
	const struct outside_record *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

static void records_until(struct outside *outside, uint64_t before_ns)
{
	size_t taken = 0;

	qsort(outside->records, outside->record_count, sizeof(*outside->records), records_compare);
	while (taken < outside->record_count && outside->records[taken].time_ns < before_ns)
		outside_thread_take(outside, &outside->records[taken++]);
	memmove(outside->records, outside->records + taken,
		(outside->record_count - taken) * sizeof(*outside->records));
	outside->record_count -= taken;
}

static void agent_find(struct outside *outside, const struct mapped_record *mapped, size_t bytes)
{
	const char *name = mapped_name(mapped, bytes);
	struct outside_sample_id id;

	memcpy(&id, (const char *)mapped + bytes - sizeof(id), sizeof(id));
	if (!name || strcmp(name, outside->agent) != 0 ||
		!array_widen((void **)&outside->agents, &outside->agent_capacity, outside->agent_count,
			sizeof *outside->agents))
		return;
	outside->agents[outside->agent_count++] =
		(struct outside_exec){.time_ns = id.time_ns, .pid = mapped->pid};
}

static void exec_add(struct outside *outside, const struct comm_record *comm, size_t bytes, uint64_t time_ns)
{
	struct outside_exec *exec = &outside->execs[outside->exec_count++];
	size_t room = bytes - sizeof(*comm) - sizeof(struct outside_sample_id);

	*exec = (struct outside_exec){.time_ns = time_ns, .pid = comm->pid};
	memcpy(exec->name, comm->name, room < sizeof(exec->name) - 1 ? room : sizeof(exec->name) - 1);
}

/* Before all else: an exec parts what its thread did before it from what it does behind it. */
static void execs_find(struct outside *outside, const char *record, size_t bytes)
{
	const struct comm_record *comm = (const void *)record;
	struct outside_sample_id id;

	if (comm->header.type == PERF_RECORD_MMAP2 && outside->plan.agent &&
		bytes > sizeof(struct mapped_record) + sizeof(id))
		agent_find(outside, (const void *)record, bytes);

	if (comm->header.type != PERF_RECORD_COMM || !(comm->header.misc & PERF_RECORD_MISC_COMM_EXEC) ||
		bytes < sizeof(*comm) + sizeof(id))
		return;
	memcpy(&id, record + bytes - sizeof(id), sizeof(id));
	if (counts(outside, id.event, id.time_ns) &&
		array_widen((void **)&outside->execs, &outside->exec_capacity, outside->exec_count,
			sizeof *outside->execs))
		exec_add(outside, comm, bytes, id.time_ns);
}

static int execs_compare(const void *a, const void *b)
{
	const struct outside_exec *one = a, *other = b;

	return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

bool outside_records_exec(const struct outside *outside, uint32_t pid, uint64_t time_ns)
{
	for (size_t i = 0; i < outside->exec_count; i++)
		if (outside->execs[i].pid == pid && outside->execs[i].time_ns > time_ns)
			return true;
	return false;
}

/* Processes that execute another program by now: what the rings have of them is older. */
static void execs_mark(struct outside *outside)
{
	for (size_t i = 0; i < outside->exec_count; i++) {
		const struct outside_exec *exec = &outside->execs[i];
		struct outside_target *target = outside_target_find(outside, exec->pid, exec->time_ns);

		if (target && target->begin_ns < exec->time_ns)
			target->modules.is_gone = true;
	}
}

static void rings_walk(struct outside *outside, void (*take)(struct outside *, const char *, size_t))
{
	for (unsigned i = 0; i < outside->cpu_count; i++)
		ring_walk(outside, &outside->cpus[i], take);
}

static void window_take(struct outside *outside, uint64_t begin_ns, uint64_t end_ns)
{
	outside->window_begin_ns = begin_ns;
	outside->window_end_ns = end_ns;
	rings_walk(outside, begin_take);
	rings_walk(outside, event_take);
	rings_walk(outside, sample_take);
}

/* True if there is anything new. */
static bool heads_read(struct outside *outside)
{
	bool is_any = false;

	for (unsigned i = 0; i < outside->cpu_count; i++) {
		struct outside_cpu *cpu = &outside->cpus[i];

		cpu->head = __atomic_load_n(&page_of(cpu)->data_head, __ATOMIC_ACQUIRE);
		is_any |= cpu->head != page_of(cpu)->data_tail;
	}
	return is_any;
}

/* Children that stay what they are: of a program that forks. */
static void children_begin(struct outside *outside, uint64_t now_ns)
{
	for (size_t i = outside->child_count; i-- > 0 && now_ns != UINT64_MAX;) {
		const struct outside_child child = outside->children[i];
		struct outside_target *target;

		if (now_ns < child.begin_ns + CHILD_NS)
			continue;
		child_remove(outside, &outside->children[i]);
		target = child_begin(outside, child.pid, child.parent_pid, now_ns);
		if (target)
			outside_thread_new(outside, target, child.pid, now_ns, false);
	}
}

/* Threads that have ended, once no record names one. */
static void ended_forget(struct outside *outside)
{
	for (size_t i = 0; i < outside->record_count; i++)
		if (outside->records[i].thread->has_ended)
			return;
	outside_threads_forget(outside);
}

size_t outside_records_take(struct outside *outside, uint64_t now_ns)
{
	uint64_t before_ns = now_ns == UINT64_MAX ? now_ns : now_ns - MARGIN_NS, begin_ns = 0;
	uint64_t arrived = outside->arrived;

	if (heads_read(outside)) {
		rings_walk(outside, execs_find);
		qsort(outside->execs, outside->exec_count, sizeof(*outside->execs), execs_compare);
		execs_mark(outside);
		for (size_t i = 0; i < outside->exec_count; i++) {
			window_take(outside, begin_ns, outside->execs[i].time_ns);
			begin_ns = outside->execs[i].time_ns;
			records_until(outside, begin_ns);
			exec_take(outside, &outside->execs[i]);
		}
		window_take(outside, begin_ns, UINT64_MAX);
		for (unsigned i = 0; i < outside->cpu_count; i++)
			__atomic_store_n(&page_of(&outside->cpus[i])->data_tail, outside->cpus[i].head,
				__ATOMIC_RELEASE);
		outside->exec_count = outside->agent_count = 0;
	}
	records_until(outside, before_ns);
	if (outside->plan.agent)
		children_begin(outside, now_ns);
	ended_forget(outside);
	return (size_t)(outside->arrived - arrived);
}
