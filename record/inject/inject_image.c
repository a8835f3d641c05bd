/* SPDX-License-Identifier: Apache-2.0 */
/* inject_image.c - see inject_image.h. */
#include "record/inject/inject_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/base/proc_read.h"
#include "record/inject/mapping_query.h"
#include "record/process/remote_symbols.h"
#include "store/base/path.h"

/* ---- modules ---- */

static const char *base_of(const struct remote_unwind_module *module)
{
	return module->path ? path_base(module->path) : "";
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_loader(const struct remote_unwind_module *module)
{
	const char *base = base_of(module);

	return begins(base, "ld-linux") || begins(base, "ld-2.") || begins(base, "ld.so");
}

/* libc, and what was apart from it before glibc 2.34. */
static bool is_libc(const struct remote_unwind_module *module)
{
	const char *base = base_of(module);

	return begins(base, "libc.so.6") || begins(base, "libc-2.") || begins(base, "libpthread") ||
	       begins(base, "libdl.so") || begins(base, "libdl-2.");
}

static bool is_allocator(const struct remote_unwind_module *module)
{
	return strstr(base_of(module), "alloc") != NULL;
}

/* ---- names ---- */

static void allocator_add(struct inject_image *image, uint64_t begin, uint64_t bytes)
{
	if (begin && bytes && image->allocator_count < INJECT_ALLOCATORS_MAX)
		image->allocators[image->allocator_count++] = (struct inject_range){begin, begin + bytes};
}

/* Functions that hold a lock which dlopen or the start of a thread needs. A program may bring an allocator of
 * its own: what it exports of these names is what libc and the loader call, too. */
static void allocators_find(struct inject_image *image, const struct remote_symbols *symbols)
{
	static const char *const names[] = {"malloc", "free", "calloc", "realloc", "reallocarray", "memalign",
		"aligned_alloc", "posix_memalign", "valloc", "pvalloc", "cfree", "malloc_trim", "malloc_info",
		"mallinfo", "mallinfo2", "mallopt", "malloc_stats", "malloc_usable_size", "fork", "_Fork",
		"__libc_fork", "vfork", "exit", "quick_exit", "pthread_create", "_Znwm", "_Znam", "_ZdlPv",
		"_ZdaPv", "_ZdlPvm", "_ZdaPvm", "__libc_malloc", "__libc_free", "__libc_calloc",
		"__libc_realloc", "__libc_memalign",
		/* these wait while they hold the lock of the threads' list */
		"setuid", "seteuid", "setreuid", "setresuid", "setgid", "setegid", "setregid", "setresgid",
		"setgroups", "initgroups", "pthread_exit", "dl_iterate_phdr", "dlopen", "dlclose", "dlsym",
		"dlvsym", "dladdr", "pthread_atfork", "__register_atfork", "atexit", "on_exit",
		"__cxa_atexit",
		/* what allocators have beside these */
		"_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
		"_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPvSt11align_val_t",
		"_ZdaPvmSt11align_val_t", "mallocx", "rallocx", "xallocx", "dallocx", "sdallocx", "mallctl",
		"mallctlbymib", "malloc_stats_print", "free_sized", "free_aligned_sized"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t bytes, begin = remote_symbols_find(symbols, names[i], &bytes);

		allocator_add(image, begin, bytes);
	}
}

/* mov $15, %rax; syscall: with a handler's frame above it, a return to it is a return from that handler. */
static void restore_find(struct inject_image *image, const struct remote_symbols *symbols)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const char *found = memmem(symbols->image, symbols->bytes, code, sizeof(code));

	if (found && !image->restore)
		image->restore = symbols->begin + (uint64_t)(found - symbols->image);
}

/* __errno_location: mov OFFSET(%rip), %rax; add %fs:0, %rax, or the same the other way round. */
static void error_find(struct inject_image *image, const struct remote_symbols *symbols)
{
	static const uint8_t add_pointer[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0},
			     move_pointer[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0};
	uint64_t bytes, at = remote_symbols_find(symbols, "__errno_location", &bytes);
	const uint8_t *code = (const uint8_t *)symbols->image + (at - symbols->begin);
	int32_t distance;
	uint64_t place;

	if (!at || at - symbols->begin > symbols->bytes - 32)
		return;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		code += 4, at += 4;
	if (!memcmp(code, "\x48\x8b\x05", 3) && !memcmp(code + 7, add_pointer, sizeof(add_pointer)))
		code += 3, at += 7;
	else if (!memcmp(code, move_pointer, sizeof(move_pointer)) && !memcmp(code + 9, "\x48\x03\x05", 3))
		code += 12, at += 16;
	else
		return;
	memcpy(&distance, code, sizeof(distance));
	place = at + (uint64_t)(int64_t)distance - symbols->begin;
	if (place <= symbols->bytes - 8)
		memcpy(&image->error_offset, symbols->image + place, sizeof(image->error_offset));
}

static void libc_look(struct inject_image *image, const struct remote_symbols *symbols)
{
	uint64_t bytes, load = remote_symbols_find(symbols, "dlopen", &bytes);

	if (!load)
		load = remote_symbols_find(symbols, "__libc_dlopen_mode", &bytes);
	if (load && !image->load)
		image->load = load;
	restore_find(image, symbols);
	if (!image->error_offset)
		error_find(image, symbols);
	allocators_find(image, symbols);
}

/* pthread_mutex_t, as far as it shows whether it is held. */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
	uint32_t rest[5];
};
_Static_assert(sizeof(struct mutex) == 40, "as glibc has it on x86-64");

#define RECURSIVE 1

/* _rtld_global holds _dl_load_lock and _dl_load_write_lock, one after the other, the first recursive ones. */
static void lock_find(struct inject_image *image, const struct remote_symbols *symbols)
{
	uint64_t bytes, begin = remote_symbols_find(symbols, "_rtld_global", &bytes), at;

	if (!begin || begin - symbols->begin > symbols->bytes ||
		bytes > symbols->bytes - (begin - symbols->begin))
		return;
	for (at = 0; at + 2 * sizeof(struct mutex) <= bytes; at += 8) {
		struct mutex pair[2];

		memcpy(pair, symbols->image + (begin - symbols->begin) + at, sizeof(pair));
		if (pair[0].kind == RECURSIVE && pair[1].kind == RECURSIVE && (uint32_t)pair[0].lock <= 2 &&
			(uint32_t)pair[1].lock <= 2 && !pair[0].rest[4] && !pair[1].rest[4]) {
			image->locks = begin + at;
			return;
		}
	}
}

static void program_look(struct inject_image *image, const struct remote_symbols *symbols)
{
	uint64_t bytes;

	image->has_allocator = remote_symbols_find(symbols, "malloc", &bytes) != 0;
	allocators_find(image, symbols);
}

static void module_look(
	struct inject_image *image, const struct remote_unwind_module *module, bool is_program)
{
	struct remote_symbols symbols;
	uint64_t bytes;

	if (is_allocator(module))
		allocator_add(image, module->cfi.begin, module->cfi.end - module->cfi.begin);
	if (!remote_symbols_open(&symbols, image->pid, module))
		return;
	if (is_loader(module))
		lock_find(image, &symbols);
	else if (is_libc(module))
		libc_look(image, &symbols);
	else if (is_program)
		program_look(image, &symbols);
	else if (remote_symbols_find(&symbols, "malloc", &bytes)) /* all of it, whatever it is called */
		allocator_add(image, module->cfi.begin, module->cfi.end - module->cfi.begin);
	remote_symbols_close(&symbols);
}

/* ---- stacks ---- */

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	const struct inject_image *image = context;

	return remote_unwind_read(image->pid, address, to, bytes);
}

static const struct cfi_module *module_of(void *context, uint64_t pc)
{
	struct inject_image *image = context;
	struct remote_unwind_module *module = remote_unwind_modules_find(&image->modules, pc);

	if (!module)
		return NULL;
	remote_unwind_modules_tables(&image->modules, module, pc);
	return &module->cfi;
}

static bool unwinder_make(struct inject_image *image)
{
	struct unwinder *u = calloc(1, sizeof(*u) + UNWIND_FRAMES_MAX * sizeof(struct unwind_frame));

	if (!u)
		return false;
	u->frames = (struct unwind_frame *)(u + 1);
	u->most = UNWIND_FRAMES_MAX;
	u->space = (struct unwind_space){.memory = {.read = memory_read, .context = image},
		.module_find = module_of,
		.context = image};
	image->unwinder = u;
	return true;
}

static bool is_in_allocator(const struct inject_image *image, uint64_t pc)
{
	for (unsigned i = 0; i < image->allocator_count; i++)
		if (pc >= image->allocators[i].begin && pc < image->allocators[i].end)
			return true;
	return false;
}

bool inject_image_waits(long call)
{
	static const short waits[] = {
#ifdef SYS_epoll_wait /* newer architectures never had these */
		SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#endif
		SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_ppoll,
		SYS_pselect6, SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_futex, SYS_accept,
		SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_connect,
		SYS_wait4, SYS_waitid, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sched_yield, SYS_flock,
		SYS_fsync, SYS_fdatasync,
		/* and some that do not, but are met as they return */
		SYS_clock_gettime, SYS_getpid, SYS_gettid, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_ioctl,
		SYS_getrusage, SYS_times};

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (waits[i] == call)
			return true;
	return false;
}

/* libc's own frames are at an end of the stack, or nowhere. */
static bool is_at_ends(const bool *in_libc, unsigned count, bool waits)
{
	unsigned inner = 0, outer = count;

	if (outer > 1 && !in_libc[outer - 1] && in_libc[outer - 2]) /* _start */
		outer--;
	while (waits && inner < count && in_libc[inner])
		inner++;
	while (outer > inner && in_libc[outer - 1])
		outer--;
	while (inner < outer && !in_libc[inner])
		inner++;
	return inner == outer;
}

bool inject_image_is_safe(struct inject_image *image, const struct arch_registers *registers, long call)
{
	static bool in_libc[UNWIND_FRAMES_MAX];
	struct unwinder *u = image->unwinder;
	uint64_t sp = registers->value[ARCH_SP];

	u->space.memory.low = sp;
	u->space.memory.high =
		sp + remote_unwind_read_some(image->pid, sp, image->stack, sizeof(image->stack));
	u->space.memory.shift = (uintptr_t)image->stack - sp;
	if (unwind_walk(u, registers) != UNWIND_FULL)
		return false;
	for (unsigned i = 0; i < u->count; i++) {
		uint64_t pc = u->frames[i].address;
		const struct remote_unwind_module *module = remote_unwind_modules_find(&image->modules, pc);

		if ((module && is_loader(module)) || is_in_allocator(image, pc))
			return false;
		in_libc[i] = module && (is_libc(module) || (!i && module->is_vdso));
	}
	return u->count && is_at_ends(in_libc, u->count, inject_image_waits(call));
}

/* ---- begin and end ---- */

bool inject_image_loader_is_free(const struct inject_image *image)
{
	struct mutex locks[2];

	return !image->locks || remote_unwind_read(image->pid, image->locks, locks, sizeof(locks)) ||
	       (!locks[0].lock && !locks[1].lock);
}

bool inject_image_is_stale(const struct inject_image *image)
{
	return proc_read_program(image->pid) != image->program;
}

/* Where the kernel tells of single mappings: false where it does not, or one is not what it was. */
static bool frames_are_known(struct inject_image *image, int maps)
{
	const struct unwinder *u = image->unwinder;
	const struct remote_unwind_module *last = NULL;
	struct mapping_query found;

	for (unsigned i = 0; i < u->count; i++) {
		const struct remote_unwind_module *module =
			remote_unwind_modules_find(&image->modules, u->frames[i].address);

		if (module == last)
			continue;
		last = module;
		if (!module || mapping_query(maps, u->frames[i].address, &found) || !found.is_executable ||
			!mapped_identity_is_same(&found.identity, &module->identity) ||
			found.begin < module->cfi.begin || found.end > module->cfi.end)
			return false;
	}
	return u->count;
}

int inject_image_verify(struct inject_image *image)
{
	char path[32];
	int maps;
	bool is_new, is_known;

	if (inject_image_is_stale(image))
		return ESTALE;
	snprintf(path, sizeof(path), "/proc/%u/maps", image->pid);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	is_known = maps >= 0 && frames_are_known(image, maps);
	if (maps >= 0)
		close(maps);
	if (is_known)
		return 0;
	if (remote_unwind_modules_read(&image->modules, &is_new))
		return ESRCH;
	if (!is_new)
		return 0;
	unwind_cache_clear(image->unwinder);
	return EAGAIN;
}

int inject_image_open(struct inject_image *image, uint32_t pid, const char *name, struct error *error)
{
	bool is_new;
	int reason;

	*image = (struct inject_image){.pid = pid, .modules = {.pid = pid}};
	/* Before all that is found by it: a program that is replaced meanwhile is not taken for this one. */
	image->program = proc_read_program(pid);
	reason = remote_unwind_modules_read(&image->modules, &is_new);
	if (reason)
		return error_set(error, ERROR_USAGE, "process %u (%s) cannot be read: %s", pid, name,
			strerror(reason));
	for (unsigned i = 0; i < image->modules.count; i++)
		module_look(image, &image->modules.list[i], !i); /* the program has the lowest addresses */
	if (!image->load || !image->restore || !image->error_offset) {
		inject_image_close(image);
		return error_set(error, ERROR_USAGE,
			"no agent can be loaded into process %u (%s): it is static, or its C library is not "
			"GNU's; leave out --inject to measure it from outside",
			pid, name);
	}
	if (!unwinder_make(image)) {
		inject_image_close(image);
		return error_memory(error);
	}
	return 0;
}

void inject_image_close(struct inject_image *image)
{
	remote_unwind_modules_fini(&image->modules);
	free(image->unwinder);
	image->unwinder = NULL;
}

uint64_t inject_image_find(struct inject_image *image, const char *path, const char *name)
{
	struct remote_symbols symbols;
	uint64_t found = 0, bytes;
	bool is_new;

	if (remote_unwind_modules_read(&image->modules, &is_new))
		return 0;
	if (is_new)
		unwind_cache_clear(image->unwinder);
	for (unsigned i = 0; i < image->modules.count && !found; i++) {
		const struct remote_unwind_module *module = &image->modules.list[i];

		if (!module->path || strcmp(module->path, path) != 0 ||
			!remote_symbols_open(&symbols, image->pid, module))
			continue;
		found = remote_symbols_find(&symbols, name, &bytes);
		remote_symbols_close(&symbols);
	}
	return found;
}
