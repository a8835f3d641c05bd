/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_names.c - see events_names.h. The table has the names that every kernel knows; the others are
 * libpfm4's (events_pfm.c).
 */
#include "record/events/events_names.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FREQUENCY_DEFAULT 300u

const struct events_known events_known[] = {
	{"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true,
		"CPU time of each thread, by a perf event; @N: each N nanoseconds"},
	{"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true,
		"the same, by the processor's clock"},
	{"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, "page faults"},
	{"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false,
		"those without a read"},
	{"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false,
		"those that read a disk"},
	{"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false,
		"where threads are switched out"},
	{"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false,
		"moves to another processor"},
	{"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
		"unaligned accesses"},
	{"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, false,
		"instructions that the kernel emulates"},
	{"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, "processor cycles"},
	{"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false, "instructions retired"},
	{"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, false,
		"last-level cache accesses"},
	{"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false,
		"last-level cache misses"},
	{"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false,
		"branches retired"},
	{"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false,
		"branches mispredicted"},
	{"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, false, "bus cycles"},
	{"stalled-cycles-frontend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, false,
		"cycles that wait for instructions"},
	{"stalled-cycles-backend", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, false,
		"cycles that wait for operands"},
	{"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, false,
		"cycles at the nominal rate"},
};

const size_t events_known_count = sizeof(events_known) / sizeof(*events_known);

/* hpcrun's names for data that every recording contains, without sampling. */
const struct events_other events_derived[EVENTS_DERIVED_COUNT] = {
	[EVENTS_DERIVED_REALTIME] = {"REALTIME",
		"wall time, running or not: from CPU samples and switch records, by readers' --metric "
		"REALTIME;\n"
		"                               nothing is interrupted. @N, @fN: as for CPUTIME"},
	[EVENTS_DERIVED_BLOCKTIME] = {"BLOCKTIME",
		"blocked time, by readers' --metric BLOCKED; asked for, each wait has its path, the "
		"kernel's\n"
		"                               part too (as root, or perf_event_paranoid <= 1)"},
};

/* Not sampled: the wrapped calls report them. */
const struct events_other events_called[EVENTS_CALLED_COUNT] = {
	[EVENTS_CALLED_IO] = {"IO",
		"calls that read or write: spans, and bytes by call path (IO:read, IO:written)"},
	[EVENTS_CALLED_MEMLEAK] = {"MEMLEAK",
		"bytes allocated, and freed again, by the call path that allocated them"},
	[EVENTS_CALLED_MPI] = {"MPI",
		"calls of MPI (always recorded): MPI@10us sums those below 10 us by call path, MPI@0 none; "
		"MPI=off"},
};

const struct events_known *events_known_find(const char *name)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < events_known_count; i++) {
		const char *const names[] = {events_known[i].name, events_known[i].alias};

		for (unsigned n = 0; n < 2; n++)
			if (names[n] && strlen(names[n]) == length && !strncasecmp(names[n], name, length))
				return &events_known[i];
	}
	return NULL;
}

bool events_is_derived(const char *name)
{
	for (size_t i = 0; i < EVENTS_DERIVED_COUNT; i++)
		if (!strcasecmp(name, events_derived[i].name))
			return true;
	return false;
}

int events_called_find(const char *text)
{
	size_t length = strcspn(text, "@=");

	for (int i = 0; i < EVENTS_CALLED_COUNT; i++)
		if (strlen(events_called[i].name) == length &&
			!strncasecmp(events_called[i].name, text, length))
			return i;
	return -1;
}

/* ":u", ":k", ":h", ":p", ":pp", ":ppp", ":P" in any order. False: something else follows. */
static bool modifiers_take(struct events_code *code, const char *text)
{
	unsigned precision = 0;

	for (; *text; text++) {
		code->user |= *text == 'u';
		code->kernel |= *text == 'k';
		code->hypervisor |= *text == 'h';
		precision += *text == 'p';
		if (*text == 'P')
			precision = EVENTS_PRECISION_MOST;
		if (!strchr(":ukhpP", *text) || precision > EVENTS_PRECISION_MOST)
			return false;
	}
	code->precision = precision;
	return true;
}

int events_code_find(struct events_code *code, const char *name, struct error *error)
{
	const struct events_known *found = events_known_find(name);
	char plain[64], *skid;

	*code = (struct events_code){0};
	if (found) {
		code->type = found->type;
		code->config[0] = found->config;
		if (modifiers_take(code, name + strcspn(name, ":")))
			return 0;
		return error_set(
			error, ERROR_USAGE, "event %s: the modifiers are :u :k :h :p :pp :ppp :P", name);
	}
	/* libpfm4 does not know perf's precision modifier. */
	snprintf(plain, sizeof(plain), "%s", name);
	skid = strrchr(plain, ':');
	if (skid && (strspn(skid + 1, "p") == strlen(skid + 1) || !strcmp(skid, ":P")) && skid[1]) {
		modifiers_take(code, skid);
		*skid = '\0';
	}
	return events_encode(code, plain, error);
}

unsigned long long events_frequency_default(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long most = FREQUENCY_DEFAULT + 1;

	if (file && fscanf(file, "%llu", &most) != 1)
		most = FREQUENCY_DEFAULT + 1;
	if (file)
		fclose(file);
	return most <= 1 ? 1 : most - 1 < FREQUENCY_DEFAULT ? most - 1 : FREQUENCY_DEFAULT;
}
