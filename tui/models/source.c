/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - sums the time of the window by line of one source file. Opening another file drops the sums.
 */
#include "tui/models/source.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "tui/screen/text.h"

static void forget_sums(struct source *source)
{
	free(source->inclusive_ns);
	free(source->exclusive_ns);
	free(source->extents);
	source->inclusive_ns = source->exclusive_ns = NULL;
	source->extents = NULL;
	source->extent_count = 0;
	source->begin_ns = source->end_ns = source->streams = 0;
	source->first = 1;
}

struct source *source_of(struct session *session)
{
	if (!session->source)
		session->source = calloc(1, sizeof(*session->source));
	if (session->source)
		session->source->file.run = session->run;
	return session->source;
}

void source_fini(struct source *source)
{
	forget_sums(source);
	source_file_fini(&source->file);
}

bool source_open(struct source *source, const char *path)
{
	if (strcmp(source->file.asked, path) != 0 || !path[0])
		forget_sums(source);
	return source_file_open(&source->file, path);
}

void source_look_up(struct source *source, const struct run *run)
{
	if (!source->extents)
		source_extents(run, source->file.asked, &source->extents, &source->extent_count);
}

/* Each line of the file that the path passes counts once, however often it recurs. */
static void add_entry(struct source *source, const struct run *run, const struct tile_entry *entry)
{
	const struct run_context *context = run_context(run, entry->context);
	const char *file = context->file;
	uint32_t line = context->line, counted[64];
	size_t count = 0, i;
	bool is_leaf = true;

	for (uint32_t scope = context->scope; scope != UINT32_MAX; scope = run_scope(run, scope)->parent) {
		if (line && line <= source->file.line_count && strcmp(file, source->file.asked) == 0) {
			for (i = 0; i < count && counted[i] != line; i++)
				;
			if (i == count)
				source->inclusive_ns[line] += entry->time_ns;
			if (i == count && count < 64)
				counted[count++] = line;
			if (is_leaf)
				source->exclusive_ns[line] += entry->time_ns;
		}
		is_leaf = false;
		file = run_scope(run, scope)->call_file;
		line = run_scope(run, scope)->call_line;
	}
}

void source_add_up(struct source *source, struct frame *frame, const uint32_t *streams, uint32_t stream_count)
{
	uint64_t key = store_hash64(streams, stream_count * sizeof(*streams), 7);

	if (source->inclusive_ns && source->begin_ns == frame->begin_ns && source->end_ns == frame->end_ns &&
		source->streams == key)
		return;
	free(source->inclusive_ns);
	free(source->exclusive_ns);
	source->inclusive_ns = calloc((size_t)source->file.line_count + 1, sizeof(uint64_t));
	source->exclusive_ns = calloc((size_t)source->file.line_count + 1, sizeof(uint64_t));
	source->begin_ns = frame->begin_ns;
	source->end_ns = frame->end_ns;
	source->streams = key;
	for (uint32_t s = 0; s < stream_count && source->inclusive_ns && source->exclusive_ns; s++) {
		const struct frame_line *line = frame_leaves(frame, streams[s]);
		if (!line && frame_line(frame, streams[s]))
			source->end_ns = source->begin_ns; /* reading was stopped: to be asked again */
		for (uint32_t e = 0; line && e < line->first[frame->columns.count]; e++)
			if (line->entries[e].context && line->entries[e].context < frame->context_count)
				add_entry(source, frame->run, &line->entries[e]);
	}
}

void source_line_text(const struct source *source, uint32_t line, unsigned tab, char *out, bool is_ascii)
{
	char raw[LABEL_BYTES];
	size_t used = 0, size_bytes;
	const char *text = source_file_line(&source->file, line, &size_bytes);

	for (size_t i = 0; i < size_bytes && used + tab + 1 < sizeof(raw); i++) {
		if (text[i] == '\r' && i + 1 == size_bytes)
			break;
		if (text[i] != '\t') {
			raw[used++] = text[i];
			continue;
		}
		do
			raw[used++] = ' ';
		while (used % tab);
	}
	raw[used] = '\0';
	text_clean(out, LABEL_BYTES, raw, is_ascii);
}
