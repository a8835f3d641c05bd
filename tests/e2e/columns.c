/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - an example of libhpct, and what the tests hold it to: asks a run one question and prints the
 *answer as the readers' TSV does.
 *
 *	columns RUN QUESTION[=WORD] [OPTION=VALUE ...] [columns=NAMES] [most=ROWS]
 *	columns run.hpct profile=flat time=1s..2s
 *	columns run.hpct records=spans op=kernel columns=begin_ns,path most=1000
 *
 *	cc $(pkg-config --cflags --libs libhpct) columns.c
 */
#include <hpct_read.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int question(struct hpct_run *, const struct hpct_select *, struct hpct_rows **, struct hpct_error *);
typedef int worded(struct hpct_run *, const struct hpct_select *, const char *, struct hpct_rows **,
	struct hpct_error *);

static const struct {
	const char *name;
	question *ask;
	worded *ask_word;
} questions[] = {{"stats", hpct_stats, NULL}, {"gaps", hpct_gaps, NULL}, {"late", hpct_late, NULL},
	{"streams", hpct_streams, NULL}, {"contexts", hpct_contexts, NULL}, {"modules", hpct_modules, NULL},
	{"metrics", hpct_metrics, NULL}, {"marks", hpct_marks, NULL}, {"records", NULL, hpct_records},
	{"profile", NULL, hpct_profile}, {"blame", NULL, hpct_blame}};

static int fail(const struct hpct_error *error)
{
	fprintf(stderr, "columns: %s\n", error->text);
	return error->code;
}

/* ---- printing ---- */

static void print_text(const struct hpct_column *column, size_t row)
{
	const char *text = column->data;

	fwrite(text + column->offsets[row], 1, (size_t)(column->offsets[row + 1] - column->offsets[row]),
		stdout);
}

static void print_value(const struct hpct_column *column, size_t row)
{
	if (column->valid && !(column->valid[row / 8] >> row % 8 & 1))
		return;
	switch (column->type) {
	case HPCT_INT64:
		printf("%" PRId64, ((const int64_t *)column->data)[row]);
		break;
	case HPCT_UINT64:
		printf("%" PRIu64, ((const uint64_t *)column->data)[row]);
		break;
	case HPCT_UINT32:
		printf("%" PRIu32, ((const uint32_t *)column->data)[row]);
		break;
	case HPCT_REAL:
		printf("%.17g", ((const double *)column->data)[row]);
		break;
	case HPCT_TEXT:
		print_text(column, row);
		break;
	case HPCT_CHOICE:
		print_text(column->choices, (size_t)((const int32_t *)column->data)[row]);
	}
}

static void print_batch(const struct hpct_batch *batch)
{
	size_t columns = hpct_batch_columns(batch);

	for (size_t row = 0; row < hpct_batch_rows(batch); row++)
		for (size_t i = 0; i < columns; i++) {
			print_value(hpct_column(batch, i), row);
			putchar(i + 1 < columns ? '\t' : '\n');
		}
}

static int print_rows(struct hpct_rows *rows, size_t most)
{
	size_t columns = hpct_rows_columns(rows);
	struct hpct_error error;
	struct hpct_batch *batch;
	int rc;

	for (size_t i = 0; i < columns; i++)
		printf("%s%c", hpct_rows_name(rows, i), i + 1 < columns ? '\t' : '\n');
	while ((rc = hpct_next(rows, most, &batch, &error)) > 0) {
		print_batch(batch);
		hpct_batch_free(batch);
	}
	return rc < 0 ? fail(&error) : 0;
}

/* ---- asking ---- */

static int ask(struct hpct_run *run, const struct hpct_select *select, const char *text,
	struct hpct_rows **rows, struct hpct_error *error)
{
	const char *word = strchr(text, '=');
	size_t size = word ? (size_t)(word - text) : strlen(text);

	if (strncmp(text, "sql", size) == 0)
		return hpct_sql(run, word ? word + 1 : "", rows, error);
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		if (strlen(questions[i].name) != size || strncmp(questions[i].name, text, size) != 0)
			continue;
		if (questions[i].ask)
			return questions[i].ask(run, select, rows, error);
		return questions[i].ask_word(run, select, word ? word + 1 : NULL, rows, error);
	}
	fprintf(stderr, "columns: no question '%s'\n", text);
	exit(2);
}

/* "time=1s..2s" */
static int take(struct hpct_select *select, char *word, size_t *most, struct hpct_error *error)
{
	char *value = strchr(word, '=');

	if (!value)
		value = word + strlen(word);
	else
		*value++ = '\0';
	if (strcmp(word, "most") == 0)
		*most = strtoull(value, NULL, 10);
	else if (strcmp(word, "columns") == 0)
		return hpct_select_columns(select, value, error);
	else
		return hpct_select_set(select, word, value, error);
	return 0;
}

static int answer(struct hpct_run *run, int argc, char **argv)
{
	struct hpct_error error;
	struct hpct_select *select;
	struct hpct_rows *rows;
	size_t most = 0;
	int rc = hpct_select_new(&select, &error);

	if (rc < 0) {
		hpct_close(run);
		return fail(&error);
	}
	for (int i = 0; i < argc && rc == 0; i++)
		rc = i > 0 ? take(select, argv[i], &most, &error) : 0;
	if (rc == 0)
		rc = ask(run, select, argv[0], &rows, &error);
	hpct_select_free(select);
	hpct_close(run); /* the rows keep what they need */
	if (rc < 0)
		return fail(&error);
	rc = print_rows(rows, most);
	hpct_rows_free(rows);
	return rc;
}

int main(int argc, char **argv)
{
	struct hpct_error error;
	struct hpct_run *run;

	if (argc < 3) {
		fprintf(stderr, "usage: columns RUN QUESTION[=WORD] [OPTION=VALUE ...]\n");
		return 2;
	}
	if (hpct_read_version() < HPCT_READ_VERSION)
		return 2;
	if (hpct_open(&run, argv[1], NULL, &error) < 0)
		return fail(&error);
	return answer(run, argc - 2, argv + 2);
}
