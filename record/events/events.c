/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - see events.h. Parses the requested events word by word into one time source, its counters,
 * derived events, and events that calls report.
 */
#include "record/events/events.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "record/events/events_names.h"

#define PERIOD_DEFAULT_US 5000u
#define PERIOD_LEAST_US 10u /* the kernel limits sampling to 100000 a second */
#define RATE_MAX 1000000000ull
#define VALUE_END ":value"
#define EVENTS_GROUPS_MAX 4u /* as the agent has */

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
		return error_set(error, ERROR_USAGE, "'%s' is no event; hpct-record -L lists all", text);
	memcpy(wish->name, text, length);
	if (at && rate_parse(wish, at + 1))
		return error_set(error, ERROR_USAGE,
			"event %s: after @ comes a period (for CPUTIME in microseconds), or f and samples a "
			"second",
			text);
	return !at && asked->rate ? rate_parse(wish, asked->rate) : 0;
}

/* ---- the time source ---- */

static bool is_time(const struct wish *wish)
{
	const struct events_known *found = events_known_find(wish->name);

	return !strcasecmp(wish->name, "CPUTIME") || (found && found->is_time);
}

/* "CPUTIME@5000" in microseconds, "task-clock@1500n" in nanoseconds. */
static int time_write(char *to, size_t room, const struct wish *wish, struct error *error)
{
	const struct events_known *found = events_known_find(wish->name);
	unsigned long long period = found ? PERIOD_DEFAULT_US * 1000ull : PERIOD_DEFAULT_US;
	unsigned long long second = found ? 1000000000u : 1000000u;

	if (found && strchr(wish->name, ':'))
		return error_set(
			error, ERROR_USAGE, "event %s: a time source takes no modifiers", wish->name);
	if (wish->has_rate)
		period = !wish->is_frequency ? wish->rate : wish->rate > second ? 1 : second / wish->rate;
	/* a shorter period would leave the program no time */
	if (period < PERIOD_LEAST_US * second / 1000000)
		return error_set(error, ERROR_USAGE,
			"event %s: its shortest period is %u us: use %s@%llu or more, or f100000 or less",
			wish->name, PERIOD_LEAST_US, wish->name, PERIOD_LEAST_US * second / 1000000);
	if (!found && period > 1000000000u)
		return error_set(error, ERROR_USAGE, "event %s: the period exceeds 1000 s", wish->name);
	snprintf(to, room, "%s@%llu%s", found ? found->name : "CPUTIME", period, found ? "n" : "");
	return 0;
}

/* ---- counters ---- */

/* They are read at the time source's samples. */
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
	int result = events_code_find(&code, wish->name, error);

	if (result)
		return result;
	snprintf(to, room, " %s=%x:%llx:%llx:%llx:%llx:%s%s%s%s%.*s", wish->name, code.type,
		(unsigned long long)code.config[0], (unsigned long long)code.config[1],
		(unsigned long long)code.config[2], wish->has_rate ? wish->rate : events_frequency_default(),
		is_frequency ? "f" : "", code.user ? "u" : "", code.kernel ? "k" : "",
		code.hypervisor ? "h" : "", (int)code.precision, "pppp");
	return 0;
}

/* Read at each sample: part of the group of its list. */
static int value_write(char *to, size_t room, const struct wish *wish, unsigned group, struct error *error)
{
	struct events_code code;
	int result = events_code_find(&code, wish->name, error);

	if (result)
		return result;
	snprintf(to, room, "%s%u/%s=%x:%llx:%llx:%llx:%s%s%s", EVENT_WORD_VALUE, group, wish->name, code.type,
		(unsigned long long)code.config[0], (unsigned long long)code.config[1],
		(unsigned long long)code.config[2], code.user ? "u" : "", code.kernel ? "k" : "",
		code.hypervisor ? "h" : "");
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

/* Collects the time source and the counters. */
struct composed {
	char time[96];
	char counters[EVENT_EVENTS_MAX - 160];
	char names[EVENT_COUNTERS_MAX][sizeof(((struct wish *)0)->name)]; /* the counters' names */
	unsigned count;
	unsigned groups; /* lists of events that are read */
	bool is_perf;
	bool has_waits;
	bool is_derived; /* `time` is the default of a derived event; a requested source replaces it */
	bool calls[EVENTS_CALLED_COUNT]; /* which of events_called[] are requested */
	char mpi[32];			 /* the word for MPI, as HPCT_EVENTS has it; "": the default */
};

/* "0.1" or "1/10", times 2^32. 0: invalid, or not in (0, 1]. */
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

/* "MPI", "MPI@10us", "MPI@0", "MPI=off" */
static int mpi_take(struct composed *all, const char *text, struct error *error)
{
	static const struct {
		const char *name;
		unsigned long long ns;
	} units[] = {{"us", 1000}, {"", 1000}, {"ns", 1}, {"ms", 1000000}, {"s", 1000000000}};
	unsigned long long bound;
	char *end;

	text += strlen("MPI");
	if (!*text)
		return 0;
	if (!strcmp(text, "=off")) {
		snprintf(all->mpi, sizeof(all->mpi), "%soff", EVENT_WORD_MPI);
		return 0;
	}
	errno = 0;
	bound = *text == '@' && text[1] >= '0' && text[1] <= '9' ? strtoull(text + 1, &end, 10) : ULLONG_MAX;
	for (size_t i = 0; bound <= 1000000000u && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && bound * units[i].ns <= 1000000000u) {
			snprintf(all->mpi, sizeof(all->mpi), "%s%llu", EVENT_WORD_MPI, bound * units[i].ns);
			return 0;
		}
	return error_set(error, ERROR_USAGE,
		"event MPI%s: give the time below which calls are summed, up to 1 s, such as MPI@10us "
		"(MPI@0: "
		"none), or MPI=off",
		text);
}

/* " IO=on MEMLEAK=19999999" */
static int called_write(char *to, size_t room, const struct composed *all, const struct events_asked *asked,
	struct error *error)
{
	uint64_t share = asked->probability ? probability_parse(asked->probability) : EVENT_MEMLEAK_ALL;
	size_t used;

	to[0] = '\0';
	if (all->calls[EVENTS_CALLED_IO])
		snprintf(to, room, "%s", EVENT_WORD_IO);
	if (!share && !asked->is_lenient)
		return error_set(error, ERROR_USAGE,
			"--memleak-prob %s: give a number above 0 and up to 1, such as 0.1 or 1/10",
			asked->probability);
	used = strlen(to);
	if (all->calls[EVENTS_CALLED_MEMLEAK])
		snprintf(to + used, room - used, "%s%llx", EVENT_WORD_MEMLEAK,
			(unsigned long long)(share ? share : EVENT_MEMLEAK_ALL / 10));
	return 0;
}

static int word_add(struct composed *all, const struct wish *wish, const char *word, struct error *error)
{
	/* Two with the same name would be summed together. */
	for (unsigned i = 0; i < all->count; i++)
		if (!strcasecmp(all->names[i], wish->name))
			return error_set(error, ERROR_USAGE,
				"event %s is given twice; give it once, with its period", wish->name);
	if (all->count < EVENT_COUNTERS_MAX)
		snprintf(all->names[all->count], sizeof(all->names[0]), "%s", wish->name);
	if (all->count++ == EVENT_COUNTERS_MAX ||
		strlen(all->counters) + strlen(word) >= sizeof(all->counters))
		return error_set(error, ERROR_USAGE,
			"event %s is one too many: at most %u can be counted beside the time source",
			wish->name, EVENT_COUNTERS_MAX);
	strcat(all->counters, word);
	return 0;
}

static int counter_add(struct composed *all, const struct wish *wish, struct error *error)
{
	char word[256];
	int result =
		(events_is_papi(wish->name) ? papi_write : counter_write)(word, sizeof(word), wish, error);

	return result ? result : word_add(all, wish, word, error);
}

/* "cycles,instructions:u,cache-misses:value": the whole list is read. */
static bool is_value(const char *text, size_t length)
{
	size_t end = strlen(VALUE_END);

	return length > end && !strncmp(text + length - end, VALUE_END, end);
}

static int values_add(struct composed *all, const char *text, struct error *error)
{
	const char *end = text + strlen(text) - strlen(VALUE_END);
	int result = 0;

	if (all->groups == EVENTS_GROUPS_MAX)
		return error_set(error, ERROR_USAGE, "event %s is one list too many: give at most %u with %s",
			text, EVENTS_GROUPS_MAX, VALUE_END);
	while (text < end && !result) {
		size_t length = strcspn(text, ",");
		struct wish wish = {.has_rate = false};
		char word[256];

		length = length < (size_t)(end - text) ? length : (size_t)(end - text);
		if (!length || length >= sizeof(wish.name) || memchr(text, '@', length))
			return error_set(error, ERROR_USAGE,
				"event %s: give names separated by commas ahead of %s; what is read has no "
				"period",
				text, VALUE_END);
		/* Whoever says it of each means the same. */
		memcpy(wish.name, text, is_value(text, length) ? length - strlen(VALUE_END) : length);
		result = value_write(word, sizeof(word), &wish, all->groups, error);
		result = result ? result : word_add(all, &wish, word, error);
		text += length + (text[length] == ',');
	}
	all->groups++;
	return result;
}

/* A derived event only sets the sampling rate. */
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
	int result, call = events_called_find(text);

	if (is_value(text, strlen(text)))
		return values_add(all, text, error);
	if (call == EVENTS_CALLED_MPI)
		return mpi_take(all, text, error);
	if (call >= 0) {
		all->calls[call] = true;
		return !strchr(text, '@') ? 0
					  : error_set(error, ERROR_USAGE, "event %s: %s takes no period",
						    text, events_called[call].name);
	}
	result = wish_parse(&wish, asked, text, error);
	if (result)
		return result;
	if (events_is_derived(wish.name))
		return derived_add(all, &wish, error);
	if (!is_time(&wish)) {
		if (!wish.has_rate && asked->counter_rate && rate_parse(&wish, asked->counter_rate))
			return error_set(error, ERROR_USAGE,
				"HPCRUN_PERF_COUNT=%s: give a period, or f and samples a second",
				asked->counter_rate);
		return counter_add(all, &wish, error);
	}
	if (!all->time[0] || all->is_derived) {
		all->is_derived = false;
		all->is_perf = events_known_find(wish.name) != NULL;
		return time_write(all->time, sizeof(all->time), &wish, error);
	}
	if (!asked->is_forced || !events_known_find(wish.name))
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
	int result = 0, size;

	if (asked->rate && rate_parse(&(struct wish){0}, asked->rate))
		return error_set(
			error, ERROR_USAGE, "-c %s: give a period, or f and samples a second", asked->rate);
	for (unsigned i = 0; i < asked->count && !result; i++)
		result = event_add(&all, asked, asked->event[i], error);
	if (!asked->count)
		result = event_add(&all, asked, "CPUTIME", error);
	if (!result && !all.time[0]) /* only counters: a timeline needs a time source */
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
	size = snprintf(to, EVENT_EVENTS_MAX, "%s%s%s%s%s%s%s%s", all.time, all.counters,
		asked->has_switches ? " SWITCHES" : "", all.has_waits ? EVENT_WORD_WAITS : "", calls, all.mpi,
		sampler ? EVENT_WORD_SAMPLER : "", sampler ? sampler : "");
	if (size >= (int)EVENT_EVENTS_MAX)
		return error_set(error, ERROR_USAGE, "-e: these events together are too long; record fewer");
	return 0;
}
