/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.c - see java.h. The machine's tables of functions are called by their numbers in JVMTI's and JNI's
 * specifications, which never change: no header of a Java kit is needed.
 */
#include "record/agent/java/java.h"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/java/java_code.h"
#include "record/agent/java/java_fields.h"
#include "record/agent/java/java_trace.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"

#define LOOK_NS 5000000 /* between looks for the machine, at first; later ones are rarer */
#define LOOK_NS_MOST 100000000
#define LOOKS_MOST 600	     /* about a minute */
#define REFERENCES_MOST 4096 /* HotSpot takes no more */
#define WANTED_LOOK_NS 200000000
#define NAME_LOOK_NS 20000000
#define JNI_OK 0
#define JNI_VERSION 0x00010006
#define JVMTI_VERSION 0x30010200 /* 1.2: of Java 7 */
#define JVMTI_ENABLE 1

/* JNI's invocation interface and JNI, by place. */
enum vm_function { VM_DETACH = 5, VM_GET_ENVIRONMENT = 6, VM_ATTACH_AS_DAEMON = 7 };
enum {
	JNI_CLEAR_EXCEPTION = 17,
	JNI_PUSH_FRAME = 19,
	JNI_POP_FRAME = 20,
	JNI_DELETE_REFERENCE = 23,
	JNI_GET_OBJECT_CLASS = 31,
	JNI_GET_FIELD = 94,
	JNI_GET_LONG = 101
};
/* JVMTI's functions and events, by number. */
enum {
	JVMTI_SET_EVENT_NOTIFICATION = 2,
	JVMTI_GET_CURRENT_THREAD = 18,
	JVMTI_DEALLOCATE = 47,
	JVMTI_GET_CLASS_SIGNATURE = 48,
	JVMTI_GET_CLASS_METHODS = 52,
	JVMTI_GET_METHOD_NAME = 64,
	JVMTI_GET_METHOD_CLASS = 65,
	JVMTI_GET_LOADED_CLASSES = 78,
	JVMTI_SET_EVENT_CALLBACKS = 122,
	JVMTI_GENERATE_EVENTS = 123,
	JVMTI_ADD_CAPABILITIES = 142
};
enum {
	EVENT_FIRST = 50,
	EVENT_VM_DEATH = 51,
	EVENT_CLASS_LOAD = 55,
	EVENT_CLASS_PREPARE = 56,
	EVENT_COMPILED = 68,
	EVENT_GENERATED = 70
};
#define CAPABILITY_COMPILED 27 /* bit of can_generate_compiled_method_load_events */

/* Objects of the machine: a pointer to a table of functions. */
typedef void (*function)(void);
struct table {
	function functions[256];
};
struct object {
	const struct table *table;
};

#define FUNCTION(object, number, parameters) ((int(*) parameters)(object)->table->functions[number])
#define VM_CALL(vm, number, parameters, ...) FUNCTION(vm, number, parameters)(vm, __VA_ARGS__)
#define JVMTI_CALL(jvmti, number, parameters, ...) FUNCTION(jvmti, (number)-1, parameters)(jvmti, __VA_ARGS__)

/* ---- events, in threads of the machine ---- */

static void memory_free(struct object *jvmti, void *memory)
{
	if (memory)
		JVMTI_CALL(jvmti, JVMTI_DEALLOCATE, (struct object *, unsigned char *), memory);
}

static void method_put(struct object *jvmti, void *method, const void *address, uint32_t size)
{
	char *name = NULL, *class_signature = NULL, text[EVENT_NAME_BYTES_MAX];
	void *class = NULL;

	if (!JVMTI_CALL(jvmti, JVMTI_GET_METHOD_NAME, (struct object *, void *, char **, char **, char **),
		    method, &name, NULL, NULL) &&
		!JVMTI_CALL(
			jvmti, JVMTI_GET_METHOD_CLASS, (struct object *, void *, void **), method, &class) &&
		!JVMTI_CALL(jvmti, JVMTI_GET_CLASS_SIGNATURE, (struct object *, void *, char **, char **),
			class, &class_signature, NULL) &&
		name && class_signature)
		java_code_put(address, size, text, java_code_name(text, sizeof(text), class_signature, name));
	memory_free(jvmti, name);
	memory_free(jvmti, class_signature);
}

static void compiled(struct object *jvmti, void *method, int32_t size, const void *address, int32_t places,
	const void *map, const void *more)
{
	(void)places, (void)map, (void)more;
	if (size > 0)
		method_put(jvmti, method, address, (uint32_t)size);
}

/* Stubs, the interpreter, tables of calls. */
static void generated(struct object *jvmti, const char *name, const void *address, int32_t size)
{
	(void)jvmti;
	if (name && size > 0)
		java_code_put(address, (uint32_t)size, name, strlen(name));
}

/* Makes the ids of a class's methods, without which the machine does not tell of them. */
static void class_prepared(struct object *jvmti, struct object *jni, void *thread, void *class)
{
	void **methods = NULL;
	int32_t count;

	(void)jni, (void)thread;
	if (!JVMTI_CALL(jvmti, JVMTI_GET_CLASS_METHODS, (struct object *, void *, int32_t *, void ***), class,
		    &count, &methods))
		memory_free(jvmti, (void *)methods);
}

/* The machine tells of its stacks only to who follows these. */
static void class_loaded(struct object *jvmti, struct object *jni, void *thread, void *class)
{
	(void)jvmti, (void)jni, (void)thread, (void)class;
}

/* Methods that java_trace.c has met; a frame of one has its id for an address. */
static void methods_name(struct object *jvmti)
{
	uint64_t id;

	while ((id = java_trace_next()))
		method_put(jvmti, (void *)(uintptr_t)id, (void *)(uintptr_t)id, 1);
}

static void vm_ends(struct object *jvmti, struct object *jni)
{
	(void)jni;
	java_trace_close();
	methods_name(jvmti);
}

/* ---- the machine, in a thread of ours ---- */

/* Of its own threads the last to begin, when all else of it has started: before that it cannot be attached
 * to. */
static bool has_started(void)
{
	static const char last[] = "VM Periodic Tas\n";
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	bool is_there = false;

	while (tasks && !is_there && (task = readdir(tasks))) {
		char path[64], name[32];
		ssize_t got;
		int file;

		if (task->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task->d_name);
		file = open(path, O_RDONLY | O_CLOEXEC);
		got = file < 0 ? -1 : REAL(read)(file, name, sizeof(name));
		if (file >= 0)
			close(file);
		is_there = got == (ssize_t)sizeof(last) - 1 && !memcmp(name, last, (size_t)got);
	}
	if (tasks)
		closedir(tasks);
	return is_there;
}

typedef int (*created_function)(struct object **, int32_t, int32_t *);
static created_function created; /* libjvm's JNI_GetCreatedJavaVMs */
static struct {
	void (*get)(void *trace, int32_t most, void *context); /* AsyncGetCallTrace */
	struct java_fields fields;
} library;

static int library_look(struct dl_phdr_info *info, size_t bytes, void *nothing)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct python_symbols symbols;
	uint64_t address;

	(void)bytes, (void)nothing;
	if (strcmp(slash ? slash + 1 : info->dlpi_name, "libjvm.so") != 0)
		return 0;
	if (!python_symbols_loaded(&symbols, info))
		return 1;
	address = python_symbols_find(&symbols, "JNI_GetCreatedJavaVMs");
	memcpy(&created, &address, sizeof(created));
	address = python_symbols_find(&symbols, "AsyncGetCallTrace");
	memcpy(&library.get, &address, sizeof(library.get));
	library.fields = (struct java_fields){.structs = python_symbols_find(&symbols, "gHotSpotVMStructs"),
		.struct_bytes = python_symbols_find(&symbols, "gHotSpotVMStructEntryArrayStride"),
		.types = python_symbols_find(&symbols, "gHotSpotVMTypes"),
		.type_bytes = python_symbols_find(&symbols, "gHotSpotVMTypeEntryArrayStride")};
	return 1;
}

/* NULL: there is none yet. */
static struct object *vm_find(void)
{
	struct object *vm = NULL;
	int32_t count = 0;

	return has_started() && created(&vm, 1, &count) == JNI_OK && count > 0 ? vm : NULL;
}

static bool event_enable(struct object *jvmti, int32_t event)
{
	return !JVMTI_CALL(jvmti, JVMTI_SET_EVENT_NOTIFICATION, (struct object *, int, int32_t, void *, ...),
		JVMTI_ENABLE, event, NULL);
}

static bool events_enable(struct object *jvmti)
{
	uint32_t capabilities[4] = {UINT32_C(1) << CAPABILITY_COMPILED};
	function callbacks[EVENT_GENERATED - EVENT_FIRST + 1] = {NULL};

	callbacks[EVENT_VM_DEATH - EVENT_FIRST] = (function)vm_ends;
	callbacks[EVENT_CLASS_LOAD - EVENT_FIRST] = (function)class_loaded;
	callbacks[EVENT_CLASS_PREPARE - EVENT_FIRST] = (function)class_prepared;
	callbacks[EVENT_COMPILED - EVENT_FIRST] = (function)compiled;
	callbacks[EVENT_GENERATED - EVENT_FIRST] = (function)generated;
	return !JVMTI_CALL(
		       jvmti, JVMTI_ADD_CAPABILITIES, (struct object *, const uint32_t *), capabilities) &&
	       !JVMTI_CALL(jvmti, JVMTI_SET_EVENT_CALLBACKS, (struct object *, const function *, int32_t),
		       callbacks, (int32_t)sizeof(callbacks)) &&
	       event_enable(jvmti, EVENT_COMPILED) && event_enable(jvmti, EVENT_GENERATED);
}

/* This thread's environment; NULL: the machine takes it no longer. */
static struct object *attach(struct object *vm)
{
	struct object *jni = NULL;
	struct {
		int32_t version;
		const char *name;
		void *group;
	} as = {JNI_VERSION, "hpct-java", NULL};

	return VM_CALL(vm, VM_ATTACH_AS_DAEMON, (struct object *, struct object **, void *), &jni, &as) ? NULL
													: jni;
}

static void detach(struct object *vm)
{
	FUNCTION(vm, VM_DETACH, (struct object *))(vm);
}

/* What was compiled so far is told once more. NULL: it tells nothing. */
static struct object *vm_ask(struct object *vm)
{
	struct object *jvmti = NULL;

	if (!attach(vm))
		return NULL;
	if (VM_CALL(vm, VM_GET_ENVIRONMENT, (struct object *, struct object **, int32_t), &jvmti,
		    JVMTI_VERSION) ||
		!jvmti || !events_enable(jvmti)) {
		jvmti = NULL;
	} else {
		JVMTI_CALL(jvmti, JVMTI_GENERATE_EVENTS, (struct object *, int32_t), EVENT_GENERATED);
		JVMTI_CALL(jvmti, JVMTI_GENERATE_EVENTS, (struct object *, int32_t), EVENT_COMPILED);
	}
	detach(vm);
	return jvmti;
}

/* ---- stacks, as the machine tells them ---- */

/* A thread's object of Java has the address of the machine's. 0: not found. */
static uint64_t thread_object(struct object *jvmti, struct object *jni)
{
	void *thread = NULL, *class, *field;
	int64_t address = 0;

	if (JVMTI_CALL(jvmti, JVMTI_GET_CURRENT_THREAD, (struct object *, void **), &thread) || !thread)
		return 0;
	class = ((void *(*)(struct object *, void *))jni->table->functions[JNI_GET_OBJECT_CLASS])(
		jni, thread);
	/* A subclass inherits the field. */
	field = ((void *(*)(struct object *, void *, const char *,
		const char *))jni->table->functions[JNI_GET_FIELD])(jni, class, "eetop", "J");
	if (field)
		address = ((int64_t(*)(struct object *, void *, void *))jni->table->functions[JNI_GET_LONG])(
			jni, thread, field);
	else
		((void (*)(struct object *))jni->table->functions[JNI_CLEAR_EXCEPTION])(jni);
	((void (*)(struct object *, void *))jni->table->functions[JNI_DELETE_REFERENCE])(jni, class);
	((void (*)(struct object *, void *))jni->table->functions[JNI_DELETE_REFERENCE])(jni, thread);
	return (uint64_t)address;
}

static void classes_prepare(struct object *jvmti, struct object *jni)
{
	const function *functions = jni->table->functions;
	void **classes = NULL;
	int32_t count = 0;

	/* References to all of them, given back at once: unless there is room -Xcheck:jni warns. */
	if (((int (*)(struct object *, int32_t))functions[JNI_PUSH_FRAME])(jni, REFERENCES_MOST))
		return;
	if (JVMTI_CALL(jvmti, JVMTI_GET_LOADED_CLASSES, (struct object *, int32_t *, void ***), &count,
		    &classes))
		count = 0;
	for (int32_t i = 0; i < count; i++)
		class_prepared(jvmti, jni, NULL, classes[i]);
	memory_free(jvmti, (void *)classes);
	((void *(*)(struct object *, void *))functions[JNI_POP_FRAME])(jni, NULL);
}

/* With collectors that move objects beside the program's threads (Shenandoah's) the call, made at any
 * instruction, has crashed the machine. */
static bool is_safe_collector(void)
{
	static const char *const switches[] = {"UseG1GC", "UseParallelGC", "UseSerialGC"};

	for (unsigned i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		if (java_fields_has_switch(&library.fields, switches[i]))
			return true;
	return false;
}

static bool trace_open(struct object *vm, struct object *jvmti, struct object *jni)
{
	struct java_trace_machine machine = {.get = library.get, .machine = vm};
	struct java_field state;
	uint64_t thread;

	if (!library.get || !is_safe_collector() ||
		!java_fields_find(&library.fields, "JavaThread", "_thread_state", &state) ||
		!(thread = thread_object(jvmti, jni)))
		return false;
	machine.state = state.offset;
	machine.environment = (int (*)(void *, void **, int32_t))vm->table->functions[VM_GET_ENVIRONMENT];
	machine.thread = (int64_t)(thread - (uint64_t)(uintptr_t)jni);
	if (!event_enable(jvmti, EVENT_VM_DEATH) || !event_enable(jvmti, EVENT_CLASS_LOAD) ||
		!event_enable(jvmti, EVENT_CLASS_PREPARE))
		return false;
	classes_prepare(jvmti, jni);
	return java_trace_open(&machine, jni);
}

static void pause_for(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	REAL(nanosleep)(&time, NULL);
}

/* Once a walk has ended among Java's frames; then names what is met until the machine ends, or a fault in its
 * call: that leaves what was met since the last look. */
static void trace_serve(struct object *vm, struct object *jvmti)
{
	struct object *jni;

	while (!java_trace_is_wanted())
		pause_for(WANTED_LOOK_NS);
	jni = attach(vm);
	if (jni && trace_open(vm, jvmti, jni)) {
		for (; java_trace_is_open(); pause_for(NAME_LOOK_NS))
			methods_name(jvmti);
		methods_name(jvmti);
	}
	if (jni)
		detach(vm);
}

static void *wait_for_vm(void *nothing)
{
	long look_ns = LOOK_NS;
	unsigned looks = 0;
	struct object *vm, *jvmti;

	while (!(vm = vm_find())) {
		if (++looks > LOOKS_MOST) /* a library that no machine is made of */
			return nothing;
		pause_for(look_ns);
		look_ns = look_ns < LOOK_NS_MOST ? look_ns + look_ns / 16 : look_ns;
	}
	jvmti = vm_ask(vm);
	if (jvmti && library.get)
		trace_serve(vm, jvmti);
	return nothing;
}

static void thread_begin_waiting(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	if (REAL(pthread_attr_init)(&attributes))
		return;
	sigfillset(&all);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
	if (!REAL(pthread_create)(&thread, &attributes, wait_for_vm, NULL))
		REAL(pthread_setname_np)(thread, "hpct-java");
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void java_look_now(void)
{
	static atomic_flag is_begun = ATOMIC_FLAG_INIT;
	static _Atomic bool is_known;

	if (atomic_load_explicit(&is_known, memory_order_relaxed) || !process_is_live() ||
		!process.shared->code_at)
		return;
	dl_iterate_phdr(library_look, NULL);
	if (!created || atomic_flag_test_and_set(&is_begun))
		return;
	atomic_store(&is_known, true);
	thread_begin_waiting();
}
