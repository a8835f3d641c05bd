/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device behind the fake Level Zero driver: queues that run one
 * operation after the other on a time line computed ahead, a clock of any offset,
 * frequency and width, events whose state depends on what time it is. Nothing runs:
 * an operation ends when its time has come.
 *
 * FAKE_LEVEL0 scripts it, words separated by spaces:
 *   devices=N          (2)
 *   frequency=HZ       (12500000) of the device's clock
 *   bits=N             (64) of its global timestamps
 *   kernel_bits=N      (32) of the timestamps in events
 *   offset=TICKS       (1e9) what the clock says when the driver is loaded
 *   host_offset=NS     (0) of the host's clock as the driver reads it, from CLOCK_MONOTONIC
 *   fill_ns= copy_ns=  (50000) how long they take; a kernel says it by its name: NAME_500us
 *   zero=N inverted=N  every N-th timed operation reports no times, or begin and end exchanged
 *   fail=init          zeInit finds no device
 * FAKE_LEVEL0_LOG names a file that gets the truth, a line per operation:
 *   kind, name, device, queue, begin, end (CLOCK_MONOTONIC ns), bytes, odd (0, zero, inverted)
 */
#ifndef TESTS_LEVEL0_DEVICE_H
#define TESTS_LEVEL0_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_WAITS 64

struct fake_script {
	uint64_t devices, frequency, bits, kernel_bits, offset, fill_ns, copy_ns, zero, inverted;
	int64_t host_offset;
	bool fail_init;
};

extern struct fake_script fake_script;

/* What an event was told, in time: the last change that is not in the future is its state. */
struct fake_change {
	uint64_t at_ns;
	bool signaled;
	uint64_t begin_ticks, end_ticks;
};

struct fake_event {
	struct fake_change changes[16];
	unsigned count;
};

enum fake_kind { FAKE_KERNEL, FAKE_COPY, FAKE_FILL, FAKE_SIGNAL, FAKE_RESET, FAKE_WAIT, FAKE_READ };

struct fake_operation {
	enum fake_kind kind;
	char name[64];
	uint64_t duration_ns, bytes, submitted_ns;
	struct fake_event *signal; /* told at the end; FAKE_RESET: told to be unsignaled */
	struct fake_event *waits[FAKE_WAITS];
	unsigned wait_count;
	void *to; /* FAKE_COPY, FAKE_READ */
	const void *from;
	struct fake_event **read; /* FAKE_READ: events whose times go to `to`, two words of each */
	unsigned read_count;
};

struct fake_queue;

/* From the environment; once. */
void fake_open(void);

struct fake_queue *fake_queue_new(uint32_t device, uint32_t number);
void fake_queue_free(struct fake_queue *queue);

/* Copies the operation to the end of the queue. */
void fake_queue_put(struct fake_queue *queue, const struct fake_operation *operation);
bool fake_queue_is_idle(struct fake_queue *queue);

bool fake_event_is_signaled(struct fake_event *event, uint64_t begin_end[2]);
void fake_event_set(struct fake_event *event, bool signaled);

uint64_t fake_now_ns(void);
uint64_t fake_device_ticks(uint64_t at_ns);

/* Sleeps until `done` says so or the time is over; false: it is over. */
bool fake_wait(bool (*done)(void *), void *what, uint64_t timeout_ns);

#endif
