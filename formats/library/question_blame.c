/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_blame.c - who is to blame, as hpct-blame answers: the shares of --of, the gaps of --gaps, those
 * who came last of --late.
 */
#include "blame/idle/gaps.h"
#include "blame/page/answer.h"
#include "formats/library/question.h"
#include "timeline/report/coverage.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The question of hpct-blame with these options: ready to be answered. */
static int ask_open(
	const struct program_call *call, struct ask *ask, enum row_key_by *by, struct error *error)
{
	int rc = option_check(ask, call->select, error);

	if (rc == 0)
		rc = answer_find_by(call, by, error);
	if (rc == 0)
		rc = wait_functions_new(&ask->waits, call->run, NULL, error);
	return rc;
}

/* Of a window in which nothing at all is known every reader says the same. */
static int ask_close(const struct program_call *call, struct ask *ask, int rc, struct error *error)
{
	wait_functions_free(ask->waits);
	ask->waits = NULL;
	if (rc == -ERROR_EMPTY)
		coverage_require(call->run, call->select, error);
	return rc;
}

/* ---- blame ---- */

static const struct column_spec blame_specs[] = {
	{"key", HPCT_TEXT}, {"blame_ns", HPCT_UINT64}, {"percent", HPCT_REAL}, {"context", HPCT_UINT32}};

static void put_share(struct column *c, const struct exact_share_row *row, uint64_t whole_ns)
{
	column_put_composed(&c[0], row->key, strlen(row->key));
	column_put_number(&c[1], row->time_ns);
	column_put_real(&c[2], answer_percent(row->time_ns, whole_ns));
	column_put_optional(&c[3], row->context, row->context != 0);
}

/* The parts without a cause are the last rows. */
static void put_shares(struct column *c, const struct exact_share_rows *rows,
	const struct answer_bucket *bucket, uint64_t top)
{
	for (size_t i = 0; i < rows->count && i < top; i++)
		put_share(c, &rows->rows[i], bucket->whole_ns);
	if (bucket->others_ns)
		put_share(
			c, &(struct exact_share_row){ANSWER_OTHERS, bucket->others_ns, 0}, bucket->whole_ns);
	if (bucket->time_ns)
		put_share(c, &(struct exact_share_row){bucket->key, bucket->time_ns, 0}, bucket->whole_ns);
}

static int find_of(struct ask *ask, const char *of, struct error *error)
{
	int found = of ? answer_of_find(of) : ASK_GPU_IDLE;

	if (found < 0)
		return error_set(error, ERROR_USAGE, "blame of '%s': say " ANSWER_OF_WORDS, of);
	if (found >= ASK_LOCK)
		return error_set(
			error, ERROR_USAGE, "blame of '%s' is no table yet: hpct-blame --of %s", of, of);
	ask->of = (enum ask_of)found;
	return 0;
}

static int ask_blame(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	struct ask ask = {.shape = ASK_ROWS, .has_of = question->word};
	struct answer_shares shares = {0};
	struct exact_share_rows rows = {0};
	struct hpct_batch *batch;
	enum row_key_by by;
	int rc = find_of(&ask, question->word, error);

	if (rc == 0)
		rc = question_batch_new(&batch, question, &question_blame, error);
	if (rc < 0)
		return rc;
	rc = ask_open(call, &ask, &by, error);
	if (rc == 0)
		rc = select_require_sums(call->select, error);
	if (rc == 0)
		rc = answer_shares_find(&shares, call, &ask, error);
	if (rc == 0)
		rc = answer_rows_make(&rows, call, &shares, error);
	if (rc == 0)
		put_shares(batch->columns, &rows, &shares.bucket, select_top(call->select));
	return question_batch_end(given, question, batch, ask_close(call, &ask, rc, error), error);
}

const struct question_kind question_blame = {.name = "blame",
	.specs = blame_specs,
	.count = COUNT(blame_specs),
	.uses = PROGRAM_ROW_FORMULAS,
	.is_selected = true,
	.ask = ask_blame};

/* ---- gaps ---- */

enum { GAP_BEGIN, GAP_END, GAP_LENGTH, GAP_STREAM, GAP_CAUSE, GAP_KEY, GAP_PATH, GAP_CONTEXT };

static const struct column_spec gap_specs[] = {{"begin_ns", HPCT_INT64}, {"end_ns", HPCT_INT64},
	{"gap_ns", HPCT_UINT64}, {"stream", HPCT_TEXT}, {"cause", HPCT_TEXT}, {"key", HPCT_TEXT},
	{"path", HPCT_TEXT}, {"context", HPCT_UINT32}};

static void put_gap_key(
	struct column *column, const struct program_call *call, uint32_t context, enum row_key_by by)
{
	struct store_bytes key = {0};

	if (!column->is_wanted)
		return;
	column->data.failed |= answer_gap_key(call, context, by, &key, NULL) < 0;
	column_put_word(column, column->data.failed ? "" : (const char *)key.data);
	store_bytes_fini(&key);
}

static void put_gap(
	struct column *c, const struct program_call *call, const struct gap *gap, enum row_key_by by)
{
	const struct run *run = call->run;

	column_put_time(&c[GAP_BEGIN], run, gap->begin_ns);
	column_put_time(&c[GAP_END], run, gap->end_ns);
	column_put_number(&c[GAP_LENGTH], gap->end_ns - gap->begin_ns);
	column_put_string(&c[GAP_STREAM], run_stream(run, gap->stream)->text);
	column_put_word(&c[GAP_CAUSE], gap_cause_name(gap->cause));
	put_gap_key(&c[GAP_KEY], call, gap->context, by);
	column_put_path(&c[GAP_PATH], run, gap->context);
	column_put_optional(&c[GAP_CONTEXT], gap->context, gap->context != 0);
}

static void put_gaps(struct column *c, const struct program_call *call, struct gaps *gaps, enum row_key_by by)
{
	size_t count;
	uint64_t left = select_top(call->select);
	const struct gap *list = gaps_list(gaps, &count);

	for (size_t i = 0; i < count && left; i++)
		if (select_wants_context(call->select, list[i].context)) {
			put_gap(c, call, &list[i], by);
			left--;
		}
}

static int sweep(struct gaps *gaps, struct program_call *call, struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct idle idle;

	question.is_brief = true;
	question.gaps = gaps;
	return idle_sweep(&idle, call->run, &question, &call->arena, error);
}

static int ask_gaps(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	struct ask ask = {.shape = ASK_GAPS};
	struct gaps *gaps = NULL;
	struct hpct_batch *batch;
	enum row_key_by by;
	int rc = question_batch_new(&batch, question, &question_gaps, error);

	if (rc < 0)
		return rc;
	rc = ask_open(call, &ask, &by, error);
	if (rc == 0)
		rc = gaps_new(&gaps, select_min_ns(call->select), SIZE_MAX, error);
	if (rc == 0)
		rc = sweep(gaps, call, &ask, error);
	if (rc == 0)
		put_gaps(batch->columns, call, gaps, by);
	gaps_free(gaps);
	return question_batch_end(given, question, batch, ask_close(call, &ask, rc, error), error);
}

const struct question_kind question_gaps = {.name = "gaps",
	.specs = gap_specs,
	.count = COUNT(gap_specs),
	.uses = PROGRAM_ROW_FORMULAS,
	.is_selected = true,
	.ask = ask_gaps};

/* ---- late ---- */

static const struct column_spec late_specs[] = {{"key", HPCT_TEXT}, {"blame_ns", HPCT_UINT64},
	{"percent", HPCT_REAL}, {"last", HPCT_UINT64}, {"occasions", HPCT_UINT64}, {"waited_ns", HPCT_UINT64},
	{"path", HPCT_TEXT}};

static void put_late(struct column *c, const struct answer_late_row *row)
{
	column_put_string(&c[0], row->key);
	column_put_number(&c[1], row->blame_ns);
	column_put_real(&c[2], answer_percent(row->blame_ns, row->whole_ns));
	column_put_number(&c[3], row->last);
	column_put_number(&c[4], row->occasions);
	column_put_number(&c[5], row->waited_ns);
	column_put_word(&c[6], row->path);
}

static int ask_late(struct hpct_batch **given, const struct question *question, struct error *error)
{
	struct program_call *call = question->call;
	struct ask ask = {.shape = ASK_LATE};
	struct answer_late_rows rows = {0};
	struct hpct_batch *batch;
	enum row_key_by by;
	int rc = question_batch_new(&batch, question, &question_late, error);

	if (rc < 0)
		return rc;
	rc = ask_open(call, &ask, &by, error);
	if (rc == 0)
		rc = answer_late_rows(&rows, call, &ask, error);
	for (size_t i = 0; rc == 0 && i < rows.count; i++)
		put_late(batch->columns, &rows.rows[i]);
	return question_batch_end(given, question, batch, ask_close(call, &ask, rc, error), error);
}

const struct question_kind question_late = {.name = "late",
	.specs = late_specs,
	.count = COUNT(late_specs),
	.uses = PROGRAM_ROW_FORMULAS,
	.is_selected = true,
	.ask = ask_late};
