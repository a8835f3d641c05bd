/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - see events.h. Names that every kernel has are known here; the others are libpfm4's
 * (events_pfm.c). */
#include "record/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PERIOD_DEFAULT_US 5000u
#define FREQUENCY_DEFAULT 300u
#define RATE_MAX 1000000000ull

static const struct known {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	bool is_time;
	const char *text;
} known[] = {
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

#define KNOWN (sizeof(known) / sizeof(*known))

/* ---- EVENT[@HOWOFTEN] ---- */

struct wish {
	char name[64];
	bool is_frequency, has_rate;
	unsigned long long rate;
};

static int rate_parse(struct wish *wish, const char *text)
{
	char *end;

	wish->has_rate = true;
	wish->is_frequency = *text == 'f' || *text == 'F';
	text += wish->is_frequency;
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	wish->rate = strtoull(text, &end, 10);
	return *end || errno || !wish->rate || wish->rate > RATE_MAX * (wish->is_frequency ? 1 : 1000) ? -1
												       : 0;
}

static int wish_parse(
	struct wish *wish, const struct events_asked *asked, const char *text, struct error *error)
{
	const char *at = strchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);

	*wish = (struct wish){0};
	if (!length || length >= sizeof(wish->name) || strcspn(text, " \t\n") < length)
		return error_set(error, ERROR_USAGE,
			"'%s' is no event; hpct-record -L lists those that there are", text);
	memcpy(wish->name, text, length);
	if (at && rate_parse(wish, at + 1))
		return error_set(error, ERROR_USAGE,
			"event %s: after @ comes a period (for CPUTIME in microseconds), or f and samples a "
			"second",
			text);
	if (!at && asked->rate && rate_parse(wish, asked->rate))
		return error_set(error, ERROR_USAGE, "-c %s: a period is wanted, or f and samples a second",
			asked->rate);
	return 0;
}

static const struct known *known_find(const char *name)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < KNOWN; i++) {
		const char *const names[] = {known[i].name, known[i].alias};

		for (unsigned n = 0; n < 2; n++)
			if (names[n] && strlen(names[n]) == length && !strncasecmp(names[n], name, length))
				return &known[i];
	}
	return NULL;
}

/* ":u", ":k", ":h", ":p", ":pp", ":ppp", ":P" in any order. false: something else is there. */
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

static int code_find(struct events_code *code, const char *name, struct error *error)
{
	const struct known *found = known_find(name);
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
	/* How exact the place must be is perf's affair, not libpfm4's. */
	snprintf(plain, sizeof(plain), "%s", name);
	skid = strrchr(plain, ':');
	if (skid && (strspn(skid + 1, "p") == strlen(skid + 1) || !strcmp(skid, ":P")) && skid[1]) {
		modifiers_take(code, skid);
		*skid = '\0';
	}
	return events_encode(code, plain, error);
}

/* ---- the time source ---- */

/* hpcrun's names for what every recording holds, without a signal of its own. */
static const struct derived {
	const char *name, *text;
} derived[] = {
	{"REALTIME", "wall time, running or not: from CPU samples and switch records, by readers' --metric "
		     "REALTIME;\n"
		     "                               nothing is interrupted. @N, @fN: as for CPUTIME"},
	{"BLOCKTIME", "blocked time, by readers' --metric BLOCKED; asked for, each wait has its path, the "
		      "kernel's\n"
		      "                               part too (as root, or perf_event_paranoid <= 1)"},
};

static const struct derived *derived_find(const char *name)
{
	for (size_t i = 0; i < sizeof(derived) / sizeof(*derived); i++)
		if (!strcasecmp(name, derived[i].name))
			return &derived[i];
	return NULL;
}

static bool is_time(const struct wish *wish)
{
	const struct known *found = known_find(wish->name);

	return !strcasecmp(wish->name, "CPUTIME") || (found && found->is_time);
}

/* "CPUTIME@5000" in microseconds, "task-clock@1500n" in nanoseconds. */
static int time_write(char *to, size_t room, const struct wish *wish, struct error *error)
{
	const struct known *found = known_find(wish->name);
	unsigned long long period = found ? PERIOD_DEFAULT_US * 1000ull : PERIOD_DEFAULT_US;
	unsigned long long second = found ? 1000000000u : 1000000u;

	if (found && strchr(wish->name, ':'))
		return error_set(
			error, ERROR_USAGE, "event %s: a time source takes no modifiers", wish->name);
	if (wish->has_rate)
		period = !wish->is_frequency ? wish->rate : wish->rate > second ? 1 : second / wish->rate;
	if (!found && period > 1000000000u)
		return error_set(error, ERROR_USAGE, "event %s: a period of more than 1000 s", wish->name);
	snprintf(to, room, "%s@%llu%s", found ? found->name : "CPUTIME", period, found ? "n" : "");
	return 0;
}

/* ---- counters ---- */

static unsigned long long frequency_default(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long most = FREQUENCY_DEFAULT + 1;

	if (file && fscanf(file, "%llu", &most) != 1)
		most = FREQUENCY_DEFAULT + 1;
	if (file)
		fclose(file);
	return most <= 1 ? 1 : most - 1 < FREQUENCY_DEFAULT ? most - 1 : FREQUENCY_DEFAULT;
}

/* The period of the time source is theirs. */
static int papi_write(char *to, size_t room, const struct wish *wish, struct error *error)
{
	if (strlen(wish->name) >= sizeof(((struct event_counter *)0)->name))
		return error_set(error, ERROR_USAGE, "event %s: the name is too long", wish->name);
	snprintf(to, room, "%s%s", EVENT_WORD_PAPI, wish->name);
	return 0;
}

static int counter_write(char *to, size_t room, const struct wish *wish, struct error *error)
{
	struct events_code code;
	bool is_frequency = wish->is_frequency || !wish->has_rate;
	int result = code_find(&code, wish->name, error);

	if (result)
		return result;
	snprintf(to, room, " %s=%x:%llx:%llx:%llx:%llx:%s%s%s%s%.*s", wish->name, code.type,
		(unsigned long long)code.config[0], (unsigned long long)code.config[1],
		(unsigned long long)code.config[2], wish->has_rate ? wish->rate : frequency_default(),
		is_frequency ? "f" : "", code.user ? "u" : "", code.kernel ? "k" : "",
		code.hypervisor ? "h" : "", (int)code.precision, "pppp");
	return 0;
}

/* ---- all of them ---- */

static int sampler_check(const char *name, struct error *error)
{
	static const char *const names[] = {"auto", "timer", "perf", "trap", "overflow"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return 0;
	return error_set(
		error, ERROR_USAGE, "--sampler %s: it is one of auto, timer, perf, trap, overflow", name);
}

/* Where the time source and the counters are put together. */
struct composed {
	char time[96];
	char counters[EVENT_EVENTS_MAX - 160];
	unsigned count;
	bool is_perf;
	bool has_waits;
	bool is_derived; /* `time` comes from a derived one and makes way for a source */
	bool calls[2];	 /* by called[] */
};

/* Not sampled: told of by the calls themselves. */
static const struct called {
	const char *name, *text;
} called[] = {
	{"IO", "calls that read or write: spans, and bytes by call path (IO:read, IO:written)"},
	{"MEMLEAK", "bytes allocated, and freed again, by the call path that allocated them"},
};

enum called_index { CALLED_IO, CALLED_MEMLEAK, CALLED_COUNT };

static int called_find(const char *text)
{
	size_t length = strcspn(text, "@");

	for (int i = 0; i < CALLED_COUNT; i++)
		if (strlen(called[i].name) == length && !strncasecmp(called[i].name, text, length))
			return i;
	return -1;
}

/* "0.1" or "1/10", of 2^32. 0: neither, or not in (0, 1]. */
static uint64_t probability_parse(const char *text)
{
	char *end = (char *)text;
	double value = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0, whole;

	if (value && *end == '/' && end[1] >= '0' && end[1] <= '9') {
		whole = strtod(end + 1, &end);
		value = whole > 0 ? value / whole : 0;
	}
	if (!(value > 0) || value > 1 || *end)
		return 0;
	value *= (double)EVENT_MEMLEAK_ALL;
	return value < 1 ? 1 : (uint64_t)value;
}

/* " IO=on MEMLEAK=19999999" */
static int called_write(char *to, size_t room, const struct composed *all, const struct events_asked *asked,
	struct error *error)
{
	uint64_t share = asked->probability ? probability_parse(asked->probability) : EVENT_MEMLEAK_ALL;
	size_t used;

	to[0] = '\0';
	if (all->calls[CALLED_IO])
		snprintf(to, room, "%s", EVENT_WORD_IO);
	if (!share && !asked->is_lenient)
		return error_set(error, ERROR_USAGE,
			"--memleak-prob %s: a number above 0 and up to 1 is wanted, as 0.1 or 1/10",
			asked->probability);
	used = strlen(to);
	if (all->calls[CALLED_MEMLEAK])
		snprintf(to + used, room - used, "%s%llx", EVENT_WORD_MEMLEAK,
			(unsigned long long)(share ? share : EVENT_MEMLEAK_ALL / 10));
	return 0;
}

static int counter_add(struct composed *all, const struct wish *wish, struct error *error)
{
	char word[256];
	int result =
		(events_is_papi(wish->name) ? papi_write : counter_write)(word, sizeof(word), wish, error);

	if (result)
		return result;
	if (all->count++ == EVENT_COUNTERS_MAX ||
		strlen(all->counters) + strlen(word) >= sizeof(all->counters))
		return error_set(error, ERROR_USAGE,
			"event %s is one too many: %u can be counted beside the time", wish->name,
			EVENT_COUNTERS_MAX);
	strcat(all->counters, word);
	return 0;
}

/* Only how often to sample is left to say. */
static int derived_add(struct composed *all, const struct wish *wish, struct error *error)
{
	struct wish source = *wish;

	all->has_waits |= !strcasecmp(wish->name, "BLOCKTIME");
	if (!wish->has_rate || all->time[0])
		return 0;
	all->is_derived = true;
	strcpy(source.name, "CPUTIME");
	return time_write(all->time, sizeof(all->time), &source, error);
}

static int event_add(
	struct composed *all, const struct events_asked *asked, const char *text, struct error *error)
{
	struct wish wish;
	int result, call = called_find(text);

	if (call >= 0) {
		all->calls[call] = true;
		return !strchr(text, '@') ? 0
					  : error_set(error, ERROR_USAGE, "event %s: %s takes no period",
						    text, called[call].name);
	}
	result = wish_parse(&wish, asked, text, error);
	if (result)
		return result;
	if (derived_find(wish.name))
		return derived_add(all, &wish, error);
	if (!is_time(&wish))
		return counter_add(all, &wish, error);
	if (!all->time[0] || all->is_derived) {
		all->is_derived = false;
		all->is_perf = known_find(wish.name) != NULL;
		return time_write(all->time, sizeof(all->time), &wish, error);
	}
	if (!asked->is_forced || !known_find(wish.name))
		return error_set(error, ERROR_USAGE,
			"%s beside %.*s: one time source at a time; --force counts task-clock or cpu-clock "
			"beside it",
			text, (int)strcspn(all->time, "@"), all->time);
	return counter_add(all, &wish, error);
}

int events_write(char *to, const struct events_asked *asked, struct error *error)
{
	struct composed all = {0};
	const char *sampler = asked->sampler;
	char calls[48];
	int result = 0;

	for (unsigned i = 0; i < asked->count && !result; i++)
		result = event_add(&all, asked, asked->event[i], error);
	if (!result && !all.time[0]) /* counters alone: there is no line without time */
		result = time_write(all.time, sizeof(all.time), &(struct wish){.name = "CPUTIME"}, error);
	if (!result && sampler)
		result = sampler_check(sampler, error);
	if (!result)
		result = called_write(calls, sizeof(calls), &all, asked, error);
	if (result)
		return result;
	if (!sampler && all.is_perf)
		sampler = "perf";
	if (sampler && !strcmp(sampler, "auto"))
		sampler = NULL;
	snprintf(to, EVENT_EVENTS_MAX, "%s%s%s%s%s%s%s", all.time, all.counters,
		asked->has_switches ? " SWITCHES" : "", all.has_waits ? EVENT_WORD_WAITS : "", calls,
		sampler ? EVENT_WORD_SAMPLER : "", sampler ? sampler : "");
	return 0;
}

/* ---- what works here ---- */

static int code_open(const struct events_code *code, bool with_kernel)
{
	struct perf_event_attr attr = {.type = code->type,
		.size = sizeof(attr),
		.config = code->config[0],
		.config1 = code->config[1],
		.config2 = code->config[2],
		.sample_period = 1000000,
		.exclude_kernel = !with_kernel,
		.exclude_hv = !with_kernel,
		.disabled = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Why the event cannot be had, in words; NULL: it can. */
static const char *refusal(const struct events_code *code)
{
	int event = code_open(code, true);

	if (event < 0 && (errno == EACCES || errno == EPERM))
		event = code_open(code, false);
	if (event >= 0) {
		close(event);
		return NULL;
	}
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such counter, or its virtual machine hides it";
	case EACCES:
		return "kernel.perf_event_paranoid is above 2; set it to 2 or less";
	case EPERM:
		return "a container's seccomp filter forbids perf events";
	case ENOSYS:
		return "this kernel has no perf events";
	case EINVAL:
		return "the processor cannot count it so";
	default:
		return strerror(errno);
	}
}

static void code_read(struct events_code *code, const char *text)
{
	unsigned long long number[4] = {0};
	char *end;

	for (unsigned i = 0; i < 4; i++) {
		number[i] = strtoull(text, &end, 16);
		text = *end == ':' ? end + 1 : end;
	}
	*code = (struct events_code){
		.type = (uint32_t)number[0], .config = {number[1], number[2], number[3]}};
}

void events_try(char *events, char *why, unsigned room)
{
	char kept[EVENT_EVENTS_MAX] = "", *place, *word;
	unsigned used = 0;

	why[0] = '\0';
	for (word = strtok_r(events, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *is = strrchr(word, '=');
		struct events_code code;
		const char *reason = NULL;

		if (!strncmp(word, &EVENT_WORD_PAPI[1], strlen(EVENT_WORD_PAPI) - 1)) {
			word = strchr(word, '=') + 1;
			is = word + strlen(word);
			reason = events_papi_refusal(word);
			if (!reason)
				word -= strlen(EVENT_WORD_PAPI) - 1;
		} else if (is && strchr(is, ':')) { /* not "BY=trap", "gpu=auto" */
			code_read(&code, is + 1);
			reason = refusal(&code);
		}
		if (reason && used < room)
			used += (unsigned)snprintf(why + used, room - used, "%s%.*s is not counted: %s",
				used ? "; " : "", (int)(is - word), word, reason);
		if (reason)
			continue;
		if (kept[0])
			strcat(kept, " ");
		strcat(kept, word);
	}
	strcpy(events, kept);
}

static void line_put(const char *name, const char *alias, const char *text, const char *reason)
{
	char names[64];

	snprintf(names, sizeof(names), "%s%s%s", name, alias ? ", " : "", alias ? alias : "");
	printf("%-30s %s%s%s\n", names, text, reason ? "; not available here: " : "", reason ? reason : "");
}

void events_list(void)
{
	printf("Time sources, one at a time:\n");
	line_put("CPUTIME", NULL, "CPU time of each thread; @N: each N microseconds (5000), @fN: N a second",
		NULL);
	for (size_t i = 0; i < KNOWN; i++) {
		struct events_code code = {.type = known[i].type, .config = {known[i].config}};

		if (i && known[i - 1].is_time && !known[i].is_time)
			printf("\nCounted beside it; @N: a sample each N, @fN: N samples a second (%llu):\n",
				frequency_default());
		line_put(known[i].name, known[i].alias, known[i].text, refusal(&code));
	}
	printf("\nIn every recording with switch records, whether asked for or not:\n");
	for (size_t i = 0; i < sizeof(derived) / sizeof(*derived); i++)
		line_put(derived[i].name, NULL, derived[i].text, NULL);
	printf("\nTold of by the calls themselves, exactly; without @:\n");
	for (unsigned i = 0; i < CALLED_COUNT; i++)
		line_put(called[i].name, NULL, called[i].text, NULL);
	printf("\nAppend :u or :k to count in user or kernel mode only, :p to :ppp or :P for an exact "
	       "place.\n\n");
	events_list_units(refusal);
	events_list_papi();
}
