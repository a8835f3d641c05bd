/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_list.c - see gauge_list.h. */
#include "record/gauges/gauge_list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NS UINT64_C(100000000)
#define LEAST_NS UINT64_C(1000000)
#define MOST_NS UINT64_C(60000000000)
#define WORD_BYTES 64u

#define KIND_GAUGE STORE_METRIC_GAUGE, false
#define KIND_REAL STORE_METRIC_GAUGE, true
#define KIND_COUNTER STORE_METRIC_COUNTER, false

const struct gauge_name gauge_names[GAUGE_COUNT] = {
#define X(id, name, unit, kind, scope, slow, text) {name, unit, text, KIND_##kind, slow, GAUGE_##scope},
	GAUGES(X)
#undef X
};

struct gauges_asked gauges_default(void)
{
	return (struct gauges_asked){.interval_ns = DEFAULT_NS, .wanted = UINT64_MAX};
}

/* 10Hz, 1kHz, 100ms, 500us, 1s; false: no rate. */
static bool rate_read(uint64_t *interval_ns, const char *word)
{
	static const struct {
		const char *name;
		double ns; /* of one; negative: of one per second */
	} units[] = {{"Hz", -1e9}, {"kHz", -1e6}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
	char *unit;
	double number = strtod(word, &unit), ns = 0;

	if (unit == word || !(number > 0))
		return false;
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			ns = units[i].ns < 0 ? -units[i].ns / number : units[i].ns * number;
	*interval_ns = ns > 0 && ns < 1e18 ? (uint64_t)(ns + 0.5) : 0;
	return ns > 0;
}

static uint64_t names_find(const char *pattern)
{
	uint64_t found = 0;

	for (unsigned i = 0; i < GAUGE_COUNT; i++)
		if (!fnmatch(pattern, gauge_names[i].name, 0))
			found |= UINT64_C(1) << i;
	if (!fnmatch(pattern, "core0_busy", 0) || !strcmp(pattern, "cores"))
		found |= UINT64_C(1) << GAUGE_CORE_BIT;
	return found;
}

static int word_take(struct gauges_asked *asked, uint64_t *names, const char *word, struct error *error)
{
	uint64_t found;

	if (rate_read(&asked->interval_ns, word)) {
		asked->is_exact = true;
		return asked->interval_ns >= LEAST_NS && asked->interval_ns <= MOST_NS
			       ? 0
			       : error_set(error, ERROR_USAGE,
					 "--gauges %s: give a rate from one a minute (60s) to 1kHz", word);
	}
	found = names_find(word);
	*names |= found;
	return found ? 0
		     : error_set(error, ERROR_USAGE,
			       "--gauges %s: there is no such figure; give off, a rate such as 10Hz or "
			       "100ms, or names "
			       "that hpct-record --list shows, separated by commas",
			       word);
}

int gauges_parse(struct gauges_asked *asked, const char *text, struct error *error)
{
	uint64_t names = 0;

	*asked = gauges_default();
	if (!strcmp(text, "off")) {
		asked->interval_ns = 0;
		return 0;
	}
	while (*text) {
		size_t size = strcspn(text, ",");
		char word[WORD_BYTES];
		int result;

		snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word), text);
		result = word_take(asked, &names, word, error);
		if (result)
			return result;
		text += size + (text[size] == ',');
	}
	asked->wanted = names ? names : asked->wanted;
	return 0;
}

void gauges_print(FILE *out)
{
	static const char *const scopes[] = {"host", "process", "device"};

	for (unsigned i = 0; i < GAUGE_COUNT; i++)
		fprintf(out, "  %-20s %-4s %-8s %s\n", gauge_names[i].name, gauge_names[i].unit,
			scopes[gauge_names[i].scope], gauge_names[i].text);
	fprintf(out, "  %-20s %-4s %-8s %s\n", "coreN_busy", "ns", "host",
		"CPU time of core N (the first 64)");
}
