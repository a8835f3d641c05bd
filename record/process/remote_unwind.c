/* SPDX-License-Identifier: Apache-2.0 */
/* remote_unwind.c - see remote_unwind.h. */
#include "record/process/remote_unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/unwind/unwind.h"
#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/modules/remote_unwind_modules.h"
#include "record/process/drain.h"
#include "record/process/remote_python.h"

#define LOOKS_MAX 16	   /* per call, because other work waits */
#define LOOK_FRAMES 16384u /* a deeper stack counts once per so many frames: a million take half a second */
#define STACK_BYTES (64u * 1024u) /* one read: most stacks are smaller */
#define STACK_OVERLAP 4096u	  /* a frame's words are not read in order */

struct remote_unwind {
	struct remote_unwind_modules modules;
	uint64_t modules_ns; /* when the modules were last read: once per call */
	struct unwinder unwinder;
	uint8_t stack[STACK_BYTES]; /* a window of the stack that moves outwards with the walk */
	struct unwind_frame *frames;
	struct remote_python *python;	       /* NULL: no interpreter, or one that cannot be read */
	uint32_t python_module, hidden_module; /* the store's modules + 1, see remote_python.h; 0: none yet */
};

/* Reads the stack from `begin` up, as far as the window goes, to save a system call per word. */
static void stack_read(struct remote_unwind *remote, uint64_t begin)
{
	struct cfi_memory *memory = &remote->unwinder.space.memory;

	memory->low = begin;
	memory->high = begin + remote_unwind_read_some(
				       remote->modules.pid, begin, remote->stack, sizeof(remote->stack));
	memory->shift = (uintptr_t)remote->stack - begin;
}

/* When the walk leaves the window, moves the window there. */
static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct remote_unwind *remote = context;
	const struct cfi_memory *memory = &remote->unwinder.space.memory;

	if (address >= memory->high && address - memory->high < STACK_BYTES / 2)
		stack_read(remote, address - STACK_OVERLAP);
	if (address >= memory->low && address < memory->high && memory->high - address >= bytes) {
		memcpy(to, (const void *)(uintptr_t)(address + memory->shift), bytes);
		return 0;
	}
	return remote_unwind_read(remote->modules.pid, address, to, bytes);
}

static const struct cfi_module *module_of(void *context, uint64_t pc)
{
	struct remote_unwind *remote = context;
	struct remote_unwind_module *module = remote_unwind_modules_find(&remote->modules, pc);

	if (!module)
		return NULL;
	remote_unwind_modules_tables(&remote->modules, module, pc);
	return &module->cfi;
}

/* Allocated for each process that was ever blocked for long. */
static struct remote_unwind *remote_unwind_of(struct measured_process *process)
{
	const struct event_process *shared = process->shared;
	struct remote_unwind *remote;
	struct unwind_space *space;
	unsigned most;

	if (process->remote)
		return process->remote;
	most = shared->keeps_recursion ? UNWIND_WALK_MAX : UNWIND_FRAMES_MAX;
	remote = calloc(1, sizeof(*remote));
	if (remote)
		remote->frames = calloc(most, sizeof(*remote->frames));
	if (!remote || !remote->frames) {
		free(remote);
		return NULL;
	}
	remote->modules.pid = process->pid;
	remote->unwinder.frames = remote->frames;
	remote->unwinder.most = most;
	remote->unwinder.folds = !shared->keeps_recursion;
	space = &remote->unwinder.space;
	*space = (struct unwind_space){.memory = {.read = memory_read, .context = remote},
		.module_find = module_of,
		.context = remote,
		.fence_begin = shared->fence_begin,
		.fence_end = shared->fence_end,
		.hidden_begin = shared->hidden_begin,
		.hidden_end = shared->hidden_end,
		.loader_begin = shared->loader_begin,
		.loader_end = shared->loader_end};
	process->remote = remote;
	return remote;
}

void remote_unwind_free(struct remote_unwind *remote)
{
	if (!remote)
		return;
	remote_python_free(remote->python);
	remote_unwind_modules_fini(&remote->modules);
	free(remote->frames);
	free(remote);
}

/* Stack pointer and pc of a thread in a system call. 0; EAGAIN: it runs; or an errno. */
static int registers_read(uint32_t pid, uint32_t tid, struct arch_registers *registers)
{
	char path[96], text[256];
	unsigned long sp, pc;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	got = read(fd, text, sizeof(text) - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return (int)-got;
	text[got] = '\0';
	/* "NUMBER six arguments SP PC", "-1 SP PC" outside a call, "running" */
	if (sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %lx %lx", &sp, &pc) != 2 &&
		sscanf(text, "-1 %lx %lx", &sp, &pc) != 2)
		return EAGAIN;
	*registers = (struct arch_registers){.known = UINT64_C(1) << ARCH_SP | UINT64_C(1) << ARCH_PC};
	registers->value[ARCH_SP] = sp;
	registers->value[ARCH_PC] = pc;
	return 0;
}

/* is_hidden: as the interpreter of Python's frames. *known: the store's module + 1. */
static uint32_t module_id(struct measured_process *process, const struct remote_unwind_module *module,
	struct store_writer *writer, uint64_t now_ns, bool is_hidden, uint32_t *known)
{
	struct store_module stored = {.kind = module->is_vdso ? STORE_MODULE_VDSO : STORE_MODULE_ELF,
		.build_id_bytes = module->build_id.size,
		.load_ns = now_ns,
		.is_hidden = is_hidden};

	if (*known)
		return *known - 1;
	memcpy(stored.build_id, module->build_id.bytes, module->build_id.size);
	*known = 1 + modules_enter(writer, &stored,
			     &(struct module_file){.pid = measured_process_proc_pid(process),
				     .path = module->path,
				     .is_executable = !strcmp(module->path, process->executable),
				     .begin = module->cfi.begin,
				     .build_id = module->build_id,
				     .content_hash = module->build_id.size
							     ? 0
							     : remote_unwind_module_hash(
								       &process->remote->modules, module)});
	return *known - 1;
}

static uint32_t python_context(struct measured_process *process, struct store_writer *writer,
	uint32_t context, const struct remote_python_frame *frame, uint64_t now_ns)
{
	struct remote_unwind *remote = process->remote;
	struct store_module stored = {.kind = STORE_MODULE_PYTHON, .load_ns = now_ns};
	const struct remote_python_name *name = frame->name;
	char text[EVENT_NAME_BYTES_MAX + 16];
	int line;

	if (!remote->python_module)
		remote->python_module =
			1 + (process->modules.python
					    ? process->modules.python
					    : modules_enter(writer, &stored,
						      &(struct module_file){
							      .pid = measured_process_proc_pid(process),
							      .path = "[python]"}));
	memcpy(text, name->text, name->bytes);
	line = snprintf(text + name->bytes, sizeof(text) - name->bytes, "%c%u", '\0', name->first_line);
	return store_writer_context(writer, context, remote->python_module - 1,
		(uint64_t)store_writer_text(writer, text, name->bytes + (line > 0 ? (uint32_t)line : 0))
				<< STORE_PYTHON_LINE_BITS |
			frame->line);
}

static uint32_t frame_context(struct measured_process *process, struct store_writer *writer, uint32_t context,
	const struct unwind_frame *frame, uint64_t now_ns)
{
	struct remote_unwind *remote = process->remote;
	const struct remote_python_frame *python =
		frame->slot == REMOTE_PYTHON_SLOT && remote->python
			? remote_python_frame(remote->python, frame->address)
			: NULL;
	struct remote_unwind_module *module;
	bool is_hidden = frame->slot == REMOTE_PYTHON_HIDDEN;

	if (python)
		return python_context(process, writer, context, python, now_ns);
	module = remote_unwind_modules_find(&remote->modules, frame->address);
	if (!module)
		return store_writer_context(writer, context, STORE_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
	return store_writer_context(writer, context,
		module_id(process, module, writer, now_ns, is_hidden,
			is_hidden ? &remote->hidden_module : &module->id),
		frame->address - module->bias);
}

/* The path that was just walked, and Python's, if the thread runs that. */
static uint32_t context_of(struct measured_process *process, struct remote_unwind *remote,
	struct store_writer *writer, uint32_t root, bool is_full, bool has_python, uint64_t now_ns)
{
	const struct unwind_frame *frames = remote->unwinder.frames;
	unsigned count = remote->unwinder.count;
	uint32_t context = root;

	if (has_python)
		frames = remote_python_join(remote->python, &remote->modules, frames, &count, is_full);
	if (!is_full)
		context = store_writer_context(writer, root, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
	for (unsigned i = count; i-- > 0;)
		context = frame_context(process, writer, context, &frames[i], now_ns);
	return context;
}

/* 0, or an errno: if no module can be read, that of reading its memory at `sp`. */
static int modules_read(struct remote_unwind *remote, uint64_t sp, uint64_t now_ns)
{
	unsigned minor;
	bool is_new;
	int error = remote_unwind_modules_read(&remote->modules, &is_new);
	uint64_t word;

	if (!error && !remote->modules.count)
		error = -remote_unwind_read(remote->modules.pid, sp, &word, sizeof(word));
	if (error)
		return error;
	if (is_new)
		unwind_cache_clear(&remote->unwinder);
	if (is_new && !remote->python)
		remote->python = remote_python_open(&remote->modules, &minor);
	remote->modules_ns = now_ns;
	return 0;
}

/* Stopped by a signal (SIGSTOP, ^Z) or a debugger: where it was then waits for nothing. */
static bool is_stopped(uint32_t pid, uint32_t tid)
{
	char state = proc_read_state(pid, tid);

	return state == 'T' || state == 't';
}

/* 0, with *context; or an errno. */
static int path_find(struct measured_process *process, struct store_writer *writer, const struct ring *ring,
	uint64_t now_ns, uint32_t *context)
{
	struct remote_unwind *remote = remote_unwind_of(process);
	const struct event_ring *shared = ring_at(process, (uint32_t)(ring - process->rings));
	uint32_t root = shared->start_routine ? STORE_CONTEXT_THREAD_ROOT : STORE_CONTEXT_PROGRAM_ROOT;
	struct arch_registers registers = {.known = 0}, after;
	enum unwind_result result;
	bool has_python;
	int error;

	if (!remote)
		return ENOMEM;
	remote->unwinder.walked = 0;
	error = registers_read(process->pid, ring->tid, &registers);
	if (!error && remote->modules_ns != now_ns)
		error = modules_read(remote, registers.value[ARCH_SP], now_ns);
	if (error)
		return error;
	stack_read(remote, registers.value[ARCH_SP]);
	result = unwind_walk(&remote->unwinder, &registers);
	has_python = remote->python && remote_python_read(remote->python, ring->tid, true);
	/* If the thread ran meanwhile, the stack that was read is not consistent. */
	error = registers_read(process->pid, ring->tid, &after);
	if (error || memcmp(&registers, &after, sizeof(after)))
		return EAGAIN;
	*context = context_of(process, remote, writer, root, result == UNWIND_FULL, has_python, now_ns);
	return 0;
}

/* When the thread was switched out, if it is by its switch records; else 0. */
static uint64_t out_since(const struct ring *ring)
{
	return ring->switch_spans.what == STORE_OP_BLOCKED ? ring->switch_spans.out_ns : 0;
}

/* `context`: where it stands. */
static void stop_find(
	struct measured_process *process, struct store_writer *writer, struct ring *ring, uint32_t context)
{
	uint64_t out_ns = out_since(ring);

	if (out_ns && is_stopped(process->pid, ring->tid))
		wait_paths_stopped_put(&ring->waits, out_ns, clock_now_ns(),
			store_writer_context(writer, context, STORE_MODULE_RESERVED, STORE_FRAME_STOPPED));
}

static void refused(struct measured_process *process, struct store_writer *writer, int error)
{
	char text[256];

	if (!error || error == EAGAIN || error == ESRCH || error == ENOENT ||
		process->is_remote_unwind_refused)
		return;
	process->is_remote_unwind_refused = true;
	snprintf(text, sizeof(text), "the stacks of process %u could not be read while it was blocked: %s%s",
		process->pid, strerror(error),
		error == EPERM || error == EACCES ? " (kernel.yama.ptrace_scope, or it changed its user)"
						  : "");
	store_writer_meta(writer, "stacks_refused", text);
}

/* Begin of the thread's wait if it is due for a remote unwind: after least_ns; in a wrapper, which
 * publishes its path itself, later, and again if it was woken in it: a stop begins so. 0: not due. */
static uint64_t due_since(const struct ring *ring, uint64_t now_ns, uint64_t least_ns)
{
	const struct wait_paths *waits = &ring->waits;
	uint64_t out_ns = out_since(ring), since_ns = wait_paths_blocked_since(waits, out_ns);
	bool is_again = out_ns > since_ns && since_ns == waits->remote_ns;
	uint64_t from_ns = is_again ? out_ns : since_ns;

	if (ring->stream == UINT32_MAX ||
		(is_again ? out_ns < waits->looked_ns : since_ns == waits->remote_ns) || now_ns < from_ns ||
		now_ns - from_ns < least_ns || now_ns < waits->look_ns ||
		(waits->since_ns && least_ns < REMOTE_UNWIND_AFTER_NS))
		return 0;
	return since_ns;
}

/* Unwinds threads blocked for least_ns, starting after the last one of the previous call. */
static size_t look_at(struct measured_process *process, struct store_writer *writer, uint64_t now_ns,
	uint64_t least_ns, size_t most)
{
	size_t looks = 0;

	for (uint32_t i = 0; i < process->ring_seen && looks < most && !process->is_remote_unwind_refused;
		i++) {
		uint32_t at = (process->remote_unwind_next + 1) % process->ring_seen;
		struct ring *ring = &process->rings[at];
		uint64_t since_ns = due_since(ring, now_ns, least_ns);
		uint32_t context = 0;
		int error;

		process->remote_unwind_next = at;
		if (!since_ns)
			continue;
		looks++;
		error = path_find(process, writer, ring, now_ns, &context);
		looks += process->remote ? process->remote->unwinder.walked / LOOK_FRAMES : 0;
		if (!error) {
			stop_find(process, writer, ring, context);
			wait_paths_remote_put(&ring->waits, since_ns, clock_now_ns(), context);
		} else {
			ring->waits.look_ns = now_ns + least_ns; /* it is running now */
		}
		refused(process, writer, error);
	}
	return looks;
}

size_t remote_unwind_look(struct measured_process *process, struct store_writer *writer, uint64_t now_ns)
{
	uint64_t begin_ns;
	size_t looks;

	if (measured_process_proc_pid(process) != process->pid)
		return 0; /* its thread ids are of another pid namespace, too */
	looks = look_at(process, writer, now_ns, REMOTE_UNWIND_AFTER_NS, LOOKS_MAX);
	if (now_ns < process->remote_unwind_rest_ns)
		return looks;
	begin_ns = clock_now_ns();
	if (looks < LOOKS_MAX)
		looks += look_at(process, writer, now_ns, REMOTE_UNWIND_PATHLESS_NS, LOOKS_MAX - looks);
	process->remote_unwind_rest_ns = begin_ns + REMOTE_UNWIND_SHARE * (clock_now_ns() - begin_ns);
	return looks;
}
