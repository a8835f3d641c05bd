/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folded_import.c - see folded_import.h.
 */
#include "formats/folded/folded_import.h"

#include <stdlib.h>

#include "formats/base/stack_import.h"
#include "store/base/array.h"

#define LINE_BYTES_MAX ((size_t)64 << 20)

struct line {
	char *text;
	size_t size, room;
};

struct folded {
	struct format_input *input;
	struct stack_import stacks;
	uint64_t lines, wrong;
};

/* The number behind the last space, and where that is; a fraction is rounded. False: there is none. */
static bool find_weight(const char *line, size_t size, size_t *frames, uint64_t *weight)
{
	const char *space = memrchr(line, ' ', size);
	uint64_t value = 0;
	size_t at;

	if (!space || space == line || space + 1 == line + size)
		return false;
	*frames = (size_t)(space - line);
	for (at = *frames + 1; at < size && line[at] >= '0' && line[at] <= '9'; at++)
		if (at - *frames > 18)
			return false;
		else
			value = value * 10 + (uint64_t)(line[at] - '0');
	if (at == *frames + 1)
		return false;
	if (at < size && line[at] == '.') {
		value += at + 1 < size && line[at + 1] >= '5' && line[at + 1] <= '9';
		for (at++; at < size && line[at] >= '0' && line[at] <= '9';)
			at++;
	}
	*weight = value;
	return at == size;
}

static uint32_t context_of(struct import_run *run, const char *frames, size_t size)
{
	uint32_t context = 0;

	for (size_t at = 0; at <= size;) {
		const char *end = memchr(frames + at, ';', size - at);
		size_t length = end ? (size_t)(end - frames) - at : size - at;

		if (length)
			context = import_frame(run, context, import_name(run, frames + at, length));
		at += length + 1;
	}
	return context;
}

static int take_line(struct folded *folded, const char *line, size_t size, struct error *error)
{
	uint64_t weight;
	size_t frames;

	while (size && line[size - 1] == '\r')
		size--;
	if (size == 0)
		return 0;
	if (size > LINE_BYTES_MAX || !find_weight(line, size, &frames, &weight)) {
		folded->wrong++;
		return 0;
	}
	folded->lines++;
	return stack_import_add(&folded->stacks, context_of(folded->stacks.run, line, frames), weight, error);
}

/* 1: a line without its end; 0: no more. Of one that is too long the beginning, and `size` says so: the file
 * is untrusted. */
static int next_line(FILE *in, struct line *line, struct error *error)
{
	int c;

	line->size = 0;
	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (line->size > LINE_BYTES_MAX)
			continue;
		if (!array_reserve(&line->text, &line->room, line->size + 1, 1))
			return error_memory(error);
		line->text[line->size++] = (char)c;
	}
	return line->size || c != EOF;
}

static int take_lines(struct folded *folded, struct error *error)
{
	struct line line = {0};
	bool is_first = true;
	int code;

	while ((code = next_line(folded->input->in, &line, error)) > 0) {
		size_t skip;

		if (line.size == 0)
			continue;
		skip = is_first && line.size >= 3 && memcmp(line.text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

		is_first = false;
		code = take_line(folded, line.text + skip, line.size - skip, error);
		if (code < 0)
			break;
		if ((folded->lines & 0xfff) == 0)
			format_input_progress(folded->input);
	}
	free(line.text);
	return code;
}

static int fill(struct folded *folded, struct import_run *run, struct error *error)
{
	int code;

	if (!stack_import_begin(&folded->stacks, run, "weight", ""))
		return error_memory(error);
	code = take_lines(folded, error);
	if (code == 0 && folded->lines == 0)
		code = error_set(error, ERROR_RUN, "%s has no line of frames, a space and a number",
			folded->input->name);
	if (code == 0)
		code = stack_import_end(&folded->stacks, error);
	format_left_out(&folded->input->left_out, folded->wrong, "lines that are no stack and a number");
	return code;
}

int folded_import(struct format_input *input, const char *path, struct error *error)
{
	struct folded folded = {.input = input};
	struct import_run *run;
	int code = import_run_begin(&run, path, "folded", error);

	if (code < 0)
		return code;
	code = fill(&folded, run, error);
	if (code < 0) {
		import_run_abort(run);
		return code;
	}
	code = import_run_end(run, &input->left_out, error);
	if (code < 0 || !ferror(input->in))
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN, "%s is damaged or cut short: the %llu lines before it are in %s",
		input->name, (unsigned long long)folded.lines, path);
}

/* Nine lines of ten end in a number, and some stack has more than one frame. */
bool folded_is(const uint8_t *head, size_t size)
{
	bool has_frames = false;
	size_t lines = 0, wrong = 0;

	while (size) {
		const uint8_t *end = memchr(head, '\n', size);
		size_t length = end ? (size_t)(end - head) : size, frames;
		uint64_t weight;

		if (!end && lines) /* the last line may be cut */
			break;
		length -= length && head[length - 1] == '\r';
		if (length && !find_weight((const char *)head, length, &frames, &weight))
			wrong++;
		else if (length)
			has_frames |= memchr(head, ';', frames) != NULL;
		lines++;
		size -= end ? (size_t)(end - head) + 1 : size;
		head = end ? end + 1 : head;
	}
	return has_frames && wrong * 10 <= lines;
}
