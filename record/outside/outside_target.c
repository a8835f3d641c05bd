/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_target.c - one process measured from outside: its memory, which the collector takes as if an agent
 * had sent it, and its modules as /proc/PID/maps lists them.
 */
#include "record/outside/outside_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "store/ring/handshake.h"

#define NAMES_AT (RINGS_AT + (uint64_t)EVENT_RINGS_MAX * EVENT_RING_STRIDE)
#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))

/* ---- the memory ---- */

static int memory_make(struct outside_target *target)
{
	int memory;
	void *mapped;

	target->shared_bytes = NAMES_AT + EVENT_NAMES_DATA;
	memory = memfd_create("hpct", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory < 0)
		return -1;
	if (ftruncate(memory, (off_t)target->shared_bytes) ||
		fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto close_memory;
	mapped = mmap(
		NULL, target->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	if (mapped == MAP_FAILED)
		goto close_memory;
	target->shared = mapped;
	return memory;
close_memory:
	close(memory);
	return -1;
}

static void command_fill(const struct outside_target *target, char *words, size_t room)
{
	size_t got = proc_read(target->modules.pid, "cmdline", words, room - 1);

	if (!got) {
		got = proc_read(target->pid, "comm", words, room - 1);
		words[strcspn(words, "\n")] = '\0';
	}
	words[got] = words[got + (got + 1 < room)] = '\0';
}

static void executable_fill(const struct outside_target *target, char *path, size_t room)
{
	char link[40];
	ssize_t length;
	char *deleted;

	snprintf(link, sizeof(link), "/proc/%u/exe", target->modules.pid);
	length = readlink(link, path, room - 1);
	path[length > 0 ? length : 0] = '\0';
	deleted = strstr(path, " (deleted)");
	if (deleted && !deleted[strlen(" (deleted)")])
		*deleted = '\0';
}

/* What it executes: of a process that is gone, what its parent does, if it has not become another program. */
static void identity_fill(struct outside_target *target, const struct outside_target *like)
{
	struct event_process *shared = target->shared;

	if (!target->modules.is_gone) {
		command_fill(target, shared->command, sizeof(shared->command));
		executable_fill(target, shared->executable, sizeof(shared->executable));
	}
	if (like && !shared->command[0])
		memcpy(shared->command, like->shared->command, sizeof(shared->command));
	if (like && !shared->executable[0])
		memcpy(shared->executable, like->shared->executable, sizeof(shared->executable));
	if (!shared->command[0])
		snprintf(shared->command, sizeof(shared->command), "%s", target->name);
	if (!target->name[0] && !target->modules.is_gone)
		proc_read(target->pid, "comm", target->name, sizeof(target->name));
	target->name[strcspn(target->name, "\n")] = '\0';
}

static void shared_fill(
	const struct outside *outside, struct outside_target *target, const struct outside_target *like)
{
	struct event_process *shared = target->shared;

	shared->magic = EVENT_MAGIC;
	shared->version = EVENT_VERSION;
	shared->pid = target->pid;
	shared->parent_pid = target->parent_pid;
	shared->generation = target->generation;
	shared->rank = -1;
	shared->ring_count = EVENT_RINGS_MAX;
	shared->keeps_recursion = outside->plan.keeps_recursion;
	shared->memory_bytes = target->shared_bytes;
	shared->rings_at = RINGS_AT;
	shared->names_at = NAMES_AT;
	shared->begin_ns = target->begin_ns;
	shared->period_ns = outside->plan.period_ns;
	shared->switches_trap = EVENT_TRAP_SAMPLES; /* EVENT_KERNEL goes with samples */
	atomic_store(&shared->thread_count, 1);
	snprintf(shared->metric, sizeof(shared->metric), "CPUTIME");
	snprintf(shared->sampler, sizeof(shared->sampler), "outside");
	identity_fill(target, like);
}

bool outside_target_has_left(struct outside_target *target)
{
	uint64_t now;
	uint32_t living;

	if (!target->program)
		return false;
	errno = 0;
	now = proc_read_program(target->modules.pid);
	if (now == target->program || (!now && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)))
		return false;
	/* It may be the thread alone that has ended. */
	living = proc_read_living(target->pid);
	if (!living || living == target->modules.pid || proc_read_program(living) != target->program)
		return true;
	target->modules.pid = living;
	return false;
}

/* "PID (name) state ..." in /proc/PID/stat, field 28. */
static uint64_t stack_begin_of(uint32_t pid)
{
	unsigned long long begin = 0;
	char text[1024];
	const char *at;

	if (!proc_read(pid, "stat", text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &begin) == 1 ? begin : 0;
}

/* One message; the collector gets the read end of a pipe that closes with us. */
static int memory_send(const struct outside *outside, struct outside_target *target, int memory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct event_handshake handshake = {.magic = EVENT_MAGIC,
		.version = EVENT_VERSION,
		.kind = EVENT_HANDSHAKE_OUTSIDE,
		.pid = target->pid,
		.word = outside->plan.has_switches ? target->begin_ns : 0};
	struct iovec data = {&handshake, sizeof(handshake)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int connection, ends[2], result = -1;

	if (strlen(outside->plan.socket) >= sizeof(address.sun_path) || pipe2(ends, O_CLOEXEC))
		return -1;
	strcpy(address.sun_path, outside->plan.socket);
	connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	control.header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(2 * sizeof(int))};
	memcpy(CMSG_DATA(&control.header), (int[2]){memory, ends[0]}, 2 * sizeof(int));
	if (connection >= 0 && !connect(connection, (struct sockaddr *)&address, sizeof(address)) &&
		sendmsg(connection, &message, MSG_NOSIGNAL) == sizeof(handshake))
		result = 0;
	if (connection >= 0)
		close(connection);
	close(ends[0]);
	if (result)
		close(ends[1]);
	else
		target->pipe = ends[1];
	return result;
}

struct outside_target *outside_target_new(struct outside *outside, const struct outside_birth *birth)
{
	const struct outside_target *like = birth->like;
	struct outside_target *target = calloc(1, sizeof(*target));
	int memory, result;

	if (!target)
		return NULL;
	target->pid = birth->pid;
	target->modules.pid = proc_read_living(birth->pid);
	if (!target->modules.pid)
		target->modules.pid = birth->pid;
	target->parent_pid = target->modules.parent_pid = birth->parent_pid;
	target->modules.files = &outside->files;
	target->modules.is_gone = outside_records_exec(outside, birth->pid, birth->begin_ns);
	target->program = like			    ? like->program
			  : target->modules.is_gone ? 0
						    : proc_read_program(target->modules.pid);
	target->modules.is_gone |= outside_target_has_left(target);
	target->generation = birth->generation;
	target->begin_ns = birth->begin_ns;
	snprintf(target->name, sizeof(target->name), "%s",
		birth->name ? birth->name
		: like	    ? like->name
			    : "");
	target->pipe = -1;
	memory = memory_make(target);
	if (memory < 0) {
		free(target);
		return NULL;
	}
	shared_fill(outside, target, like);
	target->stack_begin = target->modules.is_gone ? 0 : stack_begin_of(birth->pid);
	if (like) {
		target->stack_begin = like->stack_begin;
		remote_unwind_modules_inherit(&target->modules, &like->modules);
		outside_thread_rules(target, like);
	}
	outside_target_modules(target, birth->begin_ns);
	outside_python_look(outside, target);
	result = memory_send(outside, target, memory);
	close(memory);
	if (result) {
		outside_target_free(outside, target);
		return NULL;
	}
	target->next = outside->targets;
	outside->targets = target;
	outside->totals.processes++;
	return target;
}

struct outside_target *outside_target_find(struct outside *outside, uint32_t pid, uint64_t time_ns)
{
	struct outside_target *target = outside->targets; /* newest first */

	while (target && (target->pid != pid || target->begin_ns > time_ns))
		target = target->next;
	return target;
}

/* ---- modules ---- */

/* glibc's and musl's dynamic loaders: their entry has no caller. */
static bool is_loader(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, "ld-", 3) || !strncmp(base, "ld.so", 5);
}

static void loader_note(struct outside_target *target)
{
	struct event_process *shared = target->shared;

	for (unsigned i = 0; i < target->modules.count; i++)
		if (is_loader(target->modules.list[i].path)) {
			shared->loader_begin = target->modules.list[i].cfi.begin;
			shared->loader_end = target->modules.list[i].cfi.end;
		}
}

static void slots_unload(struct outside_target *target, uint64_t now_ns)
{
	struct event_module *table = (struct event_module *)((char *)target->shared + EVENT_MODULES_AT);
	uint32_t count = atomic_load(&target->shared->module_count);

	for (uint32_t i = 0; i < count; i++) {
		bool is_here = table[i].is_anonymous || atomic_load(&table[i].state) != EVENT_MODULE_LIVE;

		for (unsigned m = 0; m < target->modules.count && !is_here; m++)
			is_here = target->modules.list[m].id == i + 1;
		if (is_here)
			continue;
		atomic_store(&table[i].unloaded_ns, now_ns);
		atomic_store_explicit(&table[i].state, EVENT_MODULE_GONE, memory_order_release);
	}
}

bool outside_target_modules(struct outside_target *target, uint64_t now_ns)
{
	bool is_new, is_first = !target->has_modules;

	if (target->modules_ns)
		return true;
	target->modules_ns = now_ns;
	target->modules.is_gone |= outside_target_has_left(target);
	if (remote_unwind_modules_read(&target->modules, &is_new))
		return false;
	target->has_modules = true;
	if (!is_new && !is_first)
		return true;
	target->is_python_sought = target->python != NULL;
	loader_note(target);
	slots_unload(target, now_ns);
	if (target->unwinder && is_new)
		unwind_cache_clear(target->unwinder);
	if (target->unwinder) {
		target->unwinder->reuse.count = 0;
		target->unwinder->space.loader_begin = target->shared->loader_begin;
		target->unwinder->space.loader_end = target->shared->loader_end;
		target->unwinder->space.is_go = target->modules.is_go;
	}
	return true;
}

static void slot_fill(
	struct outside_target *target, struct event_module *slot, const struct remote_unwind_module *module)
{
	slot->is_anonymous = !module;
	slot->loaded_ns = clock_now_ns();
	if (module) {
		slot->is_vdso = module->is_vdso;
		slot->bias = module->bias;
		slot->begin = module->cfi.begin;
		slot->end = module->cfi.end;
		slot->build_id_bytes = module->build_id.size;
		memcpy(slot->build_id, module->build_id.bytes, module->build_id.size);
		slot->content_hash =
			module->build_id.size ? 0 : remote_unwind_module_hash(&target->modules, module);
		if (strcmp(module->path, target->shared->executable))
			snprintf(slot->path, sizeof(slot->path), "%s", module->path);
	}
	atomic_store_explicit(&slot->state, EVENT_MODULE_LIVE, memory_order_release);
}

uint32_t outside_target_slot(struct outside_target *target, struct remote_unwind_module *module)
{
	struct event_module *table = (struct event_module *)((char *)target->shared + EVENT_MODULES_AT);
	uint32_t *known = module ? &module->id : &target->anonymous_slot, slot;

	if (*known)
		return *known - 1;
	slot = atomic_load(&target->shared->module_count);
	if (slot == EVENT_MODULE_MAX) {
		atomic_fetch_add(&target->shared->modules_unlisted, 1);
		return UNWIND_NO_SLOT;
	}
	slot_fill(target, &table[slot], module);
	atomic_store_explicit(&target->shared->module_count, slot + 1, memory_order_release);
	*known = slot + 1;
	return slot;
}

/* ---- the end ---- */

void outside_target_end(
	struct outside *outside, struct outside_target *target, enum event_end how, uint64_t end_ns)
{
	if (target->end_ns)
		return;
	for (struct outside_thread *at = target->threads; at; at = at->next)
		outside_thread_end(outside, at, end_ns);
	target->end_ns = end_ns;
	for (struct outside_thread *at = target->threads; at; at = at->next) {
		outside->totals.samples += atomic_load(&at->ring.shared->signals);
	}
	atomic_store(&target->shared->end_ns, end_ns);
	atomic_store_explicit(&target->shared->ended, how, memory_order_release);
	if (target->pipe >= 0)
		close(target->pipe);
	target->pipe = -1;
}

static void hash_forget(struct outside *outside, const struct outside_target *target)
{
	for (unsigned i = 0; i < OUTSIDE_THREADS_HASH; i++)
		for (struct outside_thread **link = &outside->hash[i]; *link;) {
			if ((*link)->target == target)
				*link = (*link)->same;
			else
				link = &(*link)->same;
		}
}

void outside_target_free(struct outside *outside, struct outside_target *target)
{
	struct outside_target **link = &outside->targets;
	struct outside_thread *next;

	while (*link && *link != target)
		link = &(*link)->next;
	if (*link)
		*link = target->next;
	hash_forget(outside, target);
	for (struct outside_thread *at = target->threads; at; at = next) {
		next = at->next;
		if (at->tree_memory)
			munmap(at->tree_memory, at->tree.capacity * CONTEXT_TREE_NODE_BYTES);
		free(at);
	}
	if (target->pipe >= 0)
		close(target->pipe);
	outside_python_free(target);
	remote_unwind_modules_fini(&target->modules);
	free(target->unwinder);
	munmap(target->shared, target->shared_bytes);
	free(target);
}

/* The same log as an agent's: even entries are stops. */
static void target_obey(struct outside_target *target, uint64_t now_ns)
{
	struct event_process *shared = target->shared;
	uint32_t wanted = atomic_load(&shared->control_wanted), count = atomic_load(&shared->pause_count);
	bool is_on = count % 2 == 0, is_wanted = wanted & EVENT_CONTROL_ON;

	if (target->end_ns || wanted == atomic_load(&shared->control_done))
		return;
	if (is_on != is_wanted) {
		if (count - atomic_load(&shared->pauses_taken) >= EVENT_PAUSES_MAX)
			return; /* until the collector has drained the log */
		atomic_store(&shared->pause_ns[count % EVENT_PAUSES_MAX], now_ns);
		atomic_store_explicit(&shared->pause_count, count + 1, memory_order_release);
	}
	atomic_store(&shared->control_done, wanted);
}

void outside_targets_obey(struct outside *outside, uint64_t now_ns)
{
	for (struct outside_target *at = outside->targets; at; at = at->next)
		target_obey(at, now_ns);
}
