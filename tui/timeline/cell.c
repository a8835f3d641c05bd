/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.c - the table of tui/SCREEN.md, "Cells", line by line.
 */
#include "tui/timeline/cell.h"

/* Totals over the shares of a column. */
struct column {
	const struct cell_share *lead;	/* most work */
	const struct cell_share *state; /* most time of what is no work, `unmonitored` aside */
	uint64_t busy_ns, lost_ns, blind_ns, absent_ns;
	uint64_t state_ns[EXTENT_STATE_COUNT];
};

static bool is_at_least(uint64_t part_ns, uint64_t whole_ns, unsigned eighths)
{
	return (__uint128_t)part_ns * 8 >= (__uint128_t)whole_ns * eighths;
}

/* Ties go to the smaller hash. */
static bool is_larger(const struct cell_share *a, const struct cell_share *b)
{
	if (!b || a->time_ns != b->time_ns)
		return !b || a->time_ns > b->time_ns;
	return a->hash != b->hash ? a->hash < b->hash : a->state < b->state;
}

static void add_up(struct column *column, const struct cell_share *shares, size_t count)
{
	*column = (struct column){0};
	for (size_t i = 0; i < count; i++) {
		const struct cell_share *share = &shares[i];

		if (share->time_ns == 0)
			continue;
		column->state_ns[share->state] += share->time_ns;
		if (extent_state_is_busy(share->state)) {
			column->busy_ns += share->time_ns;
			if (is_larger(share, column->lead))
				column->lead = share;
		}
	}
	column->lost_ns = column->state_ns[EXTENT_LOST];
	column->blind_ns = column->state_ns[EXTENT_UNMONITORED];
}

/* The largest state; unmonitored only where it has its part of the column. */
static enum extent_state largest_state(const struct column *column, uint64_t column_ns)
{
	enum extent_state largest = EXTENT_ABSENT;
	uint64_t most_ns = 0;

	for (int state = 0; state < EXTENT_STATE_COUNT; state++) {
		if (extent_state_is_busy((enum extent_state)state) || column->state_ns[state] <= most_ns)
			continue;
		if (state == EXTENT_UNMONITORED &&
			!is_at_least(column->blind_ns, column_ns, CELL_BLIND_EIGHTHS) &&
			column->blind_ns + column->busy_ns < column_ns)
			continue;
		largest = (enum extent_state)state;
		most_ns = column->state_ns[state];
	}
	return largest;
}

/* The context that has most of a state's time. */
static const struct cell_share *of_state(
	const struct cell_share *shares, size_t count, enum extent_state state)
{
	const struct cell_share *largest = NULL;

	for (size_t i = 0; i < count; i++)
		if (shares[i].state == state && shares[i].time_ns && is_larger(&shares[i], largest))
			largest = &shares[i];
	return largest;
}

static struct cell make(enum cell_kind kind, const struct cell_share *share, enum extent_state state)
{
	struct cell cell = {.kind = (uint8_t)kind, .state = (uint8_t)state, .function = UINT32_MAX};

	if (share) {
		cell.function = share->function;
		cell.hash = share->hash;
		cell.is_shorter = share->is_shorter;
		cell.time_ns = share->time_ns;
	}
	return cell;
}

static bool is_transfer(enum extent_state state)
{
	return state == EXTENT_COPY_IN || state == EXTENT_COPY_OUT || state == EXTENT_SET;
}

/*
 * The time for which a thread's leading function held the thread: it ran, waited in a call of its own, or was
 * ready without a core. Who will run next is not recorded for each such wait: the functions that ran in the
 * column share them as they shared the core.
 */
static uint64_t held_ns(const struct column *column, const struct cell_share *shares, size_t count)
{
	const struct cell_share *lead = column->lead;
	uint64_t time_ns = lead->time_ns, work_ns = column->state_ns[EXTENT_WORK];

	if (lead->state != EXTENT_WORK || !work_ns)
		return time_ns;
	for (size_t i = 0; i < count; i++)
		if (shares[i].function == lead->function &&
			(shares[i].state == EXTENT_BLOCKED || shares[i].state == EXTENT_SYNC))
			time_ns += shares[i].time_ns;
	return time_ns + (uint64_t)((__uint128_t)column->state_ns[EXTENT_RUNNABLE] * lead->time_ns / work_ns);
}

static struct cell make_busy(
	const struct column *column, const struct cell_share *shares, size_t count, uint64_t column_ns)
{
	struct cell cell;

	if (is_at_least(column->lead->time_ns, column_ns, CELL_DOMINANT_EIGHTHS)) {
		enum extent_state state = largest_state(column, column_ns);
		cell = make(CELL_BLOCK, column->lead, column->lead->state);
		if (is_at_least(column->state_ns[state], column_ns, CELL_NICK_EIGHTHS))
			cell.nick = (uint8_t)state;
		return cell;
	}
	cell = make(CELL_SOME, column->lead, column->lead->state);
	cell.is_held = is_at_least(held_ns(column, shares, count), column_ns, CELL_HELD_EIGHTHS);
	if (!cell.is_held && is_at_least(column->busy_ns, column_ns, CELL_BUSY_EIGHTHS))
		return make(CELL_MIXED, column->lead, column->lead->state);
	if (is_transfer(column->lead->state)) /* a copy is seen even where the queue mostly rests */
		return make(CELL_BLOCK, column->lead, column->lead->state);
	if (cell.is_held)
		cell.nick = (uint8_t)largest_state(column, column_ns);
	cell.eighths = (uint8_t)((__uint128_t)(cell.is_held ? column->lead->time_ns : column->busy_ns) * 8 /
				 column_ns);
	cell.is_brief = !cell.eighths;
	if (cell.eighths < 1) /* work shorter than a cell never vanishes */
		cell.eighths = 1;
	return cell;
}

struct cell cell_decide(const struct cell_share *shares, size_t count, uint64_t column_ns)
{
	struct column column;
	enum extent_state state;

	add_up(&column, shares, count);
	if (column.lost_ns && is_at_least(column.lost_ns, column_ns, CELL_LOST_EIGHTHS))
		return make(CELL_STATE, of_state(shares, count, EXTENT_LOST), EXTENT_LOST);
	if (column.lead)
		return make_busy(&column, shares, count, column_ns);
	state = largest_state(&column, column_ns);
	return make(CELL_STATE, of_state(shares, count, state), state);
}

bool cell_decide_wait(struct cell *cell, const struct cell_share *shares, size_t count, uint64_t column_ns)
{
	const struct cell_share *wait = of_state(shares, count, (enum extent_state)cell->nick);

	if (cell->kind != CELL_SOME || !cell->is_held || !cell->is_brief || !wait ||
		wait->function == UINT32_MAX || wait->function == cell->function ||
		!is_at_least(wait->time_ns, column_ns, CELL_HELD_EIGHTHS))
		return false;
	*cell = make(CELL_STATE, wait, wait->state);
	return true;
}

bool cell_has_holder(const struct cell *cell)
{
	return cell->kind == CELL_BLOCK || (cell->kind == CELL_SOME && cell->is_held);
}

/* Its function waited nearly all of the time, and is drawn as a column in which it did nothing else. */
static bool is_wait_of(const struct cell *cell, const struct cell *state)
{
	return cell->kind == CELL_SOME && cell->is_held && cell->is_brief && state->kind == CELL_STATE &&
	       cell->nick == state->state && cell->function == state->function;
}

bool cell_is_same_run(const struct cell *a, const struct cell *b)
{
	if (is_wait_of(a, b) || is_wait_of(b, a))
		return true;
	if (cell_has_holder(a) && cell_has_holder(b))
		return a->state == b->state && a->function == b->function;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CELL_STATE:
		return a->state == b->state && a->function == b->function;
	case CELL_SOME:
		return false;
	}
	return true;
}
