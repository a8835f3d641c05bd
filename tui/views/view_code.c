/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_code.c - the source of a GPU kernel beside its instructions, with the samples of each and the arrow
 * from an instruction to those that it waits for (tui/code/). Below SPLIT_COLUMNS one side is shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/base/path.h"
#include "tui/code/code_move.h"
#include "tui/code/code_sides.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define SPLIT_COLUMNS 100
#define INSTRUCTION_COLUMNS 100 /* more would be blank: the source has them */
#define LEGEND_ROWS 8		/* of the pane, that have room for one of reasons */
#define CHAIN_STEPS 4u
#define WAITED_LEAST 0.01 /* of the samples, that wait for an instruction, are worth a word */

/* ---- drawing ---- */

static void draw_split(struct session *session, struct code_page *page, struct grid *grid,
	struct grid_area area, const struct stall_order *order)
{
	int half = area.columns - area.columns / 2 - 1,
	    left = area.columns - 1 - (half < INSTRUCTION_COLUMNS ? half : INSTRUCTION_COLUMNS);
	struct grid_area source = {area.row, area.column, area.rows, left},
			 instructions = {
				 area.row, area.column + left + 1, area.rows, area.columns - left - 1};

	code_source_draw(session, page, grid, source, order);
	code_instructions_draw(page, grid, instructions, order, false);
	for (int row = 0; row < area.rows; row++)
		grid_put(grid, area.row + row, area.column + left, 0x2502, GRID_GREY);
}

/* Why no source stands beside the instructions; rows that it took. */
static int draw_notice(const struct code_page *page, struct grid *grid, struct grid_area area)
{
	char raw[LABEL_BYTES], text[LABEL_BYTES];

	if (page->has_source || area.rows < 5)
		return 0;
	if (page->listing.file_count)
		snprintf(raw, sizeof(raw), "No source for %.900s: :map OLD NEW tells where it is.",
			page->listing.files[0].path);
	else
		snprintf(raw, sizeof(raw),
			"No lines: -lineinfo (nvcc) or -gline-tables-only (clang) adds them, and changes no "
			"instruction.");
	text_clean(text, sizeof(text), raw, grid->is_ascii);
	grid_text(grid, area.row, area.column + 1, area.columns - 1, text, GRID_WARNING);
	return 1;
}

static void draw_sides(struct session *session, struct code_page *page, struct grid *grid,
	struct grid_area area, const struct stall_order *order)
{
	int taken;

	if (page->has_source && area.columns >= SPLIT_COLUMNS) {
		draw_split(session, page, grid, area, order);
		return;
	}
	if (page->has_source && page->side == CODE_SOURCE) {
		code_source_draw(session, page, grid, area, order);
		return;
	}
	taken = draw_notice(page, grid, area);
	area.row += taken;
	area.rows -= taken;
	code_instructions_draw(page, grid, area, order, true);
}

static void code_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct code_page *page = code_page_of(session);
	struct stall_order order;
	char text[LABEL_BYTES];

	if (!page || area.rows < 2)
		return;
	if (session->is_unread || !code_page_take(session, page)) {
		text_clean(text, sizeof(text), session->is_unread ? "reading ..." : page->trouble,
			grid->is_ascii);
		grid_text(grid, area.row, area.column + 2, area.columns - 2, text, GRID_GREY);
		return;
	}
	if (!page->has_source)
		page->side = CODE_INSTRUCTIONS;
	stall_order_take(&order, page->listing.by);
	if (area.rows >= LEGEND_ROWS) {
		area.rows--;
		stall_bar_legend(grid, area.row + area.rows, area.column + 1, area.columns - 1,
			page->listing.by, &order);
	}
	draw_sides(session, page, grid, area, &order);
}

/* ---- keys ---- */

/* Through both sides, then on to the next pane. */
static bool next_side(struct session *session, struct code_page *page)
{
	bool was_source = page->side == CODE_SOURCE;

	if (!page->has_source)
		return session->full != NULL;
	page->side = was_source ? CODE_INSTRUCTIONS : CODE_SOURCE;
	return session->full || was_source;
}

static bool go_back(struct session *session, struct code_page *page)
{
	const struct view *back = page->back;

	page->back = NULL;
	if (!back)
		return false;
	if (session->full)
		session->full = back;
	else
		session->pane = back;
	session->focus = back;
	return true;
}

static void put_side(struct code_page *page, enum code_side side)
{
	if (page->has_source)
		page->side = side;
}

static bool act_move(struct session *session, struct code_page *page, enum keys_action action)
{
	int rows;

	switch (action) {
	case KEYS_DO_DOWN:
	case KEYS_DO_UP:
		code_move_by(session, page, action == KEYS_DO_DOWN ? 1 : -1);
		return true;
	case KEYS_DO_GROUP_DOWN:
	case KEYS_DO_GROUP_UP:
		code_move_by(session, page, action == KEYS_DO_GROUP_DOWN ? 10 : -10);
		return true;
	case KEYS_DO_SCROLL_DOWN:
	case KEYS_DO_PIN: /* the space bar pages */
	case KEYS_DO_SCROLL_UP:
		rows = page->side == CODE_SOURCE ? page->source_rows : page->rows;
		code_move_by(session, page, action == KEYS_DO_SCROLL_UP ? -rows : rows);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
	case KEYS_DO_WINDOW_END:
		code_move_end(session, page, action == KEYS_DO_WINDOW_END);
		return true;
	case KEYS_DO_LEFT:
	case KEYS_DO_RIGHT:
		put_side(page, action == KEYS_DO_LEFT ? CODE_SOURCE : CODE_INSTRUCTIONS);
		return true;
	case KEYS_DO_LEFT_TEN:
	case KEYS_DO_RIGHT_TEN:
		code_move_text(page, action == KEYS_DO_LEFT_TEN ? -10 : 10);
		return true;
	default:
		return false;
	}
}

static bool act_seek(struct session *session, struct code_page *page, enum keys_action action)
{
	const char *what = page->side == CODE_SOURCE ? "line" : "instruction";

	switch (action) {
	case KEYS_DO_GAP_BACK:
	case KEYS_DO_GAP_NEXT:
		if (!code_move_hot(page, action == KEYS_DO_GAP_BACK))
			session_say(session, "that was the %s %s of 1 %% or more",
				action == KEYS_DO_GAP_BACK ? "first" : "last", what);
		return true;
	case KEYS_DO_GAP_LARGER:
	case KEYS_DO_GAP_SMALLER:
		if (!code_move_by_heat(page, action == KEYS_DO_GAP_LARGER))
			session_say(session, "no %s has %s samples", what,
				action == KEYS_DO_GAP_LARGER ? "more" : "fewer");
		return true;
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		code_move_find(session, action == KEYS_DO_FIND_BACK);
		return true;
	case KEYS_DO_ENTER:
		code_move_to_cause(session, page);
		return true;
	case KEYS_DO_BACK:
		if (!code_move_back(page))
			session_say(session, "no jump to go back from");
		return true;
	default:
		return false;
	}
}

static bool code_act(struct session *session, enum keys_action action)
{
	struct code_page *page = session->code;

	if (!page)
		return false;
	if (action == KEYS_DO_QUIT || action == KEYS_DO_CANCEL)
		return go_back(session, page);
	if (!page->listing.count)
		return false;
	if (action == KEYS_DO_NEXT_PANE)
		return next_side(session, page);
	return act_move(session, page, action) || act_seek(session, page, action);
}

/* ---- title and status ---- */

static void code_title(struct session *session, char *out, size_t size_bytes)
{
	const struct code_page *page = session->code;
	char kernel[LABEL_BYTES];

	out[0] = '\0';
	if (!page || !page->listing.count)
		return;
	label_fit(kernel, page->listing.functions[0].name, 40, LABEL_TABLE, session->looks.is_ascii);
	snprintf(out, size_bytes, "%s", kernel);
	if (page->listing.time_ns)
		snprintf(out + strlen(out), size_bytes - strlen(out), "  %.1f %% of kernel time",
			100 * page->listing.kernel_share);
}

/* "170 FADD": the operation, without what it works on. */
static void put_operation(char *out, size_t size_bytes, const struct listing_instruction *of)
{
	const char *text = of->text;
	size_t size;

	if (*text == '@')
		text += strcspn(text, " ") + (strchr(text, ' ') != NULL);
	size = strcspn(text, " ");
	snprintf(out, size_bytes, "%" PRIx64 " %.*s", of->address, (int)(size < 64 ? size : 64), text);
}

static size_t add_text(char *out, size_t size_bytes, size_t used, const char *text)
{
	return used < size_bytes ? used + (size_t)snprintf(out + used, size_bytes - used, "%s", text) : used;
}

/* ", waits for 130 LDG 99 %, it for 120 IADD3 53 %", as far as the chain goes. */
static size_t put_chain(
	const struct kernel_listing *listing, uint32_t at, char *out, size_t size_bytes, size_t used)
{
	uint32_t met[CHAIN_STEPS + 1] = {at};
	char operation[96], text[160];

	for (unsigned step = 0; step < CHAIN_STEPS; step++) {
		const struct listing_instruction *of = &listing->instructions[at];
		const struct listing_source *source = &listing->sources[of->first_source];

		if (!of->source_count || source->share < CODE_SHARE_LEAST)
			break;
		for (unsigned i = 0; i <= step; i++)
			if (met[i] == source->at)
				return used;
		at = met[step + 1] = source->at;
		put_operation(operation, sizeof(operation), &listing->instructions[at]);
		snprintf(text, sizeof(text), "%s%s %.0f %%", step ? ", it for " : ", waits for ", operation,
			100 * source->share);
		used = add_text(out, size_bytes, used, text);
	}
	return used;
}

/* The share of the kernel's samples that wait for an instruction. */
static double waited_for(const struct kernel_listing *listing, uint32_t at)
{
	double sum = 0;

	for (uint32_t i = 0; i < listing->count; i++) {
		const struct listing_instruction *of = &listing->instructions[i];
		const struct listing_source *source = &listing->sources[of->first_source];

		for (uint32_t s = 0; s < of->source_count; s++)
			if (source[s].at == at && !source[s].is_feeding)
				sum += source[s].share * (of->all - of->by[STALL_NONE]);
	}
	return sum;
}

static void status_instruction(const struct code_page *page, char *out, size_t size_bytes)
{
	const struct kernel_listing *listing = &page->listing;
	const struct listing_instruction *of = &listing->instructions[page->at];
	char operation[96], percent[CODE_PERCENT], text[96];
	double waited = waited_for(listing, page->at);
	enum stall most = code_page_stall(of);
	size_t used;

	put_operation(operation, sizeof(operation), of);
	code_percent(percent, page, of->all);
	code_samples(text, page, of->all);
	used = (size_t)snprintf(out, size_bytes, "%s  %s %% (%s)", operation, percent[0] ? percent : "0",
		text[0] ? text : "0");
	if (waited >= WAITED_LEAST * listing->all) {
		code_percent(percent, page, waited);
		snprintf(text, sizeof(text), ", %s %% wait for it", percent);
		used = add_text(out, size_bytes, used, text);
	}
	if (most != STALL_NONE) {
		snprintf(text, sizeof(text), "  %s %.0f %%", stall_name(most), 100 * of->by[most] / of->all);
		used = add_text(out, size_bytes, used, text);
	}
	used = put_chain(listing, page->at, out, size_bytes, used);
	if (most != STALL_NONE) {
		snprintf(text, sizeof(text), "; %s", stall_about(most));
		add_text(out, size_bytes, used, text);
	}
}

static void status_line(
	const struct session *session, const struct code_page *page, char *out, size_t size_bytes)
{
	const struct code_line *of = code_lines_find(&page->lines, page->line);
	const char *path = page->file == LISTING_NO_FILE ? "" : page->listing.files[page->file].path;
	char file[LABEL_BYTES], percent[CODE_PERCENT], samples[CODE_PERCENT];

	label_file(file, path_base(path), (int)page->line, 40, session->looks.is_ascii);
	if (!of) {
		snprintf(out, size_bytes, "%.200s  no instruction of this kernel", file);
		return;
	}
	code_percent(percent, page, of->all);
	code_samples(samples, page, of->all);
	snprintf(out, size_bytes, "%.200s  %s %% (%s samples)  %u instruction%s", file,
		percent[0] ? percent : "0", samples[0] ? samples : "0", of->count, of->count == 1 ? "" : "s");
}

static bool code_status(struct session *session, char *out, size_t size_bytes)
{
	const struct code_page *page = session->code;

	if (!page || !page->listing.count)
		return false;
	if (page->side == CODE_SOURCE)
		status_line(session, page, out, size_bytes);
	else
		status_instruction(page, out, size_bytes);
	return true;
}

static const struct view_key code_keys[] = {{"j k  J K", "a line; ten; Space, PgUp, PgDn a page"},
	{"Tab  h l", "source lines, or instructions; H L move long lines"},
	{"Enter  BS", "to the instruction that this one waits for most; back"},
	{"[ ]", "the instruction or line of 1 % or more before, the next"},
	{"{ }", "the next hotter one, the next less hot one"}, {"/ n N", "find an instruction, or a line"},
	{"letters", "# issued  G GMEM  D IDEP  S SYNC  T MTHR  P PIPE  C CMEM"},
	{"", "F IFET  N NSEL: ready  X TMEM  Z SLP  O other (man hpct-view)"}, {NULL, NULL}};

const struct view view_code = {.name = "Code",
	.key = '7',
	.draw = code_draw,
	.act = code_act,
	.put_title = code_title,
	.put_status = code_status,
	.own_keys = code_keys,
	.hints = "j/k move  Enter to cause  BS back  Tab side  ] hot  } by heat  / find"};
