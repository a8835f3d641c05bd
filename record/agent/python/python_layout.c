/* SPDX-License-Identifier: Apache-2.0 */
/* python_layout.c - see python_layout.h. */
#include "record/agent/python/python_layout.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define CODE_3_8 .code_name = 112, .code_file = 104, .code_first_line = 40, .code_lines = 120
#define FRAME_3_14 .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 74, \
	.owner_entry = 3, .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 68, \
	.code_lines = 136, .code_traceable = 192, .code_begin = 208
#define STRING_WIDE .ascii_bytes = 48, .compact_bytes = 72
#define STRING_NARROW .ascii_bytes = 40, .compact_bytes = 56

static const struct python_layout layouts[] = {
	{.minor = 8, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_LNOTAB, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 104, .instruction_bytes = 1,
	 CODE_3_8, .runtime_gil = 1152, .state_thread = 176,
	 .runtime_interpreters = 32, .interpreter_threads = 8, .state_next = 8,
	 STRING_WIDE},
	{.minor = 9, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_LNOTAB, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 104, .instruction_bytes = 1,
	 CODE_3_8, .runtime_gil = 352, .state_thread = 176,
	 .runtime_interpreters = 32, .interpreter_threads = 8, .state_next = 8,
	 STRING_WIDE},
	{.minor = 10, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_3_10, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 96, .instruction_bytes = 2,
	 CODE_3_8, .runtime_gil = 352, .state_thread = 176,
	 .runtime_interpreters = 32, .interpreter_threads = 8, .state_next = 8,
	 STRING_WIDE},
	{.minor = 11, .entry = PYTHON_ENTRY_CONTROL, .lines = PYTHON_LINES_3_11, .state_frame = 56,
	 .state_chunk = 296, .state_exceptions = 120, .control_frame = 8, .control_previous = 16,
	 .frame_previous = 48, .frame_code = 32, .frame_instruction = 56, .frame_is_entry = 68, .frame_owner = 69,
	 .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 72, .code_lines = 136,
	 .code_traceable = 168, .code_begin = 184, .runtime_gil = 360, .state_thread = 152,
	 .runtime_interpreters = 40, .interpreter_threads = 16, .state_next = 8,
	 STRING_WIDE},
	{.minor = 12, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 56,
	 .state_chunk = 232, .state_exceptions = 104, .control_frame = 0, .control_previous = 8,
	 .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 68, .code_lines = 136,
	 .code_traceable = 176, .code_begin = 192, .interpreter_gil = 384, .state_interpreter = 16, .state_thread = 136,
	 .runtime_interpreters = 40, .interpreter_threads = 72, .state_next = 8,
	 STRING_NARROW},
	{.minor = 13, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 72,
	 .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 68, .code_lines = 136,
	 .code_traceable = 184, .code_begin = 200, .interpreter_gil = 16, .state_interpreter = 16, .state_thread = 152,
	 .published = {.interpreters = 40, .interpreter_next = 64, .threads = 72, .state_next = 168, .gil = 112, .state_frame = 184, .state_thread = 192, .frame_previous = 232, .frame_code = 240,
		       .frame_instruction = 248, .frame_owner = 264, .code_file = 280, .code_qualified = 296,
		       .code_lines = 304, .code_first_line = 312, .code_begin = 344},
	 STRING_NARROW},
	{.minor = 14, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 72,
	 FRAME_3_14, .interpreter_gil = 16, .state_interpreter = 16, .state_thread = 152,
	 .published = {.interpreters = 40, .interpreter_next = 64, .threads = 72, .state_next = 192, .gil = 120, .state_frame = 208, .state_thread = 216, .frame_previous = 256, .frame_code = 264,
		       .frame_instruction = 272, .frame_owner = 288, .code_file = 320, .code_qualified = 336,
		       .code_lines = 344, .code_first_line = 352, .code_begin = 384},
	 STRING_NARROW},
	{.minor = 15, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 72,
	 FRAME_3_14, .interpreter_gil = 16, .state_interpreter = 16, .state_thread = 176,
	 .published = {.interpreters = 40, .interpreter_next = 64, .threads = 72, .state_next = 192, .gil = 120, .state_frame = 208, .state_thread = 240, .frame_previous = 320, .frame_code = 328,
		       .frame_instruction = 336, .frame_owner = 352, .code_file = 384, .code_qualified = 400,
		       .code_lines = 408, .code_first_line = 416, .code_begin = 448},
	 STRING_NARROW},
};
/* clang-format on */

#define OFFSET_MOST 65536u

const struct python_layout *python_layout_find(unsigned minor)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

static uint64_t published_at(uint64_t base, uint16_t at)
{
	uint64_t published;

	memcpy(&published, (const void *)(uintptr_t)(base + at), sizeof(published));
	return published;
}

bool python_layout_agrees(const struct python_layout *layout, uint64_t base)
{
	const struct {
		uint16_t at, is;
	} all[] = {{layout->published.gil, layout->interpreter_gil},
		{layout->published.state_frame, layout->state_frame},
		{layout->published.state_thread, layout->state_thread},
		{layout->published.frame_previous, layout->frame_previous},
		{layout->published.frame_code, layout->frame_code},
		{layout->published.frame_instruction, layout->frame_instruction},
		{layout->published.frame_owner, layout->frame_owner},
		{layout->published.code_file, layout->code_file},
		{layout->published.code_qualified, layout->code_qualified},
		{layout->published.code_lines, layout->code_lines},
		{layout->published.code_first_line, layout->code_first_line},
		{layout->published.code_begin, layout->code_begin}};

	for (size_t i = 0; layout->published.gil && i < sizeof(all) / sizeof(*all); i++)
		if (published_at(base, all[i].at) != all[i].is)
			return false;
	return true;
}

bool python_layout_lists(const struct python_layout *layout, uint64_t base, struct python_lists *lists)
{
	*lists = (struct python_lists){.interpreters = layout->runtime_interpreters,
		.threads = layout->interpreter_threads,
		.state_next = layout->state_next};
	if (layout->published.gil)
		*lists = (struct python_lists){
			.interpreters = published_at(base, layout->published.interpreters),
			.interpreter_next = published_at(base, layout->published.interpreter_next),
			.threads = published_at(base, layout->published.threads),
			.state_next = published_at(base, layout->published.state_next)};
	return lists->interpreters < OFFSET_MOST && lists->interpreter_next < OFFSET_MOST &&
	       lists->threads < OFFSET_MOST && lists->state_next < OFFSET_MOST;
}
