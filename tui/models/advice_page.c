/* SPDX-License-Identifier: Apache-2.0 */
/* advice_page.c - see advice_page.h. */
#include "tui/models/advice_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/advise_text.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "tui/session/deadline.h"

struct advice_page *advice_page_of(struct session *session)
{
	if (!session->advice)
		session->advice = calloc(1, sizeof(*session->advice));
	return session->advice;
}

bool advice_page_is_offered(const struct session *session)
{
	if (session->rows.line_count == session->rows.stream_count) /* samples of instructions have no rows */
		return false;
	for (uint32_t i = run_stream_count(session->run); i-- > 0;)
		if (run_stream(session->run, i)->s.kind == STORE_STREAM_PC)
			return true;
	return false;
}

static void forget(struct advice_page *page)
{
	free(page->text);
	free(page->lines);
	page->text = NULL;
	page->lines = NULL;
	page->count = page->top = 0;
}

void advice_page_free(struct advice_page *page)
{
	if (!page)
		return;
	forget(page);
	free(page);
}

const char *advice_page_kernel_at_cursor(struct session *session)
{
	uint32_t stream, context, function;

	if (!session_stream(session, &stream) || run_stream(session->run, stream)->s.kind != STORE_STREAM_GPU)
		return "";
	context = session_leaf_context(session);
	function = context ? run_scope(session->run, run_context(session->run, context)->scope)->function
			   : UINT32_MAX;
	return function == UINT32_MAX ? "" : run_function(session->run, function)->name;
}

static int put_text(struct session *session, struct advice_page *page, FILE *out, struct error *error)
{
	struct kernels_options options = {.kernel = page->kernel[0] ? page->kernel : NULL};
	struct kernels *kernels = NULL;
	struct select *select;
	int result = session_select(&select, session, error);

	if (result)
		return result;
	result = kernels_open(&kernels, session->run, select, &options, error);
	if (!result)
		result = advise_text(out, session->run, kernels, NULL, ADVISE_TOP, error);
	kernels_close(kernels);
	select_free(select);
	return result;
}

static bool take_lines(struct advice_page *page)
{
	const char *at = page->text;
	size_t most = 1;

	for (const char *c = at; *c; c++)
		most += *c == '\n';
	page->lines = calloc(most, sizeof(*page->lines));
	for (; page->lines && *at; at = strchr(at, '\n') + 1)
		page->lines[page->count++] = at;
	return page->lines != NULL;
}

static void load(struct session *session, struct advice_page *page)
{
	struct error error = {0};
	size_t size;
	FILE *out;
	int result;

	forget(page);
	page->trouble[0] = '\0';
	page->is_loaded = true;
	out = open_memstream(&page->text, &size);
	result = out ? put_text(session, page, out, &error) : error_memory(&error);
	if (out && fclose(out) && !result)
		result = error_memory(&error);
	if (!result && !take_lines(page))
		result = error_memory(&error);
	if (!result)
		return;
	forget(page);
	page->is_loaded = !deadline_read_later(session);
	snprintf(page->trouble, sizeof(page->trouble), "%s", page->is_loaded ? error.text : "reading ...");
}

bool advice_page_take(struct session *session, struct advice_page *page)
{
	const char *kernel = page->is_all ? "" : advice_page_kernel_at_cursor(session);
	uint64_t of[] = {session->frame.begin_ns, session->frame.end_ns, run_end_ns(session->run)};
	uint64_t key = store_hash64(session->filter, strlen(session->filter),
		store_hash64(kernel, strlen(kernel), store_hash64(of, sizeof(of), 11)));

	if (!page->is_loaded || key != page->key) {
		page->key = key;
		snprintf(page->kernel, sizeof(page->kernel), "%s", kernel);
		load(session, page);
	}
	return page->trouble[0] == '\0';
}

/* "   1. Warp Balance: importance ..." */
static bool is_worth(const char *line)
{
	return strncmp(line, "   ", 3) == 0 && line[3] >= '1' && line[3] <= '9';
}

bool advice_page_step(struct advice_page *page, bool is_back)
{
	uint32_t at = page->top;

	while (is_back ? at > 0 : at + 1 < page->count) {
		at = is_back ? at - 1 : at + 1;
		if (is_worth(page->lines[at])) {
			page->top = at;
			return true;
		}
	}
	return false;
}

/* As the run has it: the text escapes names. False: it does not fit. */
static bool name_take(char *out, size_t size_bytes, const char *text, size_t size)
{
	struct store_bytes name = {0};
	bool fits = escape_undo(&name, text, size) && !name.failed && name.size < size_bytes;

	if (fits) {
		memcpy(out, name.data, name.size);
		out[name.size] = '\0';
	}
	store_bytes_fini(&name);
	return fits;
}

/* "NAME  36.13 us, 1.2 % of kernel time" begins what is said of a kernel. */
bool advice_page_top_kernel(const struct advice_page *page, char *out, size_t size_bytes)
{
	for (uint32_t at = page->top + 1; at-- > 0 && at < page->count;) {
		const char *line = page->lines[at], *end = NULL;
		size_t size = strcspn(line, "\n");

		if (!size || *line == ' ')
			continue;
		for (size_t i = 0; i + 1 < size; i++)
			if (line[i] == ' ' && line[i + 1] == ' ')
				end = line + i;
		return end && name_take(out, size_bytes, line, (size_t)(end - line));
	}
	return false;
}
