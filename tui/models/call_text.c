/* SPDX-License-Identifier: Apache-2.0 */
/* call_text.c - see call_text.h. Of calls within each other the last to begin is told. */
#include "tui/models/call_text.h"

#include <stdio.h>
#include <string.h>

#include "store/base/attribute.h"
#include "timeline/report/report.h"
#include "timeline/scan/scan.h"
#include "tui/session/session.h"

#define WORD_BYTES 64

/* What the path ends in: only then spans are read. */
static bool is_call(const struct session *session, uint32_t context)
{
	uint32_t scope = context ? run_context(session->run, context)->scope : UINT32_MAX;
	const char *name;

	if (scope == UINT32_MAX)
		return false;
	name = run_function(session->run, run_scope(session->run, scope)->function)->name;
	return !strncmp(name, "nccl", 4) || strstr(name, "MPI_") || !strncmp(name, "mpi_", 4);
}

/* Words are the program's: what no terminal shows as it is becomes '?'. */
static void append(char *out, size_t size, const char *before, const char *word)
{
	size_t used = strlen(out);

	snprintf(out + used, size - used, "%s%s", before, word);
	for (char *at = out + used; *at; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
}

/* False: the span is no call. */
static bool text_make(const struct run *run, const struct batch *batch, size_t row, char *out, size_t size)
{
	static const struct {
		const char *key, *before;
	} words[] = {{"seq", " "}, {"peer", ", peer "}, {"rank", ", rank "}, {"ranks", " of "}};
	char word[WORD_BYTES], bytes[REPORT_HUMAN_MAX];
	size_t text_size;
	const char *text = batch_attributes(run, batch, row, &text_size);

	if (!attribute_get(text, text_size, "call", word, sizeof word))
		return false;
	out[0] = '\0';
	append(out, size, "", word);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (attribute_get(text, text_size, words[i].key, word, sizeof word))
			append(out, size, words[i].before, word);
	if (batch->bytes[row]) {
		report_human_size(bytes, batch->bytes[row]);
		append(out, size, ", ", bytes);
	}
	if (attribute_get(text, text_size, "comm", word, sizeof word))
		append(out, size, ", ", word); /* last: a pane may be narrow */
	return true;
}

bool call_text_at_cursor(struct session *session, char *out, size_t size_bytes)
{
	uint64_t at_ns = session_cursor_ns(session);
	const struct batch *batch;
	struct error error = {0};
	struct scan *scan;
	bool is_there = false;
	uint32_t stream;

	if (!session_stream(session, &stream) || !is_call(session, session_leaf_context(session)) ||
		scan_open(&scan, session->run, stream, STORE_SPANS, at_ns, at_ns + 1,
			STORE_END | STORE_WHAT | STORE_ATTRIBUTES | STORE_BYTES, 0, &error))
		return false;
	while (scan_next(scan, &batch, &error) > 0)
		for (size_t row = 0; row < batch->count; row++)
			if (batch->what[row] == STORE_OP_MPI || batch->what[row] == STORE_OP_KERNEL ||
				batch->what[row] >= STORE_OP_COUNT)
				is_there |= text_make(session->run, batch, row, out, size_bytes);
	scan_close(scan);
	return is_there;
}
