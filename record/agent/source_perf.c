/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_perf.c - perf events on the thread's CPU clock, for more samples a second
 * than the kernel has ticks. `trap`: one event, inherited by the threads to come,
 * raises a synchronous SIGTRAP, which interrupts no system call. `overflow`: one
 * event per thread sends AGENT_SIGNAL; for kernels before 5.18.
 *
 * Where hits inside the kernel may be counted, each sample stands for all of the
 * thread's clock that no sample stands for yet: hits that met in one system call come
 * as one signal. Elsewhere a sample stands for one period of user code, and the ticks of
 * a CPU timer beside it take what is left for system calls. So no time counts twice,
 * and should the event fail silently, the timer goes on.
 *
 * Threads that the program made without libc have the event, too, and perhaps no
 * thread-local storage of ours: the handler looks a thread up by its kernel id first.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/agent/counter.h"
#include "record/agent/perf.h"
#include "record/agent/process.h"
#include "record/agent/sample.h"
#include "record/agent/source.h"
#include "record/agent/switches.h"
#include "record/agent/thread.h"
#include "record/agent/wrap.h"

#define SAFETY_NS UINT64_C(10000000) /* the timer beside an event that counts kernel hits */
#define TICKS_PATIENT 6
#define BELIEVED_MAX 15u
#define KNOWN_SLOTS 16384u /* a power of two, several times as many as rings */
#define KNOWN_PROBES 64u
#define TID_GONE 1u /* init's: never a thread of ours */

#define WAITS_INDEX (1u + EVENT_COUNTERS_MAX)

static const char cookies[2 + EVENT_COUNTERS_MAX]; /* their addresses are our events' sig_data */

static struct {
	int event;     /* until it is handed over; -1: none */
	pid_t owner;   /* the thread that opened it */
	bool waits;    /* each wait traps */
	bool in_rings; /* the switch rings' events are to do it */
	bool kernel;   /* hits inside the kernel are counted */
	bool has_base; /* arch_thread_pointer may be used */
	uint64_t tick_ns;
} perf = {.event = -1};

/* ---- threads by kernel id ---- */

/* Written and looked up by the very thread that it tells of. */
struct known {
	_Atomic uint32_t tid; /* 0: never used; TID_GONE */
	uint64_t base;	      /* thread pointer */
	struct thread *thread;
};

static struct known *known; /* KNOWN_SLOTS, empty again in a fork child */

static int known_init(void)
{
	size_t bytes = KNOWN_SLOTS * sizeof(*known);
	void *memory;

	if (known)
		return 0;
	memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	if (madvise(memory, bytes, MADV_WIPEONFORK)) {
		munmap(memory, bytes);
		return -ENOMEM;
	}
	known = memory;
	return 0;
}

static struct known *known_slot(uint32_t tid, uint32_t i)
{
	return &known[(tid * 2654435761u + i) & (KNOWN_SLOTS - 1)];
}

static uint64_t base_now(void)
{
	return perf.has_base ? arch_thread_pointer() : 0;
}

int source_trap_thread_add(struct thread *thread)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	source_trap_thread_remove();
	for (uint32_t i = 0; i < KNOWN_PROBES; i++) {
		struct known *slot = known_slot(tid, i);
		uint32_t seen = atomic_load_explicit(&slot->tid, memory_order_relaxed);

		if (seen > TID_GONE || !atomic_compare_exchange_strong(&slot->tid, &seen, TID_GONE + 1))
			continue;
		slot->base = base_now();
		slot->thread = thread;
		atomic_store_explicit(&slot->tid, tid, memory_order_release);
		return 0;
	}
	return -1;
}

static struct known *known_find(void)
{
	uint32_t tid = known ? (uint32_t)syscall(SYS_gettid) : 0;

	for (uint32_t i = 0; tid && i < KNOWN_PROBES; i++) {
		struct known *slot = known_slot(tid, i);
		uint32_t seen = atomic_load_explicit(&slot->tid, memory_order_relaxed);

		if (seen == tid)
			return slot->base == base_now() ? slot : NULL;
		if (!seen)
			break;
	}
	return NULL;
}

void source_trap_thread_remove(void)
{
	struct known *slot = known_find();

	if (slot)
		atomic_store_explicit(&slot->tid, TID_GONE, memory_order_release);
}

/* ---- weights ---- */

/* The thread's clock beyond what samples and losses stand for; negative: they are ahead. */
static int64_t owed_ns(const struct thread *t)
{
	uint64_t ran_ns = process_thread_cpu_ns() - t->ring.shared->cpu_begin_ns;

	return (int64_t)(ran_ns - t->covered_ns);
}

/* A whole number of periods, which takes the least room, unless that were too far from what is owed: samples
 * may be ahead of the clock by half a period, since the next one comes within a period, and lag behind by
 * little. */
static void owed_take(struct thread *t, const ucontext_t *context)
{
	int64_t period_ns = (int64_t)process.settings.period_ns, owed = owed_ns(t);
	int64_t periods = (owed + period_ns / 2) / period_ns, ahead = periods * period_ns - owed;

	t->hit_ns = 0;
	if (owed <= period_ns / 16)
		return;
	t->hit_ns = process_now_ns();
	t->believed = 0;
	if (ahead < -period_ns / 16)
		sample_take_ns(t, context, (uint64_t)(periods ? periods : 1), (uint64_t)owed);
	else
		sample_take(t, context, (uint64_t)periods);
}

/* A period after the last one a hit stands for a period: the thread cannot have run for longer. Its clock, a
 * system call and the dearest thing that we do at a sample, is asked now and then, so that nothing adds up.
 */
static bool is_one_period(struct thread *t)
{
	uint64_t period_ns = process.settings.period_ns, now_ns = process_now_ns();
	uint64_t since_ns = now_ns - t->hit_ns;

	if (since_ns < period_ns - period_ns / 16 || since_ns > period_ns + period_ns / 16 ||
		t->believed == BELIEVED_MAX)
		return false;
	t->hit_ns = now_ns;
	t->believed++;
	return true;
}

/* The event has fired. */
static void hit_take(struct thread *t, const ucontext_t *context)
{
	if (!perf.kernel || is_one_period(t))
		sample_take(t, context, 1);
	else
		owed_take(t, context);
}

/* A tick in user code leaves the rest to the next one inside the kernel, until that would long have come:
 * page faults do not show as system calls. */
static void perf_tick(struct thread *t, const ucontext_t *context, uint64_t periods)
{
	int64_t period_ns = (int64_t)process.settings.period_ns, owed = owed_ns(t);
	int64_t tick_ns = (int64_t)perf.tick_ns, least = TICKS_PATIENT * tick_ns;

	(void)periods;
	if (perf.kernel)
		least = tick_ns / 2 > 2 * period_ns ? tick_ns / 2 : 2 * period_ns;
	else if (arch_in_system_call(context))
		least = period_ns;
	if (owed < least)
		return;
	t->hit_ns = 0;
	sample_take(t, context, (uint64_t)(owed / period_ns));
}

/* ---- what must hold before ---- */

static bool kernel_is_older(unsigned long major, unsigned long minor)
{
	struct utsname name;
	unsigned long got_major, got_minor = 0;
	char *end;

	if (uname(&name))
		return true;
	got_major = strtoul(name.release, &end, 10);
	if (*end == '.')
		got_minor = strtoul(end + 1, NULL, 10);
	return got_major < major || (got_major == major && got_minor < minor);
}

/* A debugger would stop at every sample. */
static bool is_traced(void)
{
	static const char wanted[] = "TracerPid:\t";
	char text[2048];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	at = strstr(text, wanted);
	return at && at[sizeof(wanted) - 1] != '0';
}

static bool note_is_go(const ElfW(Nhdr) * note, const char *end)
{
	while ((const char *)(note + 1) <= end) {
		const char *name = (const char *)(note + 1);
		size_t bytes = sizeof(*note) + ((note->n_namesz + 3u) & ~3u) + ((note->n_descsz + 3u) & ~3u);

		if (note->n_namesz == 4 && end - name >= 4 && !memcmp(name, "Go\0", 4))
			return true;
		if (bytes > (size_t)(end - (const char *)note))
			break;
		note = (const ElfW(Nhdr) *)(const void *)((const char *)note + bytes);
	}
	return false;
}

/* Go's runtime takes all signals by system calls of its own, and dies of a SIGTRAP that it did not ask for.
 */
static int program_is_go(struct dl_phdr_info *info, size_t size, void *is_go)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const char *begin = (const char *)info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && note_is_go((const void *)begin, begin + segment->p_memsz))
			*(bool *)is_go = true;
	}
	return 1; /* the program itself comes first */
}

/* ---- the events ---- */

static int event_open(uint64_t flags)
{
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .sample_period = process.settings.period_ns,
					     .exclude_kernel = !perf.kernel,
					     .exclude_hv = 1,
					     .wakeup_events = 1}};

	if (flags & PERF_SIGTRAP) {
		all.attr.inherit = 1;
		all.words[PERF_SIG_DATA_WORD] = source_trap_data(0);
	} else {
		all.attr.size = PERF_ATTR_SIZE_VER1;
	}
	all.words[PERF_FLAGS_WORD] |= flags;
	return (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* With hits inside the kernel where that is allowed. The descriptor, or a negative errno. */
static int event_open_best(uint64_t flags)
{
	int event;

	perf.kernel = true;
	event = event_open(flags);
	if (event < 0 && (errno == EACCES || errno == EPERM)) {
		perf.kernel = false;
		event = event_open(flags);
	}
	perf.tick_ns = perf.kernel ? SAFETY_NS : source_tick_ns();
	return event < 0 ? -errno : event;
}

bool source_program_is_go(void)
{
	bool is_go = false;

	dl_iterate_phdr(program_is_go, &is_go);
	return is_go;
}

int source_trap_prepare(void)
{
	if (source_program_is_go())
		return EVENT_SAMPLER_GO;
	if (is_traced())
		return EVENT_SAMPLER_TRACED;
	/* Before, a SIGTRAP that a thread has blocked would end the program. */
	if (kernel_is_older(5, 18))
		return EVENT_SAMPLER_OLD_KERNEL;
	perf.has_base = arch_has_thread_pointer();
	if (known_init() || wrap_signal_guard_trap())
		return -ENOMEM;
	return 0;
}

static int trap_open(void)
{
	int event = source_trap_prepare();

	if (event)
		return event;
	event = event_open_best(PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC);
	if (event < 0)
		return event;
	perf.event = event;
	perf.owner = (pid_t)syscall(SYS_gettid);
	/* There they tell the kernel's part, too. */
	perf.in_rings = perf.kernel && process.settings.switches && !process.settings.waits;
	if (perf.in_rings) {
		switches_trap_with(PERF_COUNT_SW_TASK_CLOCK, process.settings.period_ns, source_trap_data(0));
		close(event);
		perf.event = -1;
	}
	return 0;
}

/* Where the kernel may be looked at, each wait traps when it is over. */
void source_waits_choose(void)
{
	perf.waits = process.settings.waits && process.settings.switches && !source_trap_prepare();
	if (perf.waits)
		switches_trap_with(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, source_trap_data(WAITS_INDEX));
}

/* Where the kernel may not be looked at, waits for pages trap at least: a fault belongs to user code. */
static void faults_hand_over(void)
{
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					     .sample_period = 1,
					     .exclude_kernel = 1,
					     .exclude_hv = 1,
					     .inherit = 1}};
	int event;

	all.words[PERF_SIG_DATA_WORD] = source_trap_data(WAITS_INDEX);
	all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC;
	event = (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return;
	process_send_kept(event);
	close(event);
}

void source_waits_arm(struct thread *t)
{
	if (perf.waits)
		source_trap_thread_add(t);
}

void source_waits_disarm(void)
{
	if (perf.waits)
		source_trap_thread_remove();
}

void source_hand_over(void)
{
	if (perf.in_rings && !switches_trap())
		perf.event = event_open(PERF_SIGTRAP | PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC);
	perf.in_rings = false;
	if (perf.waits && !switches_trap())
		faults_hand_over();
	if (perf.event < 0)
		return;
	process_send_kept(perf.event);
	close(perf.event);
	perf.event = -1;
}

static int trap_arm(struct thread *t)
{
	/* Only the timer is a condition: it samples on alone, if need be. */
	source_trap_thread_add(t);
	return source_timer_start(&t->handle, perf.tick_ns);
}

static void trap_disarm(struct thread *t)
{
	source_trap_thread_remove();
	source_timer_stop(&t->handle);
}

uint64_t source_trap_data(unsigned index)
{
	return (uintptr_t)&cookies[index];
}

int source_trap_index(const siginfo_t *info)
{
	const struct perf_trap *trap = (const void *)info;
	uint64_t index = trap->data - source_trap_data(0);

	return trap->code == PERF_TRAP_CODE && index < sizeof(cookies) ? (int)index : -1;
}

void source_trap_handle(int signal, siginfo_t *info, void *context)
{
	int error, index = source_trap_index(info);
	const struct known *slot;

	if (index >= 0 && !process_is_live())
		return; /* and makes no call: a sandbox may forbid any */
	slot = known_find();
	if (index < 0) {
		wrap_signal_forward_trap(signal, info, context, slot && wrap_signal_trap_is_masked());
		return;
	}
	if (!slot) {
		atomic_fetch_add_explicit(&process.shared->signals_foreign, 1, memory_order_relaxed);
		return;
	}
	error = errno;
	if (!index)
		hit_take(slot->thread, context);
	if (index == WAITS_INDEX)
		sample_take_wait(slot->thread, context);
	counters_take(slot->thread, context);
	errno = error;
}

/* User code runs no more once the exec has begun. What a thread has opened it can stop. */
bool source_can_pause(void)
{
	return source_chosen() != &source_trap || !perf.kernel || (pid_t)syscall(SYS_gettid) == perf.owner;
}

const struct source source_trap = {
	.name = "trap",
	.open = trap_open,
	.arm = trap_arm,
	.disarm = trap_disarm,
	.tick = perf_tick,
};

static int overflow_open(void)
{
	int event = event_open_best(0);

	if (event < 0)
		return event;
	close(event);
	return 0;
}

/* AGENT_SIGNAL to this thread, by an event that lives on in its mapping. */
static int overflow_event_start(struct source_handle *handle)
{
	int event = event_open(0);
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};

	if (event < 0)
		return -1;
	handle->mapping = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, event, 0);
	if (handle->mapping == MAP_FAILED)
		handle->mapping = NULL;
	if (handle->mapping && (fcntl(event, F_SETSIG, AGENT_SIGNAL) || fcntl(event, F_SETOWN_EX, &owner) ||
				       fcntl(event, F_SETFL, O_ASYNC | O_RDONLY))) {
		munmap(handle->mapping, (size_t)sysconf(_SC_PAGESIZE));
		handle->mapping = NULL;
	}
	handle->number = event;
	close(event);
	return handle->mapping ? 0 : -1;
}

static int overflow_arm(struct thread *t)
{
	overflow_event_start(&t->handle);
	return source_timer_start(&t->handle, perf.tick_ns);
}

static void overflow_disarm(struct thread *t)
{
	source_timer_stop(&t->handle);
	if (t->handle.mapping)
		munmap(t->handle.mapping, (size_t)sysconf(_SC_PAGESIZE));
	t->handle.mapping = NULL;
}

static bool overflow_take(struct thread *t, const siginfo_t *info, const ucontext_t *context)
{
	if (info->si_code != POLL_IN || info->si_fd != t->handle.number)
		return false;
	if (t->handle.mapping)
		hit_take(t, context);
	return true;
}

const struct source source_overflow = {
	.name = "overflow",
	.open = overflow_open,
	.arm = overflow_arm,
	.disarm = overflow_disarm,
	.tick = perf_tick,
	.take = overflow_take,
};
