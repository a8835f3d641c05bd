/* SPDX-License-Identifier: Apache-2.0 */
/*
 * papi_library.c - hpct-agent-papi.so, the only file that uses PAPI: see papi.h. It is the first object of
 * its link namespace, so that PAPI's calls of `read` reach the one below.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sample/papi.h"

#define EXPORT __attribute__((visibility("default")))

/* The program may close an unknown descriptor and reuse its number: PAPI may only read perf events and
 * regular files. */
EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	struct stat status;
	uint64_t id;

	/* The system call, as fstat is a symbol of glibc 2.33; the kernel's structure is the same. */
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) &&
		(syscall(SYS_fstat, fd, &status) || !S_ISREG(status.st_mode))) {
		errno = EBADF;
		return -1;
	}
	return syscall(SYS_read, fd, to, bytes);
}

/* PAPI counts one event set per component at a time. */
struct set {
	int sets[EVENT_COUNTERS_MAX], component[EVENT_COUNTERS_MAX];
	unsigned set_count;
	unsigned in_set[EVENT_COUNTERS_MAX], place[EVENT_COUNTERS_MAX]; /* per event */
	bool is_counted[EVENT_COUNTERS_MAX];
	unsigned count;
};

static unsigned long thread_id(void)
{
	return (unsigned long)syscall(SYS_gettid);
}

static int library_open(void)
{
	int version = PAPI_library_init(PAPI_VER_CURRENT);

	if (version != PAPI_VER_CURRENT)
		return version < 0 ? version : PAPI_EINVAL;
	return PAPI_thread_init(thread_id);
}

static const char *error_text(int error)
{
	const char *text = PAPI_strerror(error);

	return text ? text : "PAPI refuses it";
}

/* The user's name of a PAPI event is "papi::NAME". */
static const char *own_name(const char *name)
{
	return strncasecmp(name, "papi::", 6) ? name : name + 6;
}

static int code_of(const char *name, int *code)
{
	char copy[PAPI_MAX_STR_LEN];

	strncpy(copy, own_name(name), sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	return PAPI_event_name_to_code(copy, code);
}

/* A temperature is no count: the sum of its differences is meaningless. */
static int count_check(int code)
{
	PAPI_event_info_t info;

	if (PAPI_get_event_info(code, &info) == PAPI_OK && info.value_type == PAPI_VALUETYPE_ABSOLUTE &&
		info.event_code & PAPI_NATIVE_MASK && PAPI_get_event_component(code) > 0)
		return PAPI_EATTR;
	return PAPI_OK;
}

static void set_end(void *of)
{
	struct set *set = of;
	long long values[EVENT_COUNTERS_MAX];

	for (unsigned i = 0; i < set->set_count; i++) {
		PAPI_stop(set->sets[i], values);
		PAPI_cleanup_eventset(set->sets[i]);
		PAPI_destroy_eventset(&set->sets[i]);
	}
	free(set);
	PAPI_unregister_thread();
}

/* The event set of the event's component, created if needed. Negative: why not. */
static int set_of(struct set *set, int code)
{
	int component = PAPI_get_event_component(code), result;

	for (unsigned i = 0; i < set->set_count; i++)
		if (set->component[i] == component)
			return (int)i;
	set->sets[set->set_count] = PAPI_NULL;
	result = PAPI_create_eventset(&set->sets[set->set_count]);
	if (result != PAPI_OK)
		return result;
	set->component[set->set_count] = component;
	return (int)set->set_count++;
}

static int event_add(struct set *set, unsigned index, const char *name)
{
	int code, result = code_of(name, &code), at;

	if (result == PAPI_OK)
		result = count_check(code);
	if (result != PAPI_OK)
		return result;
	at = set_of(set, code);
	if (at < 0)
		return at;
	set->place[index] = (unsigned)PAPI_num_events(set->sets[at]);
	result = PAPI_add_event(set->sets[at], code);
	if (result != PAPI_OK)
		return result;
	set->in_set[index] = (unsigned)at;
	set->is_counted[index] = true;
	return PAPI_OK;
}

/* PAPI's events would stay open in programs that the program executes. */
static void descriptors_close_on_exec(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int fd = atoi(entry->d_name);
		uint64_t id;

		if (fd > 2 && !ioctl(fd, PERF_EVENT_IOC_ID, &id))
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	if (directory)
		closedir(directory);
}

static void *set_begin(const char *const *names, unsigned count, int *errors)
{
	struct set *set = calloc(1, sizeof(*set));
	unsigned counted = 0;

	PAPI_register_thread();
	for (unsigned i = 0; set && i < count; i++)
		errors[i] = event_add(set, i, names[i]);
	for (unsigned s = 0; set && s < set->set_count; s++) {
		int result = PAPI_start(set->sets[s]);

		for (unsigned i = 0; result != PAPI_OK && i < count; i++)
			if (set->is_counted[i] && set->in_set[i] == s) {
				errors[i] = result;
				set->is_counted[i] = false;
			}
	}
	for (unsigned i = 0; set && i < count; i++)
		counted += set->is_counted[i];
	if (set && !counted) {
		set_end(set);
		return NULL;
	}
	if (set)
		set->count = count;
	descriptors_close_on_exec();
	return set;
}

static int set_read(void *of, uint64_t *values)
{
	struct set *set = of;

	for (unsigned s = 0; s < set->set_count; s++) {
		long long got[EVENT_COUNTERS_MAX] = {0};

		if (PAPI_read(set->sets[s], got) != PAPI_OK)
			continue;
		for (unsigned i = 0; i < set->count; i++)
			if (set->is_counted[i] && set->in_set[i] == s && got[set->place[i]] > 0)
				values[i] = (uint64_t)got[set->place[i]];
	}
	return 0;
}

static int check(const char *name)
{
	int error = PAPI_OK;
	void *set = set_begin(&name, 1, &error);

	if (set)
		set_end(set);
	return set ? PAPI_OK : error ? error : PAPI_ENOMEM;
}

static void presets_list(void (*tell)(const char *, const char *, const char *))
{
	int code = (int)PAPI_PRESET_MASK;
	PAPI_event_info_t info;

	if (PAPI_enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
		return;
	do
		if (PAPI_get_event_info(code, &info) == PAPI_OK)
			tell(info.symbol, info.long_descr,
				info.count ? NULL : "this processor has no counters for it, or hides them");
	while (PAPI_enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
}

static void natives_list(int component, void (*tell)(const char *, const char *, const char *))
{
	int code = (int)PAPI_NATIVE_MASK;
	PAPI_event_info_t info;

	if (PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component) != PAPI_OK)
		return;
	do
		if (PAPI_get_event_info(code, &info) == PAPI_OK)
			tell(info.symbol, info.long_descr, NULL);
	while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component) == PAPI_OK);
}

static void list(void (*tell)(const char *, const char *, const char *))
{
	presets_list(tell);
	for (int i = 0; i < PAPI_num_components(); i++) {
		const PAPI_component_info_t *component = PAPI_get_component_info(i);

		if (!component)
			continue;
		tell(component->name, component->description,
			!component->disabled		? NULL
			: component->disabled_reason[0] ? component->disabled_reason
							: "it is switched off");
		/* Component 0 has the events of libpfm4, which are listed above. */
		if (!component->disabled && i)
			natives_list(i, tell);
	}
}

EXPORT extern const struct papi_plugin hpct_papi;
const struct papi_plugin hpct_papi = {
	.open = library_open,
	.error_text = error_text,
	.check = check,
	.begin = set_begin,
	.read = set_read,
	.end = set_end,
	.list = list,
};
