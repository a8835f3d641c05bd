/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_pfm.c - event names of libpfm4; the only file that uses it. Loads the library when a name is looked
 * up, as its tables take the loader a millisecond. Without the library: an error that says so.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "record/events/events.h"

#ifdef HPCT_PFM

#include <perfmon/pfmlib_perf_event.h>

#define LIBRARY "libpfm.so.4"

static struct {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encoding;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_event_next) *event_next;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_get_pmu_info) *unit_info;
	void *library;
} pfm;

#ifdef HPCT_OPENS_NOTHING

static bool load(void)
{
	pfm.initialize = pfm_initialize;
	pfm.encoding = pfm_get_os_event_encoding;
	pfm.strerror = pfm_strerror;
	pfm.event_next = pfm_get_event_next;
	pfm.event_info = pfm_get_event_info;
	pfm.unit_info = pfm_get_pmu_info;
	pfm.library = &pfm;
	return true;
}

#else

static bool load(void)
{
	static const struct {
		const char *name;
		void *place;
	} functions[] = {
		{"pfm_initialize", &pfm.initialize},
		{"pfm_get_os_event_encoding", &pfm.encoding},
		{"pfm_strerror", &pfm.strerror},
		{"pfm_get_event_next", &pfm.event_next},
		{"pfm_get_event_info", &pfm.event_info},
		{"pfm_get_pmu_info", &pfm.unit_info},
	};

	pfm.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (unsigned i = 0; pfm.library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(pfm.library, functions[i].name);

		if (!found)
			pfm.library = NULL;
		memcpy(functions[i].place, &found, sizeof(found));
	}
	return pfm.library;
}

#endif

static bool is_ready(void)
{
	static int state; /* 1: ready, -1: refused */

	if (!state)
		state = load() && pfm.initialize() == PFM_SUCCESS ? 1 : -1;
	return state > 0;
}

static const char *refusal_text(void)
{
	return pfm.library ? "libpfm4 knows no counters of this processor"
			   : "install libpfm4, which knows the names: " LIBRARY " is not found";
}

static int encode(struct perf_event_attr *attr, const char *name)
{
	pfm_perf_encode_arg_t argument = {.attr = attr, .size = sizeof(argument)};

	return pfm.encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
}

int events_encode(struct events_code *code, const char *name, struct error *error)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int result;

	if (!is_ready())
		return error_set(error, ERROR_USAGE, "event %s is not known: %s", name, refusal_text());
	result = encode(&attr, name);
	if (result != PFM_SUCCESS)
		return error_set(error, ERROR_USAGE, "event %s is not known (%s); hpct-record -L lists all",
			name, pfm.strerror(result));
	code->type = attr.type;
	code->config[0] = attr.config;
	code->config[1] = attr.config1;
	code->config[2] = attr.config2;
	code->user = !attr.exclude_user && attr.exclude_kernel;
	code->kernel = !attr.exclude_kernel && attr.exclude_user;
	return 0;
}

static const char not_encoded[] = "none of its events can be encoded";

static bool event_get(int index, pfm_event_info_t *event)
{
	*event = (pfm_event_info_t){.size = sizeof(*event)};
	return pfm.event_info(index, PFM_OS_PERF_EVENT, event) == PFM_SUCCESS;
}

/* Why an event cannot be used, NULL: it can. not_encoded: the event needs a mask to be encoded. */
static const char *event_refusal(const pfm_pmu_info_t *unit, const pfm_event_info_t *event,
	const char *(*refusal)(const struct events_code *code))
{
	struct events_code code = {0};
	struct error error;
	char name[256];

	snprintf(name, sizeof(name), "%s::%s", unit->name, event->name);
	return events_encode(&code, name, &error) ? not_encoded : refusal(&code);
}

/* Why none of the unit's events can be used, NULL: some can. A unit may mix software and hardware events. */
static const char *unit_refusal(
	const pfm_pmu_info_t *unit, const char *(*refusal)(const struct events_code *code))
{
	const char *first = not_encoded;
	pfm_event_info_t event;

	for (int i = unit->first_event; i != -1; i = pfm.event_next(i)) {
		const char *reason =
			event_get(i, &event) ? event_refusal(unit, &event, refusal) : not_encoded;

		if (!reason)
			return NULL;
		if (first == not_encoded)
			first = reason;
	}
	return first;
}

static void unit_list(const pfm_pmu_info_t *unit, const char *(*refusal)(const struct events_code *code))
{
	pfm_event_info_t event;

	for (int i = unit->first_event; i != -1; i = pfm.event_next(i)) {
		const char *reason;

		if (!event_get(i, &event))
			continue;
		reason = event_refusal(unit, &event, refusal);
		if (reason == not_encoded)
			reason = NULL;
		printf("  %s::%-40s %s%s%s\n", unit->name, event.name, event.desc ? event.desc : "",
			reason ? "; not available here: " : "", reason ? reason : "");
	}
}

void events_list_units(const char *(*refusal)(const struct events_code *code))
{
	printf("By libpfm4, [unit::]event[:mask][:modifier]:%s%s\n", is_ready() ? "" : " ",
		is_ready() ? "" : refusal_text());
	for (int i = 0; is_ready() && i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t unit = {.size = sizeof(unit)};
		const char *reason;

		if (pfm.unit_info((pfm_pmu_t)i, &unit) != PFM_SUCCESS || !unit.is_present)
			continue;
		reason = unit_refusal(&unit, refusal);
		printf("%s (%s), %d events%s%s\n", unit.name, unit.desc, unit.nevents,
			reason ? "; not available here: " : "", reason ? reason : "");
		if (!reason)
			unit_list(&unit, refusal);
	}
}

#else

int events_encode(struct events_code *code, const char *name, struct error *error)
{
	(void)code;
	return error_set(error, ERROR_USAGE,
		"event %s is not known; hpct-record -L lists all (this build is without libpfm4)", name);
}

void events_list_units(const char *(*refusal)(const struct events_code *code))
{
	(void)refusal;
	printf("The processor's own events have no names here: this build is without libpfm4.\n");
}

#endif
