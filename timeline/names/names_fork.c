/* SPDX-License-Identifier: Apache-2.0 */
/* names_fork.c - see names_fork.h. A forked copy writes its frames to a memory file (memfd), the note last.
 */
#include "timeline/names/names_fork.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timeline/names/names_pool.h"
#include "timeline/names/names_stream.h"

#define COPY_CPU_S 150 /* of a copy, which sends nothing meanwhile */
#define FLUSH_BYTES 65536u

/* One offset, and where its answer is. */
struct fork_offset {
	uint64_t unit, offset;
	uint32_t number; /* in the request */
	const uint8_t *frame;
	size_t size;
};

struct part {
	uint32_t begin, end; /* of the places in order */
	pid_t pid;	     /* 0: this process */
	int fd;
	const uint8_t *bytes;
	size_t size;
	struct store_bytes own;
};

struct split {
	struct names_module *module;
	const struct symbol_request *request;
	struct fork_offset *places;
	struct part parts[NAMES_POOL_MAX];
	unsigned count;
	char note[NAMES_NOTE_BYTES];
};

/* ---- splitting the work ---- */

static int place_compare(const void *left, const void *right)
{
	const struct fork_offset *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool places_make(struct split *split)
{
	const struct symbol_request *request = split->request;

	split->places = calloc(request->offset_count, sizeof *split->places);
	for (uint32_t i = 0; split->places && i < request->offset_count; i++)
		split->places[i] =
			(struct fork_offset){.unit = names_module_place(split->module, request->offsets[i]),
				.offset = request->offsets[i],
				.number = i};
	if (split->places)
		qsort(split->places, request->offset_count, sizeof *split->places, place_compare);
	return split->places;
}

/* Cut between units, unless the next one is far. */
static void parts_make(struct split *split, unsigned parts)
{
	uint32_t all = split->request->offset_count, at = 0;

	split->count = parts;
	for (unsigned i = 0; i < parts; i++) {
		struct part *part = &split->parts[i];
		uint32_t size = (all - at) / (parts - i), far;

		*part = (struct part){.begin = at, .end = i + 1 < parts ? at + size : all, .fd = -1};
		far = part->end + size / 4 < all ? part->end + size / 4 : all;
		for (uint32_t end = part->end; i + 1 < parts && end && end < far; end++)
			if (split->places[end].unit != split->places[end - 1].unit) {
				part->end = end;
				break;
			}
		at = part->end;
	}
}

/* ---- answers ---- */

static bool part_answer(const struct split *split, const struct part *part, struct store_bytes *out)
{
	static struct symbol_answer answer;

	answer.module = split->request->module;
	for (uint32_t i = part->begin; i < part->end; i++)
		if (names_find(split->module, split->places[i].offset, &answer, NULL) ||
			symbol_answer_put(out, &answer, NULL))
			return false;
	return true;
}

static void copy_run(const struct split *split, const struct part *part, pid_t parent)
{
	struct rlimit cpu = {COPY_CPU_S, COPY_CPU_S};
	struct store_bytes out = {0};
	struct symbol_done done = {.module = split->request->module};
	bool ok;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CPU, &cpu);
	if (getppid() != parent || !part_answer(split, part, &out))
		_exit(1);
	done.message = names_module_note(split->module);
	ok = !symbol_done_put(&out, &done, NULL) && !names_stream_write(part->fd, &out, NULL);
	if (ok)
		names_module_keep_all(split->module);
	_exit(!ok);
}

static bool copies_start(struct split *split)
{
	pid_t parent = getpid();

	for (unsigned i = 1; i < split->count; i++) {
		struct part *part = &split->parts[i];

		part->fd = memfd_create("hpct-names", MFD_CLOEXEC);
		part->pid = part->fd < 0 ? -1 : fork();
		if (part->pid < 0) {
			part->pid = 0;
			return false;
		}
		if (!part->pid)
			copy_run(split, part, parent);
	}
	return true;
}

static bool copy_wait(struct part *part)
{
	struct stat status;
	int ended = -1;
	pid_t pid;

	while ((pid = waitpid(part->pid, &ended, 0)) < 0 && errno == EINTR)
		;
	part->pid = 0;
	if (pid < 0 || ended != 0 || fstat(part->fd, &status) || status.st_size <= 0)
		return false;
	part->size = (size_t)status.st_size;
	part->bytes = mmap(NULL, part->size, PROT_READ, MAP_PRIVATE, part->fd, 0);
	if (part->bytes == MAP_FAILED)
		part->bytes = NULL;
	return part->bytes;
}

/* ---- together ---- */

/* Finds each answer's frame, and the note behind the last one. */
static bool frames_find(struct split *split, const struct part *part)
{
	size_t at = 0;
	uint32_t type;
	ssize_t size;

	for (uint32_t i = part->begin; i < part->end; i++, at += (size_t)size) {
		struct fork_offset *place = &split->places[i];

		size = symbol_frame_peek(part->bytes + at, part->size - at, &type, NULL);
		if (size <= 0 || type != SYMBOL_ANSWER)
			return false;
		place->frame = part->bytes + at;
		place->size = (size_t)size;
	}
	size = at < part->size ? symbol_frame_peek(part->bytes + at, part->size - at, &type, NULL) : 0;
	if (size > 0 && !split->note[0]) {
		struct symbol_done done;

		if (symbol_done_parse(part->bytes + at, (size_t)size, &done, NULL))
			return false;
		snprintf(split->note, sizeof split->note, "%s", done.message);
	}
	return true;
}

static int number_compare(const void *left, const void *right)
{
	const struct fork_offset *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static bool frames_write(struct split *split, int fd)
{
	uint32_t count = split->request->offset_count;
	struct store_bytes out = {0};
	bool ok = true;

	qsort(split->places, count, sizeof *split->places, number_compare);
	for (uint32_t i = 0; i < count && ok; i++) {
		store_bytes_put(&out, split->places[i].frame, split->places[i].size);
		ok = !out.failed && (out.size < FLUSH_BYTES || !names_stream_write(fd, &out, NULL));
	}
	ok = ok && !names_stream_write(fd, &out, NULL);
	store_bytes_fini(&out);
	return ok;
}

/* What this process holds of what RLIMIT_DATA limits; its stack counts here, which is little. */
static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Each process has a limit of its own: the rest of the module's memory is divided among them, and the worker
 * has its share until its part is done. */
static void memory_share(unsigned parts, struct rlimit *whole)
{
	uint64_t used = data_bytes();
	struct rlimit part;

	if (getrlimit(RLIMIT_DATA, whole))
		*whole = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	part = *whole;
	if (part.rlim_cur != RLIM_INFINITY && part.rlim_cur > used)
		part.rlim_cur = used + (part.rlim_cur - used) / parts;
	setrlimit(RLIMIT_DATA, &part);
}

static bool split_run(struct split *split)
{
	struct part *own = &split->parts[0];
	struct rlimit whole;
	bool ok;

	memory_share(split->count, &whole);
	ok = copies_start(split) && part_answer(split, own, &own->own);
	setrlimit(RLIMIT_DATA, &whole);
	own->bytes = own->own.data;
	own->size = own->own.size;
	for (unsigned i = 1; i < split->count && ok; i++)
		ok = copy_wait(&split->parts[i]);
	snprintf(split->note, sizeof split->note, "%s", names_module_note(split->module));
	for (unsigned i = 0; i < split->count && ok; i++)
		ok = frames_find(split, &split->parts[i]);
	return ok;
}

static void parts_end(struct split *split)
{
	for (unsigned i = 0; i < split->count; i++) {
		struct part *part = &split->parts[i];

		if (part->pid > 0) {
			kill(part->pid, SIGKILL);
			waitpid(part->pid, NULL, 0);
		}
		if (i && part->bytes)
			munmap((void *)part->bytes, part->size);
		if (part->fd >= 0)
			close(part->fd);
		store_bytes_fini(&part->own);
	}
}

int names_fork_answer(struct names_module *module, const struct symbol_request *request, unsigned parts,
	int fd, const char **note)
{
	static struct split split; /* the worker has one thread */
	int rc = 0;

	split = (struct split){.module = module, .request = request};
	if (places_make(&split)) {
		parts_make(&split, parts < NAMES_POOL_MAX ? parts : NAMES_POOL_MAX);
		if (split_run(&split))
			rc = frames_write(&split, fd) ? 1 : -1;
		parts_end(&split);
	}
	free(split.places);
	*note = split.note;
	return rc;
}
