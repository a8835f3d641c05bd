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
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"

#define LOOK_NS 5000000 /* between looks for the machine, at first; later ones are rarer */
#define LOOK_NS_MOST 100000000
#define LOOKS_MOST 600 /* about a minute */
#define JNI_OK 0
#define JVMTI_VERSION 0x30010200 /* 1.2: of Java 7 */
#define JVMTI_ENABLE 1

/* JNI's invocation interface, by place. */
enum vm_function { VM_DETACH = 5, VM_GET_ENVIRONMENT = 6, VM_ATTACH_AS_DAEMON = 7 };
/* JVMTI's functions and events, by number. */
enum {
	JVMTI_SET_EVENT_NOTIFICATION = 2,
	JVMTI_DEALLOCATE = 47,
	JVMTI_GET_CLASS_SIGNATURE = 48,
	JVMTI_GET_METHOD_NAME = 64,
	JVMTI_GET_METHOD_CLASS = 65,
	JVMTI_SET_EVENT_CALLBACKS = 122,
	JVMTI_GENERATE_EVENTS = 123,
	JVMTI_ADD_CAPABILITIES = 142
};
enum { EVENT_FIRST = 50, EVENT_COMPILED = 68, EVENT_GENERATED = 70 };
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

static void text_free(struct object *jvmti, char *text)
{
	if (text)
		JVMTI_CALL(
			jvmti, JVMTI_DEALLOCATE, (struct object *, unsigned char *), (unsigned char *)text);
}

static void compiled(struct object *jvmti, void *method, int32_t size, const void *address, int32_t places,
	const void *map, const void *more)
{
	char *name = NULL, *class_signature = NULL, text[EVENT_NAME_BYTES_MAX];
	void *class = NULL;

	(void)places, (void)map, (void)more;
	if (!JVMTI_CALL(jvmti, JVMTI_GET_METHOD_NAME, (struct object *, void *, char **, char **, char **),
		    method, &name, NULL, NULL) &&
		!JVMTI_CALL(
			jvmti, JVMTI_GET_METHOD_CLASS, (struct object *, void *, void **), method, &class) &&
		!JVMTI_CALL(jvmti, JVMTI_GET_CLASS_SIGNATURE, (struct object *, void *, char **, char **),
			class, &class_signature, NULL) &&
		name && class_signature && size > 0)
		java_code_put(address, (uint32_t)size, text,
			java_code_name(text, sizeof(text), class_signature, name));
	text_free(jvmti, name);
	text_free(jvmti, class_signature);
}

/* Stubs, the interpreter, tables of calls. */
static void generated(struct object *jvmti, const char *name, const void *address, int32_t size)
{
	(void)jvmti;
	if (name && size > 0)
		java_code_put(address, (uint32_t)size, name, strlen(name));
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
	return 1;
}

/* NULL: there is none yet. */
static struct object *vm_find(void)
{
	struct object *vm = NULL;
	int32_t count = 0;

	return has_started() && created(&vm, 1, &count) == JNI_OK && count > 0 ? vm : NULL;
}

static bool events_enable(struct object *jvmti)
{
	static const int32_t events[] = {EVENT_COMPILED, EVENT_GENERATED};
	uint32_t capabilities[4] = {UINT32_C(1) << CAPABILITY_COMPILED};
	function callbacks[EVENT_GENERATED - EVENT_FIRST + 1] = {NULL};
	bool is_enabled;

	callbacks[EVENT_COMPILED - EVENT_FIRST] = (function)compiled;
	callbacks[EVENT_GENERATED - EVENT_FIRST] = (function)generated;
	is_enabled =
		!JVMTI_CALL(
			jvmti, JVMTI_ADD_CAPABILITIES, (struct object *, const uint32_t *), capabilities) &&
		!JVMTI_CALL(jvmti, JVMTI_SET_EVENT_CALLBACKS, (struct object *, const function *, int32_t),
			callbacks, (int32_t)sizeof(callbacks));
	for (unsigned i = 0; i < 2 && is_enabled; i++)
		is_enabled = !JVMTI_CALL(jvmti, JVMTI_SET_EVENT_NOTIFICATION,
			(struct object *, int, int32_t, void *, ...), JVMTI_ENABLE, events[i], NULL);
	return is_enabled;
}

/* What was compiled so far is told once more. */
static void vm_ask(struct object *vm)
{
	struct object *jni = NULL, *jvmti = NULL;
	struct {
		int32_t version;
		const char *name;
		void *group;
	} attach = {0x00010006, "hpct-java", NULL};

	if (VM_CALL(vm, VM_ATTACH_AS_DAEMON, (struct object *, struct object **, void *), &jni, &attach))
		return;
	if (!VM_CALL(vm, VM_GET_ENVIRONMENT, (struct object *, struct object **, int32_t), &jvmti,
		    JVMTI_VERSION) &&
		jvmti && events_enable(jvmti)) {
		JVMTI_CALL(jvmti, JVMTI_GENERATE_EVENTS, (struct object *, int32_t), EVENT_GENERATED);
		JVMTI_CALL(jvmti, JVMTI_GENERATE_EVENTS, (struct object *, int32_t), EVENT_COMPILED);
	}
	FUNCTION(vm, VM_DETACH, (struct object *))(vm);
}

static void *wait_for_vm(void *nothing)
{
	long look_ns = LOOK_NS;
	unsigned looks = 0;
	struct object *vm;

	while (!(vm = vm_find())) {
		const struct timespec time = {.tv_nsec = look_ns};

		if (++looks > LOOKS_MOST) /* a library that no machine is made of */
			return nothing;
		REAL(nanosleep)(&time, NULL);
		look_ns = look_ns < LOOK_NS_MOST ? look_ns + look_ns / 16 : look_ns;
	}
	vm_ask(vm);
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
