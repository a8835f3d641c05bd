/* SPDX-License-Identifier: Apache-2.0 */
/* switch_reader.c - see switch_reader.h. */
#include "record/process/switch_reader.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/base/detach.h"
#include "record/process/switches_internal.h"

#define STACK_BYTES (128u * 1024u)
/* A thread publishes one wait per 20 us at most: after so many records a quarter of its ring may be
 * filled. */
#define MUCH 2048u
#define MUCH_NS UINT64_C(20000000)
#define POLLED_ALL 512u /* further rings are read by the collector */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Signals that there is something to read, or never will be. */
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static struct {
	struct switches *first; /* all that are watched */
	uint64_t forgotten;	/* number of removals: a descriptor may have been reused since */
	bool is_ending;
	bool is_there;
	pthread_t thread;
	int news; /* eventfd: the poll set has changed */
	int much; /* eventfd for the collector: many records were read */
} reader = {.news = -1, .much = -1};

void switch_reader_lock(void)
{
	pthread_mutex_lock(&lock);
}

void switch_reader_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static unsigned rings_list(struct pollfd *polled)
{
	unsigned count = 0;

	polled[count++] = (struct pollfd){reader.news, POLLIN, 0};
	for (const struct switches *at = reader.first; at && count < POLLED_ALL; at = at->next)
		count += switches_poll(at, polled + count, POLLED_ALL - count);
	return count;
}

static void wake(int event)
{
	if (event >= 0 && eventfd_write(event, 1))
		return; /* the last signal is not taken yet */
}

static void event_clear(int event)
{
	eventfd_t times;

	if (event >= 0 && eventfd_read(event, &times))
		return; /* no signal is pending */
}

/* Reads the rings that poll returned. */
static void rings_read(const struct pollfd *polled, unsigned count, bool may_close)
{
	uint64_t now_ns = clock_now_ns();
	bool is_much = false;

	for (struct switches *at = reader.first; at; at = at->next) {
		switches_polled(at, polled, count, may_close);
		is_much |= at->fresh.count >= MUCH && now_ns - at->read_ns >= MUCH_NS;
	}
	if (is_much)
		wake(reader.much);
}

static void *reader_run(void *unused)
{
	struct pollfd polled[POLLED_ALL];
	uint64_t forgotten;
	unsigned count;

	(void)unused;
	detach_thread(0);
	switch_reader_lock();
	while (!reader.first && !reader.is_ending)
		pthread_cond_wait(&begun, &lock);
	while (!reader.is_ending) {
		forgotten = reader.forgotten;
		count = rings_list(polled);
		switch_reader_unlock();
		poll(polled, count, -1);
		event_clear(reader.news);
		switch_reader_lock();
		rings_read(polled + 1, count - 1, forgotten == reader.forgotten);
	}
	switch_reader_unlock();
	return NULL;
}

static void events_close(void)
{
	if (reader.news >= 0)
		close(reader.news);
	if (reader.much >= 0)
		close(reader.much);
	reader.news = reader.much = -1;
}

/* Created with the first ring: if descriptors are short, others need them more. */
static bool events_open(void)
{
	if (reader.news >= 0)
		return true;
	reader.news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	reader.much = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader.news >= 0 && reader.much >= 0)
		return true;
	events_close();
	return false;
}

int switch_reader_start(void)
{
	pthread_attr_t attributes;

	reader.is_ending = false;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	reader.is_there = !pthread_create(&reader.thread, &attributes, reader_run, NULL);
	pthread_attr_destroy(&attributes);
	return reader.is_there ? 0 : -1;
}

bool switch_reader_is_there(void)
{
	return reader.is_there && reader.news >= 0;
}

void switch_reader_stop(void)
{
	if (!reader.is_there)
		return;
	switch_reader_lock();
	reader.is_ending = true;
	pthread_cond_signal(&begun);
	switch_reader_unlock();
	wake(reader.news);
	pthread_join(reader.thread, NULL);
	reader.is_there = false;
	events_close();
}

int switch_reader_descriptor(void)
{
	return reader.much;
}

void switch_reader_event_clear(void)
{
	event_clear(reader.much);
}

void switch_reader_watch(struct switches *switches)
{
	switch_reader_lock();
	if (!switches->is_watched && reader.is_there && events_open()) {
		switches->next = reader.first;
		reader.first = switches;
		switches->is_watched = true;
		pthread_cond_signal(&begun);
	}
	switch_reader_unlock();
	wake(reader.news);
}

void switch_reader_renew(void)
{
	switch_reader_lock();
	reader.forgotten++;
	switch_reader_unlock();
	wake(reader.news);
}

void switch_reader_forget(struct switches *switches)
{
	struct switches **link = &reader.first;

	switch_reader_lock();
	while (*link && *link != switches)
		link = &(*link)->next;
	if (*link)
		*link = switches->next;
	switches->is_watched = false;
	switch_reader_unlock();
	switch_reader_renew();
}
