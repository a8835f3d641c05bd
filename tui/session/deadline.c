/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.c - see deadline.h. */
#include "tui/session/deadline.h"

#include <time.h>

#include "timeline/base/progress.h"
#include "tui/session/session.h"

uint64_t deadline_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct deadline deadline_in(unsigned limit_ms)
{
	return (struct deadline){.at_ms = limit_ms ? deadline_now_ms() + limit_ms : 0};
}

bool deadline_is_past(const struct deadline *deadline)
{
	return deadline->at_ms && deadline_now_ms() >= deadline->at_ms;
}

bool deadline_put_off(struct session *session, int result)
{
	bool is_put_off = result < 0 && session->is_put_off;

	session->is_put_off = false;
	if (is_put_off)
		progress_go_on();
	return is_put_off;
}

bool deadline_read_later(struct session *session)
{
	if (!deadline_put_off(session, -1))
		return false;
	session->is_unread = true;
	return true;
}
