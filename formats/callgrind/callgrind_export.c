/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind_export.c - exports the profile of a selection as callgrind's file, for callgrind_annotate and
 * KCachegrind: each function's own costs by line, and its calls with what they cost all in all.
 *
 *   fl=(3) phases.c        a function that is named once is a number from then on
 *   fn=(5) solve
 *   41 210                 its own cost on that line
 *   cfn=(6) smooth
 *   calls=1 12
 *   43 90                  what the call on line 43 costs
 *
 * A path counts for the outermost call of each function on it alone, so that a recursion's cost is there
 * once. How often a function was called nobody counted: a path that has costs counts as one call.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/format.h"
#include "formats/base/path_sums.h"
#include "store/base/array.h"
#include "store/base/hash.h"

#define NAME_MAX_BYTES 4096u

/* A function's own cost on a line, or a call from there. */
struct cost_key {
	uint32_t function, line, callee; /* callee: UINT32_MAX: none */
};

struct cost {
	struct cost_key key;
	uint32_t number; /* of its sums */
};

struct callgrind {
	struct run *run;
	FILE *out;
	struct path_sums sums;
	struct key_ids costs;
	uint64_t *values, *calls; /* [cost * metrics + metric], [cost] */
	size_t value_room, call_room;
	uint32_t *scopes; /* scratch: a path from the leaf up */
	size_t scope_room;
	uint32_t *seen; /* [function] 1 + the path in which it was last met */
	size_t seen_room;
	struct key_ids names[3]; /* texts that were written: files, modules, functions */
};

/* ---- sums ---- */

static bool add(struct callgrind *file, const struct cost_key *key, uint32_t path)
{
	size_t metrics = file->sums.metric_count;
	uint32_t cost = key_ids_put(&file->costs, key, NULL);

	if (cost == KEY_IDS_NONE ||
		!array_reserve_zero(&file->values, &file->value_room, ((size_t)cost + 1) * metrics,
			sizeof *file->values) ||
		!array_reserve_zero(&file->calls, &file->call_room, (size_t)cost + 1, sizeof *file->calls))
		return false;
	for (size_t i = 0; i < metrics; i++)
		file->values[cost * metrics + i] += file->sums.values[path * metrics + i];
	file->calls[cost]++;
	return true;
}

/* First in this path from the root on? */
static bool is_outermost(struct callgrind *file, uint32_t function, uint32_t path)
{
	if (file->seen[function] == path + 1)
		return false;
	file->seen[function] = path + 1;
	return true;
}

/* Scopes of the path into file->scopes, innermost first; their number, -1: no memory. */
static long find_scopes(struct callgrind *file, uint32_t scope)
{
	size_t count = 0;

	for (; scope != UINT32_MAX; scope = run_scope(file->run, scope)->parent) {
		uint32_t function = run_scope(file->run, scope)->function;

		if (!array_widen(&file->scopes, &file->scope_room, count, sizeof *file->scopes) ||
			!array_reserve_zero(
				&file->seen, &file->seen_room, (size_t)function + 1, sizeof *file->seen))
			return -1;
		file->scopes[count++] = scope;
	}
	return (long)count;
}

static bool add_path(struct callgrind *file, uint32_t path)
{
	uint32_t line, leaf = path_sums_leaf(&file->sums, path, &line);
	long count = find_scopes(file, leaf == UINT32_MAX ? RUN_SCOPE_PROGRAM_ROOT : leaf);
	bool ok = count > 0;

	for (long i = count; ok && i-- > 0;) {
		const struct run_scope *scope = run_scope(file->run, file->scopes[i]);
		struct cost_key key = {.line = scope->call_line, .callee = scope->function};

		if (!is_outermost(file, scope->function, path) || i + 1 == count)
			continue;
		key.function = run_scope(file->run, file->scopes[i + 1])->function;
		ok = add(file, &key, path);
	}
	return ok &&
	       add(file,
		       &(struct cost_key){run_scope(file->run, file->scopes[0])->function, line, UINT32_MAX},
		       path);
}

/* ---- the file ---- */

/* A text in one line. */
static void put_text(const struct callgrind *file, const char *text, size_t size)
{
	for (size_t i = 0; i < size && i < NAME_MAX_BYTES; i++) {
		unsigned char c = (unsigned char)text[i];

		putc(c < 0x20 || c == 0x7f ? ' ' : (char)c, file->out);
	}
}

enum table { TABLE_FILE, TABLE_MODULE, TABLE_FUNCTION };

/* "fn=(3) name", or "fn=(3)" from the second time on. */
static bool put_name(struct callgrind *file, const char *key, enum table table, const struct run_function *of)
{
	const char *text = table == TABLE_FILE ? of->file : table == TABLE_MODULE ? of->module : of->name;
	size_t size = table == TABLE_FUNCTION ? of->name_bytes : strlen(text);
	struct store_hash hash;
	bool is_new;
	uint32_t number;

	if (!size) {
		text = "???"; /* the tools' word for what is not known */
		size = 3;
	}
	hash = store_hash128(text, size);
	number = key_ids_put(&file->names[table], &hash, &is_new);
	if (number == KEY_IDS_NONE)
		return false;
	fprintf(file->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (is_new) {
		putc(' ', file->out);
		put_text(file, text, size);
	}
	putc('\n', file->out);
	return true;
}

static void put_values(const struct callgrind *file, uint32_t line, const uint64_t *values)
{
	fprintf(file->out, "%" PRIu32, line);
	for (size_t i = 0; i < file->sums.metric_count; i++)
		fprintf(file->out, " %" PRIu64, values[i]);
	putc('\n', file->out);
}

static bool put_cost(struct callgrind *file, const struct cost *cost, bool is_first)
{
	const struct run_function *function = run_function(file->run, cost->key.function), *callee;
	const uint64_t *values = &file->values[cost->number * file->sums.metric_count];
	bool ok = true;

	if (is_first) {
		putc('\n', file->out);
		ok = put_name(file, "ob", TABLE_MODULE, function) &&
		     put_name(file, "fl", TABLE_FILE, function) &&
		     put_name(file, "fn", TABLE_FUNCTION, function);
	}
	if (ok && cost->key.callee != UINT32_MAX) {
		callee = run_function(file->run, cost->key.callee);
		ok = put_name(file, "cob", TABLE_MODULE, callee) &&
		     put_name(file, "cfi", TABLE_FILE, callee) &&
		     put_name(file, "cfn", TABLE_FUNCTION, callee);
		fprintf(file->out, "calls=%" PRIu64 " %" PRIu32 "\n", file->calls[cost->number],
			callee->line);
	}
	if (ok)
		put_values(file, cost->key.line, values);
	return ok;
}

static int compare_costs(const void *left, const void *right)
{
	const struct cost_key *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if ((a->callee == UINT32_MAX) != (b->callee == UINT32_MAX))
		return a->callee == UINT32_MAX ? -1 : 1; /* own costs come first */
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static bool put_costs(struct callgrind *file)
{
	uint32_t count = file->costs.count;
	struct cost *costs = malloc(((size_t)count + 1) * sizeof *costs);
	bool ok = costs != NULL;

	for (uint32_t i = 0; i < count && ok; i++) {
		memcpy(&costs[i].key, key_ids_key(&file->costs, i), sizeof costs[i].key);
		costs[i].number = i;
	}
	if (ok && count)
		qsort(costs, count, sizeof *costs, compare_costs);
	for (uint32_t i = 0; i < count && ok; i++)
		ok = put_cost(file, &costs[i], i == 0 || costs[i].key.function != costs[i - 1].key.function);
	free(costs);
	return ok;
}

/* Names of events are words; what stands behind '=' would be a formula. */
static void put_word(const struct callgrind *file, const char *text)
{
	for (; *text; text++)
		putc((unsigned char)*text <= ' ' || *text == ':' || *text == '=' ? '_' : *text, file->out);
}

static void put_head(const struct callgrind *file)
{
	const char *command = run_meta(file->run, "command");

	fputs("# callgrind format\nversion: 1\ncreator: hpct " HPCT_VERSION "\ncmd: ", file->out);
	if (!command || !*command)
		command = run_path(file->run);
	put_text(file, command, strlen(command));
	fputs("\npart: 1\npositions: line\n", file->out);
	for (size_t i = 0; i < file->sums.metric_count; i++) {
		const char *unit = path_sums_unit(&file->sums, i);

		fputs("event: ", file->out);
		put_word(file, path_sums_name(&file->sums, i));
		fputs(" : ", file->out);
		put_text(file, path_sums_name(&file->sums, i), strlen(path_sums_name(&file->sums, i)));
		if (*unit) {
			fputs(", ", file->out);
			put_text(file, unit, strlen(unit));
		}
		putc('\n', file->out);
	}
	fputs("events:", file->out);
	for (size_t i = 0; i < file->sums.metric_count; i++) {
		putc(' ', file->out);
		put_word(file, path_sums_name(&file->sums, i));
	}
	putc('\n', file->out);
}

static void put_totals(const struct callgrind *file)
{
	const struct path_sums *sums = &file->sums;

	fputs("\ntotals:", file->out);
	for (size_t i = 0; i < sums->metric_count; i++) {
		uint64_t total = 0;

		for (uint32_t path = 0; path < sums->contexts.count; path++)
			total += sums->values[path * sums->metric_count + i];
		fprintf(file->out, " %" PRIu64, total);
	}
	putc('\n', file->out);
}

static int put_all(struct callgrind *file, struct error *error)
{
	bool ok = true;

	for (uint32_t path = 0; path < file->sums.contexts.count && ok; path++)
		ok = path_sums_is_zero(&file->sums, path) || add_path(file, path);
	if (!ok)
		return error_memory(error);
	put_head(file);
	ok = put_costs(file);
	put_totals(file);
	if (ferror(file->out))
		return error_unwritten(error);
	return ok ? file->costs.count == 0 : error_memory(error);
}

static int callgrind_put(
	struct run *run, const struct select *select, struct format_output *output, struct error *error)
{
	struct callgrind file = {.run = run, .out = output->out};
	int rc = path_sums_make(&file.sums, run, select, error);

	key_ids_init(&file.costs, sizeof(struct cost_key));
	for (size_t i = 0; i < 3; i++)
		key_ids_init(&file.names[i], sizeof(struct store_hash));
	if (rc == 0 && file.sums.metric_count)
		rc = put_all(&file, error);
	else if (rc == 0)
		rc = 1;
	path_sums_fini(&file.sums);
	key_ids_fini(&file.costs);
	for (size_t i = 0; i < 3; i++)
		key_ids_fini(&file.names[i]);
	free(file.values);
	free(file.calls);
	free(file.scopes);
	free(file.seen);
	return rc;
}

const struct format format_callgrind = {.name = "callgrind",
	.about = "callgrind_annotate, KCachegrind",
	.put = callgrind_put,
	.lacks = FORMAT_LACKS_VALUES | FORMAT_LACKS_REGIONS,
	.refused = "min",
	.takes_state_metrics = true};
