/* SPDX-License-Identifier: Apache-2.0 */
/* papi.c - see papi.h. */
#include "record/agent/sample/papi.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "record/agent/base/plugin.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/thread.h"

static struct {
	const struct papi_plugin *plugin; /* NULL: not loaded */
	const char *names[EVENT_COUNTERS_MAX];
	char text[EVENT_COUNTERS_MAX][sizeof(((struct event_counter *)0)->name)];
	uint32_t index[EVENT_COUNTERS_MAX]; /* indices in shared->counters */
	unsigned count;
	bool is_forked;
} papi;

static void refused(unsigned i, int error)
{
	struct event_counter *counter = &process.shared->counters[papi.index[i]];

	atomic_store(&counter->error, error < 0 ? error : -error);
	atomic_fetch_add(&counter->refused, 1);
}

static void all_refused(int error)
{
	for (unsigned i = 0; i < papi.count; i++)
		refused(i, error);
}

void papi_open(void)
{
	const char *word = process.settings.events;

	papi.count = 0;
	while (papi.count < EVENT_COUNTERS_MAX && (word = strstr(word, EVENT_WORD_PAPI))) {
		uint32_t index = process.shared->counter_count;
		char *text = papi.text[papi.count];
		size_t length;

		word += strlen(EVENT_WORD_PAPI);
		length = strcspn(word, " ");
		if (index == EVENT_METRICS_MAX || length >= sizeof(papi.text[0]))
			continue;
		memcpy(text, word, length);
		text[length] = '\0';
		memcpy(process.shared->counters[index].name, text, length + 1);
		papi.names[papi.count] = text;
		papi.index[papi.count++] = index;
		process.shared->counter_count = index + 1;
	}
	if (papi.is_forked)
		all_refused(EVENT_PAPI_FORKED);
}

void papi_load(void)
{
	int error = errno, result;

	if (!papi.count)
		return;
	papi.plugin = plugin_find(process.settings.agent, PAPI_PLUGIN_FILE, PAPI_PLUGIN_SYMBOL);
	result = papi.plugin ? papi.plugin->open() : -EVENT_PAPI_MISSING;
	if (result) {
		papi.plugin = NULL;
		all_refused(result == -EVENT_PAPI_MISSING ? result : result - 1000);
	} else if (thread_place.self) {
		papi_arm(thread_place.self);
	}
	errno = error;
}

void papi_forked(void)
{
	papi.is_forked = papi.is_forked || papi.plugin;
	papi.plugin = NULL;
}

void papi_arm(struct thread *t)
{
	int errors[EVENT_COUNTERS_MAX] = {0};
	void *set;

	t->papi = NULL;
	if (!papi.plugin)
		return;
	memset(t->papi_seen, 0, sizeof(t->papi_seen));
	set = papi.plugin->begin(papi.names, papi.count, errors);
	for (unsigned i = 0; i < papi.count; i++)
		if (errors[i])
			refused(i, errors[i] - 1000);
	atomic_signal_fence(memory_order_seq_cst);
	t->papi = set;
}

void papi_take(struct thread *t, uint64_t now_ns)
{
	uint64_t values[EVENT_COUNTERS_MAX] = {0};
	struct event_value *record;

	if (!t->papi || papi.plugin->read(t->papi, values))
		return;
	for (unsigned i = 0; i < papi.count; i++) {
		if (values[i] <= t->papi_seen[i])
			continue;
		if (!ring_begin(&t->ring, sizeof(*record), sizeof(*record), now_ns))
			break; /* the next sample publishes it */
		record = ring_put(&t->ring, EVENT_VALUE, 0, t->node, sizeof(*record));
		record->time_ns = now_ns;
		record->value = values[i] - t->papi_seen[i];
		record->metric = papi.index[i] + 1;
		record->_pad = 0;
		ring_commit(&t->ring);
		t->papi_seen[i] = values[i];
	}
}

void papi_disarm(struct thread *t)
{
	void *set = t->papi;

	if (!set)
		return;
	if (ring_enter(&t->ring)) {
		papi_take(t, process_now_ns());
		ring_leave(&t->ring);
	}
	t->papi = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	papi.plugin->end(set);
}
