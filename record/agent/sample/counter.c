/* SPDX-License-Identifier: Apache-2.0 */
/* counter.c - see counter.h. The mapping keeps the event alive, so no descriptor stays open. */
#include "record/agent/sample/counter.h"
#include "record/agent/base/hot_section.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/perf.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/thread.h"

#define PRECISION_MOST 3u /* more means the maximum available */

/* One counter's settings in HPCT_EVENTS. */
struct counter {
	uint64_t type, config[3], period;
	bool is_frequency, user, kernel, hypervisor;
	unsigned precision;
};

static struct counter counters[EVENT_COUNTERS_MAX];
static HOT_DATA unsigned count;
static bool is_on; /* not before the agent has finished its own start */

unsigned counter_count(void)
{
	return count;
}

/* "1:2:0:0:1:fup", up to the blank. */
static void counter_parse(struct counter *counter, const char *text)
{
	uint64_t *numbers[] = {&counter->type, &counter->config[0], &counter->config[1], &counter->config[2],
		&counter->period};
	char *end;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		*numbers[i] = strtoull(text, &end, 16);
		text = *end == ':' ? end + 1 : end;
	}
	for (; *text && *text != ' '; text++) {
		counter->is_frequency |= *text == 'f';
		counter->user |= *text == 'u';
		counter->kernel |= *text == 'k';
		counter->hypervisor |= *text == 'h';
		counter->precision += *text == 'p';
	}
	if (!counter->user && !counter->kernel && !counter->hypervisor)
		counter->user = counter->kernel = counter->hypervisor = true;
}

static void name_set(struct event_counter *shared, const char *word, size_t length)
{
	if (length >= sizeof(shared->name))
		length = sizeof(shared->name) - 1;
	memcpy(shared->name, word, length);
}

/* The time source, the first word, has no '='. */
void counter_open(void)
{
	const char *word = process.settings.events;
	int reason;

	count = 0;
	is_on = false;
	for (size_t length; *word && count < EVENT_COUNTERS_MAX; word += length) {
		const char *is = NULL;

		word += *word == ' ';
		length = strcspn(word, " ");
		for (size_t i = 0; i < length; i++)
			if (word[i] == '=')
				is = word + i;
		if (!is || !strncmp(word, &EVENT_WORD_PAPI[1], strlen(EVENT_WORD_PAPI) - 1) ||
			!strncmp(word, &EVENT_WORD_VALUE[1], strlen(EVENT_WORD_VALUE) - 1) ||
			!memchr(is, ':', length - (size_t)(is - word)))
			continue; /* "BY=trap", "gpu=auto" */
		counters[count] = (struct counter){0};
		counter_parse(&counters[count], is + 1);
		name_set(&process.shared->counters[count++], word, (size_t)(is - word));
	}
	process.shared->counter_count = count;
	tally_open();
	reason = count ? source_trap_prepare() : 0;
	for (unsigned i = 0; reason && i < count; i++) {
		process.shared->counters[i].refused = 1;
		process.shared->counters[i].error = reason < 0 ? -reason : -reason - 1000;
	}
	if (reason)
		count = 0;
}

static int event_open(const struct counter *counter, unsigned index, bool with_kernel, unsigned precision)
{
	union perf_attributes all = {.attr = {.type = (uint32_t)counter->type,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = counter->config[0],
					     .config1 = counter->config[1],
					     .config2 = counter->config[2],
					     .sample_period = counter->period,
					     .freq = counter->is_frequency,
					     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ,
					     .exclude_user = !counter->user,
					     .exclude_kernel = !counter->kernel || !with_kernel,
					     .exclude_hv = !counter->hypervisor || !with_kernel,
					     .precise_ip = precision & 3u}};

	all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP | PERF_REMOVE_ON_EXEC;
	all.words[PERF_SIG_DATA_WORD] = source_trap_data(index + 1);
	return (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The header page and one page of records. */
static size_t ring_bytes(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

/* Opens the event and maps its ring; or NULL. */
static void *counter_start(const struct counter *counter, unsigned index)
{
	unsigned precision = counter->precision > PRECISION_MOST ? PRECISION_MOST : counter->precision;
	bool with_kernel = true;
	int event = event_open(counter, index, with_kernel, precision);
	void *ring;

	if (event < 0 && (errno == EACCES || errno == EPERM) && counter->user)
		event = event_open(counter, index, with_kernel = false, precision);
	while (event < 0 && counter->precision > PRECISION_MOST && precision)
		event = event_open(counter, index, with_kernel, --precision);
	if (event < 0)
		return NULL;
	ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	close(event);
	if (ring == MAP_FAILED)
		return NULL;
	madvise(ring, ring_bytes(), MADV_DONTFORK);
	return ring;
}

void counter_begin(struct thread *t)
{
	is_on = true;
	counter_arm(t);
}

void counter_arm(struct thread *t)
{
	if (!count || !is_on)
		return;
	source_trap_thread_add(t);
	for (unsigned i = 0; i < count; i++) {
		t->counted[i] = 0;
		t->counters[i] = counter_start(&counters[i], i);
		if (t->counters[i])
			continue;
		atomic_store(&process.shared->counters[i].error, errno);
		atomic_fetch_add(&process.shared->counters[i].refused, 1);
	}
}

void counter_disarm(struct thread *t)
{
	for (unsigned i = 0; i < count; i++) {
		void *ring = t->counters[i];

		t->counters[i] = NULL;
		atomic_signal_fence(memory_order_seq_cst);
		if (ring)
			munmap(ring, ring_bytes());
	}
	if (count && is_on)
		source_trap_thread_remove();
}

/* The counter's increase since the last call, by the count in each record; empties the ring. Excludes hits
 * in the agent's own code. Words never wrap around in the ring, records do. */
static uint64_t ring_take(struct perf_event_mmap_page *page, uint64_t *seen, const struct unwind_space *space)
{
	size_t bytes = ring_bytes() / 2;
	const char *data = (const char *)page + bytes;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail, sum = 0;

	while (head - tail >= sizeof(struct perf_event_header) && head - tail <= bytes) {
		struct perf_event_header header;
		uint64_t words[2]; /* address and count */

		memcpy(&header, data + tail % bytes, sizeof(header));
		if (header.size < sizeof(header) + sizeof(words) || header.size > head - tail)
			break;
		for (unsigned i = 0; i < 2; i++)
			memcpy(&words[i], data + (tail + sizeof(header) + 8 * i) % bytes, sizeof(words[i]));
		tail += header.size;
		if (header.type != PERF_RECORD_SAMPLE || words[1] <= *seen)
			continue;
		if (words[0] < space->hidden_begin || words[0] >= space->hidden_end)
			sum += words[1] - *seen;
		*seen = words[1];
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return sum;
}

static bool is_empty(const struct perf_event_mmap_page *ring)
{
	return __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) == ring->data_tail;
}

static void counter_take(struct thread *t, unsigned index, const ucontext_t *context)
{
	uint64_t *seen = &t->counted[index], value = ring_take(t->counters[index], seen, &t->unwinder.space);

	if (value)
		sample_take_counter(t, context, index, value);
}

HOT void counters_take(struct thread *t, const ucontext_t *context)
{
	/* The thread is publishing: the counts wait in their rings for the next trap. */
	if (t->ring.busy)
		return;
	for (unsigned i = 0; i < count; i++)
		if (t->counters[i] && !is_empty(t->counters[i]))
			counter_take(t, i, context);
	/* Exclude what the handler caused. */
	for (unsigned i = 0; i < count; i++)
		if (t->counters[i] && !is_empty(t->counters[i]))
			ring_take(t->counters[i], &t->counted[i], &t->unwinder.space);
}
