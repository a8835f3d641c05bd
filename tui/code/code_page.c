/* SPDX-License-Identifier: Apache-2.0 */
/* code_page.c - see code_page.h. */
#include "tui/code/code_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/kernels.h"
#include "store/base/hash.h"
#include "tui/models/advice_page.h"
#include "tui/session/deadline.h"

#define FILES_WALKED_FOR 8u /* of a kernel, until one is found */

struct code_page *code_page_of(struct session *session)
{
	if (!session->code)
		session->code = calloc(1, sizeof(*session->code));
	return session->code;
}

static void forget(struct code_page *page)
{
	code_lines_fini(&page->lines);
	kernel_listing_fini(&page->listing);
	page->trail_count = 0;
	page->file = LISTING_NO_FILE;
	page->line = page->at = 0;
}

void code_page_free(struct code_page *page)
{
	if (!page)
		return;
	forget(page);
	free(page->kernel);
	free(page->shown.kernel);
	free(page);
}

/* ---- which kernel ---- */

bool code_page_is_offered(struct session *session)
{
	return advice_page_is_offered(session) && advice_page_kernel_at_cursor(session)[0];
}

/* False: no memory. */
static bool choose(struct code_page *page, const char *kernel)
{
	char *copy = kernel ? strdup(kernel) : NULL;

	if (kernel && !copy)
		return false;
	free(page->kernel);
	page->kernel = copy;
	return true;
}

void code_page_open(
	struct session *session, const struct view *view, const char *kernel, const struct view *back)
{
	struct code_page *page = code_page_of(session);

	if (!page || (kernel && !choose(page, kernel)))
		return;
	page->is_chosen = kernel != NULL;
	page->back = back;
	if (!back) {
		session_open_pane(session, view);
		return;
	}
	if (session->full)
		session->full = view;
	else
		session->pane = view;
	session->focus = view;
}

/* The cursor's, if it is on one; else the last one stays. */
static bool follow_cursor(struct session *session, struct code_page *page)
{
	const char *kernel = page->is_chosen ? "" : advice_page_kernel_at_cursor(session);

	return !kernel[0] || (page->kernel && strcmp(page->kernel, kernel) == 0) || choose(page, kernel);
}

/* ---- reading ---- */

/* A name is a pattern that may match others, too. The list is by time. */
static const struct kernel *kernel_of(const struct kernels *kernels, const char *name)
{
	size_t count;
	const struct kernel *list = kernels_list(kernels, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].total > 0 && (!name || strcmp(list[i].name, name) == 0))
			return &list[i];
	return NULL;
}

static int no_samples(const struct code_page *page, struct error *error)
{
	return error_set(error, ERROR_EMPTY, "No instruction of %.400s was sampled in this window.",
		page->kernel ? page->kernel : "any kernel");
}

static int no_code(const struct kernel_listing *listing, struct error *error)
{
	return error_set(error, ERROR_EMPTY,
		"The run does not keep the code of %.400s, or it cannot be decoded: hpct-advise --annotate "
		"--binary FILE reads it from a file.",
		listing->name);
}

static int read_listing(struct session *session, struct code_page *page, struct error *error)
{
	struct kernels_options options = {.kernel = page->kernel};
	struct kernels *kernels = NULL;
	const struct kernel *kernel;
	struct select *select;
	int result = session_select(&select, session, error);

	if (result)
		return result;
	result = kernels_open(&kernels, session->run, select, &options, error);
	if (!result) {
		kernel = kernel_of(kernels, page->kernel);
		result = kernel ? kernel_listing_make(
					  &page->listing, kernel, kernels_summary(kernels)->kernel_ns, error)
				: no_samples(page, error);
	} else if (result == -ERROR_EMPTY && page->kernel) {
		result = no_samples(page, error);
	}
	if (!result && !page->listing.count)
		result = no_code(&page->listing, error);
	kernels_close(kernels);
	select_free(select);
	return result;
}

/* Kept while there is nothing to show: a key has put the reading off, or the window has no samples. */
static void remember(struct code_page *page)
{
	if (!page->listing.count)
		return;
	free(page->shown.kernel);
	page->shown = (struct code_place){
		strdup(page->listing.name), page->listing.count, page->at, page->trail_count};
}

static uint32_t hottest_of(const struct kernel_listing *listing)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < listing->count; i++)
		if (listing->instructions[i].all > listing->instructions[best].all)
			best = i;
	return best;
}

/* The same instruction, when only the window has changed; else the hottest. */
static void put_cursor(struct code_page *page)
{
	const struct code_place *before = &page->shown;
	bool is_same = before->kernel && before->count == page->listing.count &&
		       strcmp(before->kernel, page->listing.name) == 0;

	code_page_set(page, is_same ? before->at : hottest_of(&page->listing));
	if (is_same)
		page->trail_count = before->trail_count;
}

static void load(struct session *session, struct code_page *page)
{
	struct error error = {0};
	int result;

	remember(page);
	forget(page);
	page->trouble[0] = '\0';
	page->is_loaded = true;
	result = read_listing(session, page, &error);
	if (!result) {
		put_cursor(page);
		page->searched = SIZE_MAX;
	} else {
		forget(page);
		page->is_loaded = !deadline_read_later(session);
		snprintf(page->trouble, sizeof(page->trouble), "%s",
			page->is_loaded ? error.text : "reading ...");
	}
}

/* ---- sources ---- */

bool code_page_find_source(const struct code_page *page, struct source *source)
{
	uint32_t most = source_file_walks(&source->file) ? FILES_WALKED_FOR : UINT32_MAX;

	for (uint32_t i = 0; i < page->listing.file_count && i < most; i++)
		if (source_open(source, page->listing.files[i].path))
			return true;
	return false;
}

/* Again after :map has told of another place. */
static void look_for_sources(struct session *session, struct code_page *page)
{
	struct source *source = source_of(session);
	size_t places = source ? source->file.map_count + source->file.directory_count : 0;

	if (!source || page->searched == places)
		return;
	page->searched = places;
	page->has_source = code_page_find_source(page, source);
}

struct source *code_page_source(struct session *session, struct code_page *page)
{
	struct source *source = source_of(session);

	if (!source || page->file == LISTING_NO_FILE ||
		!source_open(source, page->listing.files[page->file].path))
		return NULL;
	return source;
}

const struct code_lines *code_page_lines(struct code_page *page)
{
	return code_lines_take(&page->lines, &page->listing, page->file) ? &page->lines : NULL;
}

bool code_page_take(struct session *session, struct code_page *page)
{
	uint64_t of[] = {session->frame.begin_ns, session->frame.end_ns, run_end_ns(session->run)}, key;

	if (!follow_cursor(session, page))
		return false;
	key = store_hash64(session->filter, strlen(session->filter), store_hash64(of, sizeof(of), 13));
	if (page->kernel)
		key = store_hash64(page->kernel, strlen(page->kernel), key);
	if (!page->is_loaded || key != page->key) {
		page->key = key;
		load(session, page);
	}
	if (!page->trouble[0])
		look_for_sources(session, page);
	return page->trouble[0] == '\0';
}

/* ---- the cursor ---- */

void code_page_set(struct code_page *page, uint32_t at)
{
	const struct listing_instruction *of = &page->listing.instructions[at];

	if (at >= page->listing.count)
		return;
	page->at = at;
	page->line = of->line;
	if (of->file != LISTING_NO_FILE)
		page->file = of->file;
}

void code_page_set_line(struct code_page *page, uint32_t line)
{
	const struct code_lines *lines = code_page_lines(page);
	const struct code_line *of = lines ? code_lines_find(lines, line) : NULL;

	page->line = line;
	if (of)
		page->at = of->hottest;
}

enum stall code_page_stall(const struct listing_instruction *of)
{
	enum stall most = STALL_NONE;

	for (unsigned stall = 0; stall < STALL_COUNT; stall++)
		if (stall != STALL_NONE && of->by[stall] > (most == STALL_NONE ? 0 : of->by[most]))
			most = (enum stall)stall;
	return most;
}

/* ---- rows ---- */

static bool has_headings(const struct code_page *page)
{
	return page->listing.function_count > 1;
}

uint32_t code_page_row_count(const struct code_page *page)
{
	return page->listing.count + (has_headings(page) ? page->listing.function_count : 0);
}

uint32_t code_page_row_of(const struct code_page *page, uint32_t at)
{
	return has_headings(page) ? at + page->listing.instructions[at].function + 1 : at;
}

uint32_t code_page_row_at(const struct code_page *page, uint32_t row, uint32_t *function)
{
	uint32_t low = 0, high = page->listing.function_count;

	*function = 0;
	if (!has_headings(page))
		return row;
	while (low + 1 < high) { /* the last function whose heading is not below the row */
		uint32_t middle = low + (high - low) / 2;

		if (page->listing.functions[middle].first + middle <= row)
			low = middle;
		else
			high = middle;
	}
	*function = low;
	return page->listing.functions[low].first + low == row ? UINT32_MAX : row - low - 1;
}
