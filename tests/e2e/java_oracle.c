/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_oracle.c - an agent of a Java machine (java -agentpath:java_oracle.so=FILE): the main thread is
 * stopped at random instructions, its stack read by our unwinder and by the machine itself
 * (AsyncGetCallTrace) in the same signal handler; FILE.enough is made once that was often enough. At the end
 * FILE gets a line "STOPS COMPARED DIFFERENT PARTIAL WRONG TOLD-WRONG" and, for the first that differ, both
 * stacks. Wrong are those with a call that the source (e2e.record.java_trace.sh) does not have: the machine
 * itself skips frames of code that is about to return. Methods are compared by identity; where compiled code
 * is several, inlined, by what the machine says of it; an interpreted frame of ours has no name, and may be
 * any method.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/agent/java/java_blobs.h"
#include "record/agent/process/process.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/module_slots.h"
#include "record/agent/unwind/unwind.h"

#define EXPORT __attribute__((visibility("default")))
#define STOPS 12000u
#define ENOUGH 2500u
#define FRAMES 200u
#define CODES 60000u
#define SHOWN 10u

EXPORT void AsyncGetCallTrace(void *trace, int32_t most, void *context) __attribute__((weak));
EXPORT int Agent_OnLoad(void *vm, char *options, void *reserved);

/* By number, as in record/agent/java/java.c. */
typedef void (*function)(void);
struct object {
	const struct {
		function functions[256];
	} * table;
};
#define CALL(object, number, parameters, ...) \
	(((int(*) parameters)(object)->table->functions[number])(object, __VA_ARGS__))
#define JVMTI(number) ((number)-1)

struct call_frame {
	int32_t line;
	void *method;
};
struct call_trace {
	void *environment;
	int32_t count;
	struct call_frame *frames;
};

/* Our frame of code that was made at run time. */
struct place {
	uint64_t pc; /* its address, or the one that is returned to */
	bool is_leaf, is_interpreter;
};

struct stop {
	uint32_t codes; /* known when it came */
	bool is_whole;
	int told; /* frames, or why there are none */
	unsigned count;
	void *methods[FRAMES];
	struct place places[FRAMES];
};

/* What a compiled method's code is, from one instruction to the next: `count` methods, innermost first. */
struct part {
	uint64_t pc;
	int32_t count;
	void **methods;
};
struct code {
	uint64_t begin, size;
	void *method;
	int32_t count;
	struct part *parts;
};

/* jvmtiCompiledMethodLoadInlineRecord */
struct stack_info {
	uint64_t pc;
	int32_t count;
	void **methods;
	int32_t *places;
};
struct inline_record {
	int32_t kind, major, minor, padding;
	struct inline_record *next;
	int32_t count;
	struct stack_info *parts;
};

static struct object *machine, *jvmti;
static void *environment;
static const char *path;
static struct stop *stops;
static _Atomic unsigned stop_count;
static struct code codes[CODES];
static _Atomic uint32_t code_count;
static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;
static struct unwinder *unwinder;
static struct unwind_frame walked[1024];
static struct module_cache cache;
static pid_t target;
static _Atomic bool is_over;
static pthread_t sender;

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	(void)context;
	return syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static void places_take(struct stop *stop)
{
	for (unsigned i = 0; i < unwinder->count && stop->count < FRAMES; i++) {
		struct unwind_told told = {.is_interpreter = false};
		const struct unwind_frame *frame = &walked[i];

		if (frame->slot != UNWIND_NO_SLOT)
			continue;
		java_blobs_find(frame->address, &told);
		stop->places[stop->count++] = (struct place){.pc = frame->address + !frame->exact,
			.is_leaf = frame->exact,
			.is_interpreter = told.is_interpreter};
	}
}

static void handle(int number, siginfo_t *info, void *context)
{
	static struct call_frame told[FRAMES];
	struct call_trace trace = {.environment = environment, .frames = told};
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	unsigned index = atomic_load(&stop_count);
	struct stop *stop = &stops[index];

	(void)number, (void)info;
	if (index == STOPS || atomic_load(&is_over))
		return;
	arch_registers_read(context, start.value);
	unwinder->space.memory.low = start.value[ARCH_SP] - ARCH_RED_ZONE;
	stop->is_whole = unwind_walk(unwinder, &start) == UNWIND_FULL;
	if (java_blobs_look())
		stop->is_whole = unwind_walk(unwinder, &start) == UNWIND_FULL;
	stop->codes = atomic_load(&code_count);
	places_take(stop);
	AsyncGetCallTrace(&trace, FRAMES, context);
	stop->told = trace.count;
	for (int i = 0; i < trace.count; i++)
		stop->methods[i] = told[i].method;
	atomic_store(&stop_count, index + 1);
}

static void *send(void *nothing)
{
	char enough[4096];
	bool has_enough = false;
	unsigned wait = 1;

	while (!atomic_load(&is_over)) {
		wait = wait * 1103515245 + 12345;
		usleep(100 + wait / 65536 % 300);
		syscall(SYS_tgkill, getpid(), target, SIGPROF);
		if (!has_enough && atomic_load(&stop_count) >= ENOUGH) {
			snprintf(enough, sizeof(enough), "%s.enough", path);
			close(open(enough, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
			has_enough = true;
		}
	}
	return nothing;
}

/* ---- what the machine tells ---- */

static void compiled(struct object *own, void *method, int32_t size, const void *address, int32_t places,
	const void *map, const struct inline_record *more)
{
	struct code *code;

	(void)own, (void)places, (void)map;
	pthread_mutex_lock(&code_lock);
	if (code_count < CODES) {
		code = &codes[code_count];
		*code = (struct code){(uintptr_t)address, (uint64_t)size, method, 0, NULL};
		for (; more && more->kind != 2; more = more->next)
			;
		if (more && (code->parts = calloc((size_t)more->count + 1, sizeof(*code->parts))))
			for (; code->count < more->count; code->count++) {
				const struct stack_info *from = &more->parts[code->count];
				struct part *part = &code->parts[code->count];
				size_t bytes = (size_t)from->count * sizeof(*from->methods);

				*part = (struct part){from->pc, from->count, malloc(bytes + 1)};
				memcpy((void *)part->methods, (const void *)from->methods, bytes);
			}
		code_count++;
	}
	pthread_mutex_unlock(&code_lock);
}

static void class_prepared(struct object *own, void *jni, void *thread, void *class)
{
	void **methods = NULL;
	int32_t count;

	(void)jni, (void)thread;
	if (!CALL(own, JVMTI(52), (struct object *, void *, int32_t *, void ***), class, &count, &methods))
		CALL(own, JVMTI(47), (struct object *, void *), (void *)methods);
}

static void class_loaded(struct object *own, void *jni, void *thread, void *class)
{
	(void)own, (void)jni, (void)thread, (void)class;
}

static uint64_t stack_end(void)
{
	pthread_attr_t attributes;
	void *low = NULL;
	size_t bytes = 0;

	if (!pthread_getattr_np(pthread_self(), &attributes)) {
		pthread_attr_getstack(&attributes, &low, &bytes);
		pthread_attr_destroy(&attributes);
	}
	return (uintptr_t)low + bytes;
}

static void begin(struct object *own, void *jni, void *thread)
{
	extern char **environ;
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_RESTART | SA_SIGINFO};
	void **classes = NULL;
	int32_t count = 0;

	(void)thread;
	environment = jni;
	process.shared = mmap(NULL, EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	stops = mmap(NULL, STOPS * sizeof(*stops), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unwinder = calloc(1, sizeof(*unwinder));
	if (process.shared == MAP_FAILED || stops == MAP_FAILED || !unwinder)
		return;
	process.modules = (struct event_module *)((char *)process.shared + EVENT_MODULES_AT);
	module_map_init(environ);
	module_slots_init();
	java_blobs_init();
	unwinder->frames = walked;
	unwinder->most = sizeof(walked) / sizeof(*walked);
	unwinder->space.memory.read = memory_read;
	unwinder->space.module_find = module_find;
	unwinder->space.context = &cache;
	unwinder->space.told_find = java_blobs_find;
	unwinder->space.memory.high = stack_end();
	if (!CALL(own, JVMTI(78), (struct object *, int32_t *, void ***), &count, &classes))
		while (count)
			class_prepared(own, jni, NULL, classes[--count]);
	CALL(own, JVMTI(123), (struct object *, int32_t), 68);
	target = (pid_t)syscall(SYS_gettid);
	sigfillset(&action.sa_mask);
	sigaction(SIGPROF, &action, NULL);
	pthread_create(&sender, NULL, send, NULL);
}

/* ---- both compared ---- */

/* The code at pc when there were `known`: the last that was told of by then, else the first afterwards. */
static const struct code *code_at(uint64_t pc, uint32_t known)
{
	for (uint32_t i = known; i--;)
		if (pc - codes[i].begin < codes[i].size)
			return &codes[i];
	for (uint32_t i = known; i < code_count; i++)
		if (pc - codes[i].begin < codes[i].size)
			return &codes[i];
	return NULL;
}

static const struct part *part_at(const struct code *code, uint64_t pc)
{
	for (int32_t i = 0; i < code->count; i++)
		if (code->parts[i].pc == pc)
			return &code->parts[i];
	return NULL;
}

/* NULL in the list: any method. Of its first frame the machine takes some place nearby: what is inlined there
 * is left out, which *is_inlined tells. */
static unsigned expand(const struct stop *stop, void **methods, unsigned most, bool *is_inlined)
{
	unsigned used = 0;

	*is_inlined = false;

	for (unsigned i = 0; i < stop->count && used < most; i++) {
		const struct place *place = &stop->places[i];
		const struct code *code = code_at(place->pc - !place->is_leaf, stop->codes);
		const struct part *part = code && used ? part_at(code, place->pc) : NULL;

		*is_inlined |= code && !used;
		if (place->is_interpreter)
			methods[used++] = NULL;
		else if (code && !part)
			methods[used++] = code->method;
		for (int32_t j = 0; part && j < part->count && used < most; j++)
			methods[used++] = part->methods[j];
	}
	return used;
}

static bool is_equal(const struct stop *stop, void *const *methods, unsigned count, bool is_inlined)
{
	unsigned told = (unsigned)stop->told, more = told - count;

	if (told < count || (more && !is_inlined))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (methods[i] && methods[i] != stop->methods[more + i])
			return false;
	return true;
}

static char *name_of(void *method)
{
	char *name = NULL;

	if (method)
		CALL(jvmti, JVMTI(64), (struct object *, void *, char **, char **, char **), method, &name,
			NULL, NULL);
	return name;
}

static void name_free(char *name)
{
	if (name)
		CALL(jvmti, JVMTI(47), (struct object *, void *), name);
}

/* Whether the source has no such call. */
static bool is_wrong_call(void *callee, void *caller)
{
	static const char *const callers[][3] = {{"leaf", "c"}, {"c", "b"}, {"b", "a"}, {"a", "outer"},
		{"outer", "all"}, {"maps", "all"}, {"caught", "all"}, {"deep", "deep", "caught"},
		{"all", "main"}};
	char *to = name_of(callee), *from = name_of(caller);
	bool is_wrong = false;

	for (unsigned i = 0; to && from && i < sizeof(callers) / sizeof(*callers); i++)
		if (!strcmp(to, callers[i][0]))
			is_wrong = strcmp(from, callers[i][1]) != 0 &&
				   (!callers[i][2] || strcmp(from, callers[i][2]) != 0);
	name_free(to);
	name_free(from);
	return is_wrong;
}

static bool is_wrong(void *const *methods, unsigned count)
{
	for (unsigned i = 0; i + 1 < count; i++)
		if (is_wrong_call(methods[i], methods[i + 1]))
			return true;
	return false;
}

static void show(FILE *to, const char *title, void *const *methods, unsigned count)
{
	fprintf(to, "%s:", title);
	for (unsigned i = 0; i < count; i++) {
		char *name = name_of(methods[i]);

		fprintf(to, " %s", name ? name : "*");
		name_free(name);
	}
	fputc('\n', to);
}

static void end(struct object *own, void *jni)
{
	unsigned compared = 0, different = 0, partial = 0, wrong = 0, told_wrong = 0, all;
	static void *ours[FRAMES];
	FILE *to;

	(void)own, (void)jni;
	atomic_store(&is_over, true);
	pthread_join(sender, NULL);
	to = fopen(path, "w");
	all = atomic_load(&stop_count);
	for (unsigned i = 0; to && i < all; i++) {
		bool is_inlined;
		unsigned count;

		partial += !stops[i].is_whole;
		if (!stops[i].is_whole || stops[i].told <= 0 || stops[i].told == FRAMES ||
			stops[i].count == FRAMES)
			continue;
		count = expand(&stops[i], ours, FRAMES, &is_inlined);
		compared++;
		wrong += is_wrong(ours, count);
		told_wrong += is_wrong(stops[i].methods, (unsigned)stops[i].told);
		if (is_equal(&stops[i], ours, count, is_inlined) || ++different > SHOWN)
			continue;
		show(to, "ours", ours, count);
		show(to, "told", stops[i].methods, (unsigned)stops[i].told);
	}
	if (to) {
		fprintf(to, "%u %u %u %u %u %u\n", all, compared, different, partial, wrong, told_wrong);
		fclose(to);
	}
}

EXPORT int Agent_OnLoad(void *vm, char *options, void *reserved)
{
	static const int32_t events[] = {50, 51, 55, 56, 68};
	function callbacks[19] = {(function)begin, (function)end, NULL, NULL, NULL, (function)class_loaded,
		(function)class_prepared};
	uint32_t capabilities[4] = {UINT32_C(1) << 27};

	(void)reserved;
	machine = vm;
	path = strdup(options ? options : "java_oracle.txt");
	callbacks[18] = (function)compiled;
	if (!AsyncGetCallTrace ||
		CALL(machine, 6, (struct object *, struct object **, int32_t), &jvmti, 0x30010200) ||
		CALL(jvmti, JVMTI(142), (struct object *, const uint32_t *), capabilities) ||
		CALL(jvmti, JVMTI(122), (struct object *, const function *, int32_t), callbacks,
			(int32_t)sizeof(callbacks)))
		return -1;
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++)
		((int (*)(struct object *, int, int32_t, void *, ...))jvmti->table->functions[JVMTI(2)])(
			jvmti, 1, events[i], NULL);
	return 0;
}
