/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadline.h - the time that a picture may take to read, and reads that a key interrupted. progress_keys.h
 * stops a read when a key arrives; the reader then asks here whether to read on with the next picture.
 */
#ifndef TUI_DEADLINE_H
#define TUI_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct session;

struct deadline {
	uint64_t at_ms; /* 0: none */
	bool is_over;
	bool is_patient; /* what begins anew when it is stopped is read to its end: else it might never be */
};

uint64_t deadline_now_ms(void); /* of the monotonic clock */
/* Ends `limit_ms` from now; 0: never. */
struct deadline deadline_in(unsigned limit_ms);
bool deadline_is_past(const struct deadline *deadline);

/* True: `result` is the error of a read that a key interrupted. The read continues with the next picture. */
bool deadline_put_off(struct session *session, int result);
/* The read of a table has failed. True: a key interrupted it; the next picture reads the table again. */
bool deadline_read_later(struct session *session);

#endif
