/* SPDX-License-Identifier: Apache-2.0 */
/* names_addr2line.c - see names_addr2line.h. */
#include "timeline/names/names_addr2line.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "timeline/names/names_pool.h"
#include "timeline/names/names_table.h"

struct addr2line {
	const char *file;
	char *const *texts; /* NULL: stdin */
	struct names_pool *pool;
	struct names_table table;
	struct names_task task;
	uint64_t offsets[NAMES_OFFSETS_MAX];
};

/* ---- addresses ---- */

static int offset_parse(const char *text, uint64_t *offset, struct error *error)
{
	char *end;

	errno = 0;
	*offset = strtoull(text, &end, 16);
	if (errno || end == text || *end || text[0] == '-')
		return error_set(error, ERROR_USAGE,
			"%s is not a hexadecimal address: write such as 4a10, from the file's program "
			"headers",
			text);
	return 0;
}

/* Of a command line all are known: where one is wrong there is no table. */
static int offsets_check(char *const *texts, struct error *error)
{
	uint64_t offset;
	int rc = 0;

	for (; texts && *texts && !rc; texts++)
		rc = offset_parse(*texts, &offset, error);
	return rc;
}

/* The next one: 1, 0 at the end, negative. */
static int offset_next(struct addr2line *hand, uint64_t *offset, struct error *error)
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

static int offsets_read(struct addr2line *hand, struct error *error)
{
	uint32_t *count = &hand->task.request.offset_count;
	int rc = 1;

	for (*count = 0; *count < NAMES_OFFSETS_MAX; ++*count) {
		rc = offset_next(hand, &hand->offsets[*count], error);
		if (rc <= 0)
			break;
	}
	return rc;
}

/* ---- the whole ---- */

/* Every program, library and GPU binary is one; of anything else no address has a name. */
static int elf_check(const char *file, struct error *error)
{
	char magic[SELFMAG] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	bool is_elf = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is_elf ? 0
		      : error_set(error, ERROR_IO,
				"%s is not an ELF file: name a program, a library or a GPU binary", file);
}

static int file_check(const char *file, struct error *error)
{
	struct stat status = {0};

	if (!stat(file, &status) && S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE,
			"%s is a directory: addresses are those of a program or library", file);
	if (access(file, R_OK))
		return error_set(error, ERROR_IO, "cannot read %s: %s", file, strerror(errno));
	return S_ISREG(status.st_mode) ? elf_check(file, error) : 0;
}

static int ask_all(struct addr2line *hand, struct error *error)
{
	int rc = 1;

	if (names_table_header(stdout))
		return error_unwritten(error);
	while (rc > 0) {
		rc = offsets_read(hand, error);
		if (rc < 0)
			return rc;
		if (hand->task.request.offset_count && names_pool_ask(hand->pool, &hand->task, 1, error))
			return error->code ? -error->code : error_unwritten(error);
		if (hand->task.request.offset_count && hand->task.note[0])
			fprintf(stderr, "hpct-names: %s\n", hand->task.note);
	}
	return names_table_flush(&hand->table) ? error_unwritten(error) : 0;
}

int names_addr2line(
	const char *file, char *const *texts, const struct names_options *options, struct error *error)
{
	struct addr2line *hand;
	int rc = file_check(file, error);

	rc = rc ? rc : offsets_check(texts, error);
	if (rc)
		return rc;
	hand = calloc(1, sizeof *hand);
	if (!hand)
		return error_memory(error);
	hand->file = file;
	hand->texts = texts;
	hand->task.request = (struct symbol_request){
		.kind = STORE_MODULE_ELF, .path = file, .real_path = "", .offsets = hand->offsets};
	hand->task.take = names_table_take;
	hand->task.context = &hand->table;
	names_table_init(&hand->table, file, stdout);
	rc = names_pool_open(&hand->pool, options, options->jobs, error);
	rc = rc ? rc : ask_all(hand, error);
	names_pool_close(hand->pool);
	names_table_fini(&hand->table);
	free(hand);
	return rc;
}
