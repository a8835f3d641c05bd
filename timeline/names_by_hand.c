/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_by_hand.c - see names_by_hand.h. Many addresses are asked for in the order of the code, each part of
 * it of one worker, and their rows printed in the order of the asking; few go to one worker and are printed
 * as they come.
 */
#include "timeline/names_by_hand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "timeline/names_crew.h"
#include "timeline/names_table.h"

#define FEW 256u

/* An address, and where its rows are. */
struct place {
	uint64_t offset;
	uint32_t part;
	size_t begin, size;
};

/* What one task asks for. */
struct part {
	struct names_table table;
	struct place **next;
	uint32_t number;
};

struct by_hand {
	const char *file;
	char *const *texts; /* NULL: stdin */
	struct names_crew *crew;
	struct place *places;  /* as asked for */
	struct place **sorted; /* by offset */
	uint64_t *offsets;     /* of `sorted` */
	uint32_t count;
};

/* ---- addresses ---- */

static int offset_parse(const char *text, uint64_t *offset, struct error *error)
{
	char *end;

	errno = 0;
	*offset = strtoull(text, &end, 16);
	if (errno || end == text || *end || text[0] == '-')
		return error_set(error, ERROR_USAGE, "%s is not a hexadecimal address", text);
	return 0;
}

/* The next one: 1, 0 at the end, negative. */
static int offset_next(struct by_hand *hand, uint64_t *offset, struct error *error)
{
	char text[64];
	int rc;

	if (!hand->texts && scanf("%63s", text) != 1)
		return 0;
	if (hand->texts && !*hand->texts)
		return 0;
	rc = offset_parse(hand->texts ? *hand->texts++ : text, offset, error);
	return rc ? rc : 1;
}

static int places_read(struct by_hand *hand, struct error *error)
{
	int rc = 1;

	for (hand->count = 0; hand->count < NAMES_OFFSETS_MAX; hand->count++) {
		rc = offset_next(hand, &hand->places[hand->count].offset, error);
		if (rc <= 0)
			break;
		hand->sorted[hand->count] = &hand->places[hand->count];
	}
	return rc;
}

static int place_compare(const void *left, const void *right)
{
	const struct place *a = *(struct place *const *)left, *b = *(struct place *const *)right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* ---- answers ---- */

static int take(void *context, const struct names_answer *answer)
{
	struct part *part = context;
	struct place *place = *part->next++;
	int rc;

	place->part = part->number;
	place->begin = part->table.out.size;
	rc = names_table_take(&part->table, answer);
	place->size = part->table.out.size - place->begin;
	return rc;
}

static int rows_print(const struct by_hand *hand, const struct part *parts)
{
	for (uint32_t i = 0; i < hand->count; i++) {
		const struct place *place = &hand->places[i];

		if (fwrite(parts[place->part].table.out.data + place->begin, 1, place->size, stdout) !=
			place->size)
			return -1;
	}
	return fflush(stdout) ? -1 : 0;
}

static void note_print(const struct names_task *tasks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (tasks[i].note[0] && (!i || strcmp(tasks[i].note, tasks[i - 1].note) != 0))
			fprintf(stderr, "hpct-names: %s\n", tasks[i].note);
}

/* ---- a round ---- */

static int crew_ask(struct by_hand *hand, struct names_task *tasks, uint32_t count, struct error *error)
{
	if (names_crew_ask(hand->crew, tasks, count, error))
		return error->code ? -error->code : error_set(error, ERROR_IO, "cannot write the table");
	note_print(tasks, count);
	return 0;
}

static int ask_few(struct by_hand *hand, struct names_request request, struct error *error)
{
	struct names_task *task = calloc(1, sizeof *task);
	struct names_table table;
	int rc;

	if (!task)
		return error_memory(error);
	names_table_init(&table, hand->file, stdout);
	*task = (struct names_task){.request = request, .take = names_table_take, .context = &table};
	task->request.offset_count = hand->count;
	rc = crew_ask(hand, task, 1, error);
	if (!rc && names_table_flush(&table))
		rc = error_set(error, ERROR_IO, "cannot write the table");
	names_table_fini(&table);
	free(task);
	return rc;
}

static int ask_many(struct by_hand *hand, struct names_request request, struct error *error)
{
	uint32_t size = names_crew_part(hand->crew, hand->count), count = (hand->count + size - 1) / size;
	struct names_task *tasks = calloc(count, sizeof *tasks);
	struct part *parts = calloc(count, sizeof *parts);
	int rc = tasks && parts ? 0 : error_memory(error);

	for (uint32_t i = 0; i < count && !rc; i++) {
		uint32_t begin = i * size;

		names_table_init(&parts[i].table, hand->file, NULL);
		parts[i].next = hand->sorted + begin;
		parts[i].number = i;
		tasks[i] = (struct names_task){.request = request, .take = take, .context = &parts[i]};
		tasks[i].request.offsets += begin;
		tasks[i].request.offset_count = hand->count - begin < size ? hand->count - begin : size;
	}
	rc = rc ? rc : crew_ask(hand, tasks, count, error);
	if (!rc && rows_print(hand, parts))
		rc = error_set(error, ERROR_IO, "cannot write the table");
	for (uint32_t i = 0; i < count && parts; i++)
		names_table_fini(&parts[i].table);
	free(parts);
	free(tasks);
	return rc;
}

static int ask(struct by_hand *hand, struct error *error)
{
	struct names_request request = {
		.kind = STORE_MODULE_ELF, .path = hand->file, .real_path = "", .offsets = hand->offsets};
	bool is_few = names_crew_jobs(hand->crew) == 1 || hand->count < FEW;

	if (!is_few)
		qsort(hand->sorted, hand->count, sizeof *hand->sorted, place_compare);
	for (uint32_t i = 0; i < hand->count; i++)
		hand->offsets[i] = hand->sorted[i]->offset;
	return is_few ? ask_few(hand, request, error) : ask_many(hand, request, error);
}

/* ---- the whole ---- */

static int file_check(const char *file, struct error *error)
{
	struct stat status;

	if (!stat(file, &status) && S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE,
			"%s is a directory: addresses are those of a program or library", file);
	if (access(file, R_OK))
		return error_set(error, ERROR_IO, "cannot read %s: %s", file, strerror(errno));
	return 0;
}

static int ask_all(struct by_hand *hand, struct error *error)
{
	int rc = 1;

	if (names_table_header(stdout))
		return error_set(error, ERROR_IO, "cannot write the table");
	while (rc > 0) {
		rc = places_read(hand, error);
		if (rc >= 0 && hand->count && ask(hand, error))
			return -error->code;
	}
	return rc;
}

int names_by_hand(
	const char *file, char *const *texts, const struct names_options *options, struct error *error)
{
	struct by_hand hand = {.file = file, .texts = texts};
	int rc = file_check(file, error);

	if (rc)
		return rc;
	hand.places = calloc(NAMES_OFFSETS_MAX, sizeof *hand.places);
	hand.sorted = calloc(NAMES_OFFSETS_MAX, sizeof *hand.sorted);
	hand.offsets = calloc(NAMES_OFFSETS_MAX, sizeof *hand.offsets);
	rc = hand.places && hand.sorted && hand.offsets ? 0 : error_memory(error);
	rc = rc ? rc : names_crew_open(&hand.crew, options, options->jobs, error);
	rc = rc ? rc : ask_all(&hand, error);
	names_crew_close(hand.crew);
	free(hand.places);
	free(hand.sorted);
	free(hand.offsets);
	return rc;
}
