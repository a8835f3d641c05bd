/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - see device.h. One lock for everything: this is a test's device. */
#include "tests/level0/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_queue {
	struct fake_queue *next;
	uint32_t device, number;
	uint64_t free_at_ns;
	struct fake_operation *operations;
	unsigned begin, end, room;
};

struct fake_script fake_script = {.devices = 2,
	.frequency = 12500000,
	.bits = 64,
	.kernel_bits = 32,
	.offset = 1000000000,
	.fill_ns = 50000,
	.copy_ns = 50000};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_queue *queues;
static uint64_t loaded_ns, timed;
static FILE *truth;

uint64_t fake_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t mask(uint64_t bits)
{
	return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t ticks(uint64_t at_ns)
{
	return fake_script.offset +
	       (uint64_t)((unsigned __int128)(at_ns - loaded_ns) * fake_script.frequency / 1000000000u);
}

uint64_t fake_device_ticks(uint64_t at_ns)
{
	return ticks(at_ns) & mask(fake_script.bits);
}

static void script_word(const char *word)
{
	static const struct {
		const char *name;
		uint64_t *value;
	} words[] = {{"devices", &fake_script.devices}, {"frequency", &fake_script.frequency},
		{"bits", &fake_script.bits}, {"kernel_bits", &fake_script.kernel_bits},
		{"offset", &fake_script.offset}, {"fill_ns", &fake_script.fill_ns},
		{"copy_ns", &fake_script.copy_ns}, {"zero", &fake_script.zero},
		{"inverted", &fake_script.inverted}};
	const char *value = strchr(word, '=');

	for (unsigned i = 0; value && i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].name) == (size_t)(value - word) &&
			!strncmp(words[i].name, word, (size_t)(value - word)))
			*words[i].value = strtoull(value + 1, NULL, 10);
	if (!strncmp(word, "host_offset=", 12))
		fake_script.host_offset = strtoll(word + 12, NULL, 10);
	if (!strcmp(word, "fail=init"))
		fake_script.fail_init = true;
}

void fake_open(void)
{
	const char *script = getenv("FAKE_LEVEL0"), *log = getenv("FAKE_LEVEL0_LOG");
	char *copy, *rest;

	if (loaded_ns)
		return;
	rest = copy = strdup(script ? script : "");
	for (char *word; (word = strtok_r(rest, " ", &rest));)
		script_word(word);
	free(copy);
	truth = log ? fopen(log, "ae") : NULL;
	loaded_ns = fake_now_ns();
}

static void event_change(struct fake_event *event, const struct fake_change *change)
{
	unsigned room = sizeof(event->changes) / sizeof(*event->changes);

	if (event->count == room)
		memmove(event->changes, event->changes + 1, --event->count * sizeof(*event->changes));
	event->changes[event->count++] = *change;
}

static const struct fake_change *event_state(const struct fake_event *event, uint64_t at_ns)
{
	for (unsigned i = event->count; i-- > 0;)
		if (event->changes[i].at_ns <= at_ns)
			return &event->changes[i];
	return NULL;
}

bool fake_event_is_signaled(struct fake_event *event, uint64_t begin_end[2])
{
	const struct fake_change *state;
	bool signaled;

	pthread_mutex_lock(&lock);
	state = event_state(event, fake_now_ns());
	signaled = state && state->signaled;
	if (signaled && begin_end) {
		begin_end[0] = state->begin_ticks;
		begin_end[1] = state->end_ticks;
	}
	pthread_mutex_unlock(&lock);
	return signaled;
}

/* When all that it waits for will be there; false: not known yet. */
static bool ready_at(const struct fake_operation *operation, uint64_t *at_ns)
{
	for (unsigned i = 0; i < operation->wait_count; i++) {
		const struct fake_event *event = operation->waits[i];
		const struct fake_change *last = event->count ? &event->changes[event->count - 1] : NULL;

		if (!last || !last->signaled)
			return false;
		if (last->at_ns > *at_ns)
			*at_ns = last->at_ns;
	}
	return true;
}

static void tell_truth(const struct fake_queue *queue, const struct fake_operation *operation,
	uint64_t begin_ns, uint64_t end_ns, const char *odd)
{
	static const char *const kinds[] = {"kernel", "copy", "set"};

	if (!truth || operation->kind > FAKE_FILL)
		return;
	fprintf(truth, "%s\t%s\t%u\t%u\t%llu\t%llu\t%llu\t%s\n", kinds[operation->kind], operation->name,
		queue->device, queue->number, (unsigned long long)begin_ns, (unsigned long long)end_ns,
		(unsigned long long)operation->bytes, odd);
	fflush(truth);
}

static void read_times(const struct fake_operation *operation, uint64_t at_ns)
{
	uint64_t *to = operation->to;

	for (unsigned i = 0; i < operation->read_count; i++) {
		const struct fake_change *state = event_state(operation->read[i], at_ns);

		for (unsigned k = 0; k < 2; k++) { /* global, context */
			to[4 * i + 2 * k] = state ? state->begin_ticks : 0;
			to[4 * i + 2 * k + 1] = state ? state->end_ticks : 0;
		}
	}
}

static void run(struct fake_queue *queue, struct fake_operation *operation, uint64_t begin_ns)
{
	uint64_t end_ns = begin_ns + operation->duration_ns;
	struct fake_change change = {end_ns, operation->kind != FAKE_RESET,
		ticks(begin_ns) & mask(fake_script.kernel_bits),
		ticks(end_ns) & mask(fake_script.kernel_bits)};
	const char *odd = "0";

	queue->free_at_ns = end_ns;
	if (operation->kind <= FAKE_FILL) {
		timed++;
		if (fake_script.zero && timed % fake_script.zero == 0) {
			change.begin_ticks = change.end_ticks = 0;
			odd = "zero";
		} else if (fake_script.inverted && timed % fake_script.inverted == 0) {
			uint64_t begin_ticks = change.begin_ticks;

			change.begin_ticks = change.end_ticks;
			change.end_ticks = begin_ticks;
			odd = "inverted";
		}
	}
	if (operation->kind == FAKE_COPY && operation->to && operation->from)
		memcpy(operation->to, operation->from, operation->bytes);
	if (operation->kind == FAKE_READ)
		read_times(operation, begin_ns);
	if (operation->signal)
		event_change(operation->signal, &change);
	tell_truth(queue, operation, begin_ns, end_ns, odd);
}

/* Gives a time to every operation that can have one. */
static void advance(void)
{
	for (bool progress = true; progress;) {
		progress = false;
		for (struct fake_queue *queue = queues; queue; queue = queue->next)
			while (queue->begin < queue->end) {
				struct fake_operation *operation = &queue->operations[queue->begin];
				uint64_t begin_ns = operation->submitted_ns;

				if (queue->free_at_ns > begin_ns)
					begin_ns = queue->free_at_ns;
				if (!ready_at(operation, &begin_ns))
					break;
				run(queue, operation, begin_ns);
				queue->begin++;
				progress = true;
			}
	}
}

void fake_event_set(struct fake_event *event, bool signaled)
{
	pthread_mutex_lock(&lock);
	if (!signaled)
		event->count = 0;
	event_change(event, &(struct fake_change){.at_ns = fake_now_ns(), .signaled = signaled});
	advance();
	pthread_mutex_unlock(&lock);
}

struct fake_queue *fake_queue_new(uint32_t device, uint32_t number)
{
	struct fake_queue *queue = calloc(1, sizeof(*queue));

	queue->device = device;
	queue->number = number;
	pthread_mutex_lock(&lock);
	queue->next = queues;
	queues = queue;
	pthread_mutex_unlock(&lock);
	return queue;
}

void fake_queue_free(struct fake_queue *queue)
{
	pthread_mutex_lock(&lock);
	for (struct fake_queue **at = &queues; *at; at = &(*at)->next)
		if (*at == queue) {
			*at = queue->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(queue->operations);
	free(queue);
}

void fake_queue_put(struct fake_queue *queue, const struct fake_operation *operation)
{
	pthread_mutex_lock(&lock);
	if (queue->end == queue->room && queue->begin) {
		queue->end -= queue->begin;
		memmove(queue->operations, queue->operations + queue->begin, queue->end * sizeof(*operation));
		queue->begin = 0;
	}
	if (queue->end == queue->room) {
		queue->room = queue->room ? 2 * queue->room : 64;
		queue->operations = realloc(queue->operations, queue->room * sizeof(*operation));
	}
	queue->operations[queue->end] = *operation;
	queue->operations[queue->end++].submitted_ns = fake_now_ns();
	advance();
	pthread_mutex_unlock(&lock);
}

bool fake_queue_is_idle(struct fake_queue *queue)
{
	bool idle;

	pthread_mutex_lock(&lock);
	idle = queue->begin == queue->end && queue->free_at_ns <= fake_now_ns();
	pthread_mutex_unlock(&lock);
	return idle;
}

bool fake_wait(bool (*done)(void *), void *what, uint64_t timeout_ns)
{
	uint64_t begin_ns = fake_now_ns();
	struct timespec pause = {0, 50000};

	while (!done(what)) {
		if (fake_now_ns() - begin_ns >= timeout_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}
