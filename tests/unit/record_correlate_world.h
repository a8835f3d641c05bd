/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_correlate_world.h - for tests of the join: a process with an activity ring, the launches and
 * operations that go into it, and what the store holds of them.
 */
#ifndef TESTS_UNIT_RECORD_CORRELATE_WORLD_H
#define TESTS_UNIT_RECORD_CORRELATE_WORLD_H

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/agent/base/ring.h"
#include "record/gpu/correlate_internal.h"
#include "record/gpu/gpu_module.h"
#include "store/read/reader.h"
#include "tests/unit/seed.h"

#define BYTES (EVENT_MODULES_AT + EVENT_RING_HEADER + EVENT_ACTIVITY_DATA)

struct fixture {
	struct store_writer *writer;
	void *shared; /* the memory that the activity ring lies in */
	struct gpu_process process;
	uint64_t lost;
	struct ring ring;
	uint32_t host, path, thread;
	char store[64];
};

static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_stream stream = {.kind = STORE_STREAM_CPU, .rank = -1, .end_ns = STORE_OPEN_NS};
	struct event_ring *shared;
	struct error error;

	snprintf(f->store, sizeof(f->store), "/tmp/hpct-join-%d.mdb", (int)getpid());
	unlink(f->store);
	assert_int_equal(store_writer_create(&f->writer, f->store, &error), 0);
	f->shared =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(f->shared, MAP_FAILED);
	f->process.command = "test";
	f->process.begin_ns = 1000;
	f->process.rank = -1;
	shared = (struct event_ring *)((char *)f->shared + EVENT_MODULES_AT);
	shared->state = EVENT_RING_CLAIMED;
	f->process.activity = shared;
	f->process.lost = &f->lost;
	ring_init(&f->ring, shared, EVENT_ACTIVITY_DATA);
	f->host = store_writer_text(f->writer, "node", 4);
	f->path = store_writer_context(f->writer, STORE_CONTEXT_PROGRAM_ROOT,
		store_writer_text_module(f->writer), store_writer_text(f->writer, "main", 4));
	f->thread = store_writer_stream(f->writer, &stream);
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	char lock[80];

	correlate_free(f->process.correlate);
	munmap(f->shared, BYTES);
	store_writer_abort(f->writer);
	snprintf(lock, sizeof(lock), "%s-lock", f->store);
	unlink(f->store);
	unlink(lock);
	free(f);
	return 0;
}

static inline uint64_t launch(struct fixture *f, uint64_t correlation, uint64_t time_ns)
{
	struct store_record call = {.begin_ns = time_ns, .end_ns = time_ns + 10, .context = f->path};

	return correlate_launch(&f->process, correlation, f->thread, CORRELATE_QUEUED, &call);
}

static inline void operation_put(struct fixture *f, const struct event_gpu *like)
{
	struct event_gpu *gpu;
	struct event_header h;

	assert_true(ring_begin(&f->ring, sizeof(*gpu), sizeof(*gpu), 1));
	gpu = ring_put(&f->ring, EVENT_GPU, 0, 0, sizeof(*gpu));
	h = gpu->h;
	*gpu = *like;
	gpu->h = h;
	ring_commit(&f->ring);
}

static inline void operation(struct fixture *f, uint32_t what, uint64_t correlation, uint64_t begin_ns,
	uint64_t end_ns, uint32_t queue)
{
	operation_put(f, &(struct event_gpu){.begin_ns = begin_ns,
				 .end_ns = end_ns,
				 .bytes = 8,
				 .correlation = correlation,
				 .operation = what,
				 .queue = queue});
}

static inline void text(struct fixture *f, uint64_t id, const char *bytes)
{
	size_t size = strlen(bytes);
	struct event_text *put;

	assert_true(ring_begin(&f->ring, sizeof(*put) + size + 8, sizeof(*put) + size + 8, 1));
	put = ring_put(&f->ring, EVENT_TEXT, 0, (uint32_t)size, sizeof(*put) + size);
	put->id = id;
	memcpy(put->bytes, bytes, size);
	ring_commit(&f->ring);
}

static inline void drain(struct fixture *f, uint64_t until_ns)
{
	correlate_look(&f->process);
	correlate_drain(&f->process, f->writer, f->host, until_ns);
}

/* Spans of the n-th stream; the thread's is 0, its queues follow. */
static inline uint64_t spans(struct fixture *f, uint32_t stream)
{
	return store_writer_stream_edit(f->writer, stream)->count[STORE_SPANS];
}

static inline void launch_add(struct correlate_launches *launches, uint64_t correlation, uint64_t link)
{
	struct correlate_launch *launch = correlate_launches_add(launches, correlation);

	assert_non_null(launch);
	launch->link = launch->begin_ns = link;
}

/* The spans of a stream as a reader of the run finds them, by time; returns how many. */
static inline size_t spans_read(
	struct store_reader *reader, uint32_t stream, struct store_record *spans, size_t room)
{
	struct store_cursor *cursor;
	struct store_chunk chunk;
	struct store_batch batch;
	struct error error = {0};
	size_t count = 0;

	store_batch_init(&batch);
	assert_int_equal(store_cursor_open(&cursor, reader, stream, STORE_SPANS, 0, UINT64_MAX, &error), 0);
	while (store_cursor_next(cursor, &chunk, &error) > 0) {
		assert_int_equal(store_chunk_decode(&chunk, STORE_ALL, &batch, &error), 0);
		for (size_t i = 0; i < batch.count && count < room; i++)
			spans[count++] = store_batch_record(&batch, i);
	}
	store_cursor_close(cursor);
	store_batch_fini(&batch);
	return count;
}

static inline struct store_reader *committed(struct fixture *f)
{
	struct store_reader *reader;
	struct error error = {0};

	if (store_writer_commit(f->writer, &error) || store_reader_open(&reader, f->store, &error))
		fail_msg("%s", error.text);
	return reader;
}

/* An ELF file with sections of these names, "" ends them: as much of a cubin as is looked at. */
static inline size_t image_of(char image[1024], const char *const *names)
{
	Elf64_Ehdr header = {.e_shentsize = sizeof(Elf64_Shdr), .e_shoff = sizeof(header), .e_shstrndx = 0};
	Elf64_Shdr sections[8] = {{.sh_type = SHT_STRTAB}};
	char strings[256] = "";
	size_t used = 1;
	unsigned count = 1;

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	for (; **names; names++, count++) {
		sections[count] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_name = (uint32_t)used};
		strcpy(strings + used, *names);
		used += strlen(*names) + 1;
	}
	header.e_shnum = (uint16_t)count;
	sections[0].sh_offset = sizeof(header) + count * sizeof(*sections);
	sections[0].sh_size = used;
	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), sections, count * sizeof(*sections));
	memcpy(image + sections[0].sh_offset, strings, used);
	return sections[0].sh_offset + used;
}

#endif
