/* SPDX-License-Identifier: Apache-2.0 */
/* wait_paths.c - see wait_paths.h. */
#include "record/kernel/wait_paths.h"

#include "record/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#define HELD_MAX 65536u
#define KNOWN_MAX 65536u
#define RETURN_NS UINT64_C(20000000) /* a thread may be preempted between its switch-in and the record */
#define NESTED_MAX 8u		     /* nested waits, of signal handlers */

void wait_paths_fini(struct wait_paths *waits)
{
	free(waits->known);
	free(waits->held);
	free(waits->returns);
}

void wait_paths_clear(struct wait_paths *waits)
{
	*waits = (struct wait_paths){.known = waits->known,
		.known_capacity = waits->known_capacity,
		.held = waits->held,
		.held_capacity = waits->held_capacity,
		.returns = waits->returns,
		.return_capacity = waits->return_capacity};
}

static bool room_make(void **list, uint32_t count, uint32_t *room, uint32_t most, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 16;
	void *grown;

	if (count < *room)
		return true;
	grown = wanted <= most ? realloc(*list, wanted * size) : NULL;
	if (!grown)
		return false;
	*list = grown;
	*room = wanted;
	return true;
}

void wait_paths_look(struct wait_paths *waits, uint64_t since_ns)
{
	waits->since_ns = since_ns;
}

void wait_paths_add(struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns, uint32_t context)
{
	if (room_make((void **)&waits->known, waits->known_count, &waits->known_capacity, KNOWN_MAX,
		    sizeof(*waits->known)))
		waits->known[waits->known_count++] = (struct wait_known){begin_ns, end_ns, context};
}

void wait_paths_return(struct wait_paths *waits, uint64_t time_ns, uint32_t context)
{
	if (room_make((void **)&waits->returns, waits->return_count, &waits->return_capacity, KNOWN_MAX,
		    sizeof(*waits->returns)))
		waits->returns[waits->return_count++] = (struct wait_return){time_ns, context};
}

/* Path of the return for a span that ended then: the first one that follows. Returns are ordered by time
 * if the program is honest; a dishonest one only gets wrong paths of its own. */
static uint32_t return_context(const struct wait_paths *waits, uint64_t end_ns, uint64_t until_ns)
{
	uint32_t low = 0, high = waits->return_count;
	const struct wait_return *found;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (waits->returns[middle].time_ns < end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == waits->return_count)
		return STORE_CONTEXT_NONE;
	found = &waits->returns[low];
	return found->time_ns < until_ns && found->time_ns - end_ns < RETURN_NS ? found->context
										: STORE_CONTEXT_NONE;
}

static void returns_forget(struct wait_paths *waits, uint64_t known_ns)
{
	uint32_t old = 0;

	while (old < waits->return_count && waits->returns[old].time_ns + RETURN_NS < known_ns)
		old++;
	if (!old)
		return;
	waits->return_count -= old;
	memmove(waits->returns, waits->returns + old, waits->return_count * sizeof(*waits->returns));
}

/* Index of the first wait that ends after a time: they are ordered by end. */
static uint32_t known_after(const struct wait_paths *waits, uint64_t time_ns)
{
	uint32_t low = 0, high = waits->known_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (waits->known[middle].end_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void wait_paths_remote_put(struct wait_paths *waits, uint64_t since_ns, uint64_t looked_ns, uint32_t context)
{
	waits->remote_ns = since_ns;
	waits->looked_ns = looked_ns;
	waits->remote_context = context;
}

void wait_paths_stopped_put(struct wait_paths *waits, uint64_t out_ns, uint64_t looked_ns, uint32_t context)
{
	waits->stopped_ns = out_ns;
	waits->stop_seen_ns = looked_ns;
	waits->stopped_context = context;
}

uint32_t wait_paths_context(const struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t first = known_after(waits, begin_ns);

	if (waits->stopped_ns && begin_ns == waits->stopped_ns && end_ns >= waits->stop_seen_ns)
		return waits->stopped_context;
	for (uint32_t i = first; i < waits->known_count && i - first < NESTED_MAX; i++)
		if (waits->known[i].begin_ns <= begin_ns)
			return waits->known[i].context;
	if ((begin_ns == waits->remote_ns && end_ns >= waits->looked_ns) ||
		(begin_ns > waits->remote_ns && waits->since_ns == waits->remote_ns))
		return waits->remote_context;
	return STORE_CONTEXT_NONE;
}

static void span_put(const struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct wait_held *held)
{
	struct store_record span = held->span;

	if (!span.context)
		span.context = wait_paths_context(waits, span.begin_ns, span.end_ns);
	if (!span.context && span.what == STORE_OP_BLOCKED)
		span.context = return_context(waits, span.end_ns, held->until_ns);
	if (span.context && held->depth)
		span.context = kernel_context(writer, span.context, held->address, held->depth);
	if (held->is_shown)
		store_writer_span_close(writer, stream, WAIT_PATHS_HANDLE_SWITCH + span.begin_ns, &span);
	else
		store_writer_append(writer, stream, STORE_SPANS, &span, 1);
}

/* True if the wait that the span belongs to may still be published. */
static bool is_undecided(const struct wait_paths *waits, const struct store_record *span)
{
	return waits->since_ns && span->begin_ns >= waits->since_ns;
}

void wait_paths_put(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span, bool is_shown, const struct kernel_callchain *callchain,
	uint64_t until_ns)
{
	struct wait_held held;

	held.span = *span;
	held.until_ns = until_ns;
	held.is_shown = is_shown;
	held.depth = callchain ? callchain->depth : 0;
	/* Another stop may follow before the wait is published. */
	if (!span->context && waits->stopped_ns == span->begin_ns)
		held.span.context = wait_paths_context(waits, span->begin_ns, span->end_ns);
	if (held.depth)
		memcpy(held.address, callchain->address, held.depth * sizeof(*held.address));

	if (is_undecided(waits, span) && room_make((void **)&waits->held, waits->held_count,
						 &waits->held_capacity, HELD_MAX, sizeof(*waits->held)))
		waits->held[waits->held_count++] = held;
	else
		span_put(waits, writer, stream, &held);
}

static void known_forget(struct wait_paths *waits, uint64_t known_ns)
{
	uint32_t first = known_after(waits, known_ns);

	if (!first)
		return;
	waits->known_count -= first;
	memmove(waits->known, waits->known + first, waits->known_count * sizeof(*waits->known));
}

void wait_paths_settle(
	struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t known_ns)
{
	bool is_late = known_ns > waits->since_ns && known_ns - waits->since_ns > WAIT_PATHS_KEPT_NS;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < waits->held_count; i++) {
		if (!is_late && is_undecided(waits, &waits->held[i].span))
			waits->held[kept++] = waits->held[i];
		else
			span_put(waits, writer, stream, &waits->held[i]);
	}
	waits->held_count = kept;
	returns_forget(waits, kept ? waits->held[0].span.begin_ns : known_ns);
	known_forget(waits,
		kept && waits->held[0].span.begin_ns < known_ns ? waits->held[0].span.begin_ns : known_ns);
}

uint64_t wait_paths_complete(const struct wait_paths *waits, uint64_t before_ns)
{
	return waits->held_count && waits->held[0].span.begin_ns < before_ns ? waits->held[0].span.begin_ns
									     : before_ns;
}

uint64_t wait_paths_blocked_since(const struct wait_paths *waits, uint64_t out_ns)
{
	return waits->since_ns ? waits->since_ns : out_ns;
}

static void show_end(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span)
{
	store_writer_span_close(writer, stream, WAIT_PATHS_HANDLE_WAIT + waits->shown_ns, span);
	waits->shown_ns = 0;
}

void wait_paths_show(struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t now_ns)
{
	struct store_record span = {.begin_ns = waits->since_ns,
		.end_ns = STORE_OPEN_NS,
		.context = wait_paths_context(waits, waits->since_ns, STORE_OPEN_NS),
		.what = STORE_OP_BLOCKED};

	if (waits->shown_ns && waits->shown_ns != waits->since_ns)
		show_end(waits, writer, stream, NULL);
	if (!waits->since_ns || now_ns < waits->since_ns || now_ns - waits->since_ns < WAIT_PATHS_KEPT_NS)
		return;
	store_writer_span_open(writer, stream, WAIT_PATHS_HANDLE_WAIT + waits->since_ns, &span);
	waits->shown_ns = waits->since_ns;
}

void wait_paths_put_wait(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span)
{
	if (waits->shown_ns == span->begin_ns)
		show_end(waits, writer, stream, span);
	else
		store_writer_append(writer, stream, STORE_SPANS, span, 1);
}
