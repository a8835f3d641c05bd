/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c - see process.h. All descriptors are closed before the program's own code continues, and no step
 * blocks; on failure the program runs unmeasured.
 */
#include "record/agent/process/process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/module_path.h"
#include "record/agent/base/real.h"
#include "record/agent/base/vdso.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/switches.h"

#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))
#define ACTIVITY_BYTES (EVENT_RING_HEADER + (uint64_t)EVENT_ACTIVITY_DATA)
#define ACTIVITY_SHARE 4 /* of limited memory it takes at most one part in 4 */

HOT_DATA struct process process;

/* On a separate page, which the kernel zeroes in every child that gets a copy of this memory. */
struct live {
	_Atomic uint32_t active;
	pid_t pid;
};

static HOT_DATA struct live *live;

pid_t process_number(void)
{
	return (pid_t)syscall(SYS_getpid);
}

OWN uint64_t process_now_ns(void)
{
	return process_handler_now_ns();
}

HOT uint64_t process_handler_now_ns(void)
{
	struct timespec now;

	vdso_clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

OWN uint64_t process_thread_cpu_ns(void)
{
	return process_handler_cpu_ns();
}

HOT uint64_t process_handler_cpu_ns(void)
{
	struct timespec now;

	vdso_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

HOT bool process_is_live(void)
{
	return live && atomic_load_explicit(&live->active, memory_order_relaxed);
}

pid_t process_pid(void)
{
	return live->pid;
}

bool process_is_own(void)
{
	return process_is_live() && live->pid == process_number();
}

bool process_is_permitted(void)
{
	uint64_t mask;

	return process_number() > 0 && !syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
}

/* ---- the shared memory ---- */

static bool has_tallies(void)
{
	return process.settings.io || process.settings.memleak || process.settings.sums_mpi ||
	       process.settings.openmp;
}

static uint64_t ring_stride(void)
{
	return EVENT_RING_STRIDE + (has_tallies() ? EVENT_TALLIES_STRIDE : 0);
}

static uint64_t code_bytes(void)
{
	return process.settings.java ? EVENT_CODE_DATA : 0;
}

/* As many rings as the limits allow. Of a limited address space they take an eighth at most, so that the
 * program's own mappings do not fail later. */
static uint32_t rings_affordable(bool *activity)
{
	static const int limits[] = {RLIMIT_AS, RLIMIT_FSIZE};
	uint64_t bytes = RINGS_AT + EVENT_RINGS_MAX * ring_stride() + EVENT_SWITCHES_BYTES + ACTIVITY_BYTES +
			 EVENT_NAMES_DATA + code_bytes();
	struct rlimit limit;

	for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		if (getrlimit(limits[i], &limit) || limit.rlim_cur == RLIM_INFINITY)
			continue;
		if (limits[i] == RLIMIT_AS)
			limit.rlim_cur /= 8;
		if (limit.rlim_cur < bytes)
			bytes = limit.rlim_cur;
	}
	bytes -= bytes < EVENT_SWITCHES_BYTES ? bytes : EVENT_SWITCHES_BYTES;
	*activity = bytes > ACTIVITY_SHARE * ACTIVITY_BYTES;
	bytes -= *activity ? ACTIVITY_BYTES + EVENT_NAMES_DATA + code_bytes() : 0;
	return bytes < RINGS_AT ? 0 : (uint32_t)((bytes - RINGS_AT) / ring_stride());
}

int process_live_at(void *page)
{
	if (madvise(page, 4096, MADV_WIPEONFORK))
		return -1;
	live = page;
	return 0;
}

static int live_open(void)
{
	if (!live) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return -1;
		if (madvise(page, 4096, MADV_WIPEONFORK)) {
			munmap(page, 4096);
			return -1;
		}
		live = page;
	}
	live->pid = process_number();
	atomic_store(&live->active, 1);
	return 0;
}

static void command_fill(char *to, size_t bytes, char **argv)
{
	size_t used = 0;

	for (; argv && *argv && used + 2 < bytes; argv++) {
		size_t length = strnlen(*argv, bytes - used - 2);

		memcpy(to + used, *argv, length);
		used += length + 1;
	}
}

/* If the loader was called by name, the program is its first argument. Without /proc, it is the file given
 * to exec. */
static void executable_find(struct event_process *shared, char **argv)
{
	ssize_t length = readlink("/proc/self/exe", shared->executable, sizeof(shared->executable) - 1);
	const char *told = length < 0 ? (const char *)(uintptr_t)getauxval(AT_EXECFN) : NULL;

	shared->executable[length > 0 ? length : 0] = '\0';
	if (told && !access(told, R_OK))
		module_path_set(shared->executable, sizeof(shared->executable), told);
	if (argv && argv[0] && exec_target_is_loader(shared->executable) && !exec_target_is_loader(argv[0]) &&
		!access(argv[0], R_OK))
		module_path_set(shared->executable, sizeof(shared->executable), argv[0]);
}

static void shared_fill(
	struct event_process *shared, uint32_t ring_count, bool activity, char **argv, char **envp)
{
	shared->magic = EVENT_MAGIC;
	shared->version = EVENT_VERSION;
	shared->pid = (uint32_t)process_number();
	shared->parent_pid = (uint32_t)getppid();
	shared->generation = environment_generation(envp, process_number());
	shared->rank = environment_rank(envp);
	shared->ring_count = ring_count;
	shared->switches_at = RINGS_AT + (uint64_t)ring_count * EVENT_RING_STRIDE;
	shared->memory_bytes = shared->switches_at + EVENT_SWITCHES_BYTES;
	shared->activity_at = activity ? shared->memory_bytes : 0;
	shared->memory_bytes += activity ? ACTIVITY_BYTES : 0;
	shared->tallies_at = has_tallies() ? shared->memory_bytes : 0;
	shared->memory_bytes += has_tallies() ? ring_count * EVENT_TALLIES_STRIDE : 0;
	shared->names_at = activity ? shared->memory_bytes : 0;
	shared->memory_bytes += activity ? EVENT_NAMES_DATA : 0;
	shared->code_at = activity && process.settings.java ? shared->memory_bytes : 0;
	shared->memory_bytes += shared->code_at ? EVENT_CODE_DATA : 0;
	shared->rings_at = RINGS_AT;
	shared->begin_ns = process_now_ns();
	shared->keeps_recursion = process.settings.keeps_recursion;
	shared->period_ns = process.settings.period_ns;
	memcpy(shared->metric, process.settings.metric, sizeof(shared->metric));
	command_fill(shared->command, sizeof(shared->command), argv);
	executable_find(shared, argv);
}

static int memory_fd = -1; /* between process_open and process_send */

int process_open(char **argv, char **envp)
{
	bool activity;
	uint32_t count = rings_affordable(&activity);
	size_t bytes = RINGS_AT + count * ring_stride() + EVENT_SWITCHES_BYTES +
		       (activity ? ACTIVITY_BYTES + EVENT_NAMES_DATA + code_bytes() : 0);
	void *memory;

	if (!count)
		return -1;
	memory_fd = (int)syscall(SYS_memfd_create, "hpct", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory_fd < 0)
		return -1;
	if (ftruncate(memory_fd, (off_t)bytes) ||
		fcntl(memory_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		goto close_memory;
	memory = address_reserve_map(bytes, memory_fd);
	if (!memory)
		goto close_memory;
	if (madvise(memory, bytes, MADV_DONTFORK))
		goto unmap;
	process.shared = memory;
	process.modules = (struct event_module *)((char *)memory + EVENT_MODULES_AT);
	process.rings = (unsigned char *)memory + RINGS_AT;
	process.ring_count = count;
	shared_fill(process.shared, count, activity, argv, envp);
	if (live_open())
		goto unmap;
	return 0;
unmap:
	address_reserve_unmap(memory, bytes);
	process.shared = NULL;
close_memory:
	close(memory_fd);
	memory_fd = -1;
	return -1;
}

int process_send(void)
{
	int result = process_send_memory(memory_fd);

	close(memory_fd);
	memory_fd = -1;
	return result;
}

int process_send_injected(int end)
{
	int result = process_send_memory_injected(memory_fd, end);

	close(memory_fd);
	memory_fd = -1;
	return result;
}

void process_close(void)
{
	if (live)
		atomic_store(&live->active, 0);
	if (memory_fd >= 0)
		close(memory_fd);
	memory_fd = -1;
	switches_close();
	if (process.shared)
		address_reserve_unmap(process.shared, process.shared->memory_bytes);
	process.shared = NULL;
}

/* ---- rings ---- */

struct event_ring *process_ring_at(uint32_t index)
{
	return (struct event_ring *)(process.rings + (size_t)index * EVENT_RING_STRIDE);
}

static void claimed_raise(uint32_t count)
{
	uint32_t now = atomic_load(&process.shared->ring_claimed);

	while (now < count && !atomic_compare_exchange_weak(&process.shared->ring_claimed, &now, count))
		;
}

struct event_ring *process_ring_claim(void)
{
	for (uint32_t i = 0; i < process.ring_count; i++) {
		struct event_ring *ring = process_ring_at(i);
		uint32_t free = EVENT_RING_FREE;

		if (atomic_load_explicit(&ring->state, memory_order_relaxed) != EVENT_RING_FREE)
			continue;
		if (atomic_compare_exchange_strong(&ring->state, &free, EVENT_RING_CLAIMED)) {
			claimed_raise(i + 1);
			return ring;
		}
	}
	return NULL;
}

/* ---- the end ---- */

/* In the kernel's encoding. */
clockid_t process_clock_of_thread(uint32_t tid)
{
	return (clockid_t)(~tid << 3 | 6u);
}

uint64_t process_cpu_of_thread_ns(uint32_t tid)
{
	struct timespec now;

	if (vdso_clock_gettime(process_clock_of_thread(tid), &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void process_thread_name_read(struct event_ring *ring)
{
	char path[64] = "/proc/self/task/", name[sizeof(ring->name)] = "";
	ssize_t got;
	int fd;

	environment_decimal(path + strlen(path), ring->tid);
	strcat(path, "/comm");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	got = REAL(read)(fd, name, sizeof(name) - 1);
	close(fd);
	name[got > 0 ? strcspn(name, "\n") : 0] = '\0';
	if (name[0])
		memcpy(ring->name, name, sizeof(name));
}

/* Of a program that sets a title (record/process/title.h). */
static void title_read(struct event_process *shared)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return;
	got = REAL(read)(fd, shared->title, sizeof(shared->title));
	close(fd);
	shared->title_bytes = got > 0 ? (uint32_t)got : 0;
}

void process_end(uint64_t now_ns)
{
	uint32_t claimed = atomic_load(&process.shared->ring_claimed);

	for (uint32_t i = 0; i < claimed; i++) {
		struct event_ring *ring = process_ring_at(i);
		uint64_t cpu_ns;

		if (atomic_load(&ring->state) != EVENT_RING_CLAIMED || atomic_load(&ring->end_ns))
			continue;
		process_thread_name_read(ring);
		cpu_ns = process_cpu_of_thread_ns(ring->tid);
		if (cpu_ns)
			atomic_store(&ring->cpu_end_ns, cpu_ns);
	}
	title_read(process.shared);
	switches_end();
	atomic_store(&process.shared->end_ns, now_ns);
	atomic_store_explicit(&process.shared->ended, EVENT_END_EXIT, memory_order_release);
}

void process_exec_begin(void)
{
	if (process_is_own())
		atomic_store_explicit(&process.shared->ended, EVENT_END_EXEC, memory_order_release);
}

void process_resume(void)
{
	atomic_store(&process.shared->ended, EVENT_END_NONE);
	atomic_store(&process.shared->end_ns, 0);
}

void process_suspend(bool is_suspended)
{
	process.is_suspended = is_suspended;
	atomic_store(&live->active, !is_suspended);
}
