/* SPDX-License-Identifier: Apache-2.0 */
/* python_layout.c - see python_layout.h. */
#include "record/agent/python/python_layout.h"

#include <stddef.h>

/* clang-format off */
#define CODE_3_8 .code_name = 112, .code_file = 104, .code_first_line = 40, .code_lines = 120
#define STRING_WIDE .ascii_bytes = 48, .compact_bytes = 72
#define STRING_NARROW .ascii_bytes = 40, .compact_bytes = 56

static const struct python_layout layouts[] = {
	{.minor = 8, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_LNOTAB, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 104, .instruction_bytes = 1,
	 CODE_3_8, .runtime_gil = 1152, .state_thread = 176,
	 STRING_WIDE},
	{.minor = 9, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_LNOTAB, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 104, .instruction_bytes = 1,
	 CODE_3_8, .runtime_gil = 352, .state_thread = 176,
	 STRING_WIDE},
	{.minor = 10, .entry = PYTHON_ENTRY_EACH, .lines = PYTHON_LINES_3_10, .state_frame = 24,
	 .frame_previous = 24, .frame_code = 32, .frame_instruction = 96, .instruction_bytes = 2,
	 CODE_3_8, .runtime_gil = 352, .state_thread = 176,
	 STRING_WIDE},
	{.minor = 11, .entry = PYTHON_ENTRY_CONTROL, .lines = PYTHON_LINES_3_11, .state_frame = 56,
	 .control_frame = 8, .control_previous = 16,
	 .frame_previous = 48, .frame_code = 32, .frame_instruction = 56, .frame_is_entry = 68, .frame_owner = 69,
	 .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 72, .code_lines = 136,
	 .code_traceable = 168, .code_begin = 184, .runtime_gil = 360, .state_thread = 152,
	 .runtime_interpreters = 40, .interpreter_threads = 16, .state_next = 8,
	 STRING_WIDE},
	{.minor = 12, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 56,
	 .control_frame = 0, .control_previous = 8,
	 .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 68, .code_lines = 136,
	 .code_traceable = 176, .code_begin = 192, .interpreter_gil = 384, .state_interpreter = 16, .state_thread = 136,
	 STRING_NARROW},
	{.minor = 13, .entry = PYTHON_ENTRY_FRAME, .lines = PYTHON_LINES_3_11, .state_frame = 72,
	 .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .owner_entry = 3,
	 .code_name = 120, .code_qualified = 128, .code_file = 112, .code_first_line = 68, .code_lines = 136,
	 .code_traceable = 184, .code_begin = 200, .interpreter_gil = 16, .state_interpreter = 16, .state_thread = 152,
	 STRING_NARROW},
};
/* clang-format on */

const struct python_layout *python_layout_find(unsigned minor)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}
