/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - see format.h.
 */
#include "formats/base/format.h"

#include <inttypes.h>

#include "timeline/base/progress.h"

void format_left_out(struct store_bytes *list, uint64_t count, const char *what)
{
	char number[32];

	if (!count)
		return;
	if (list->size)
		store_bytes_put(list, "; ", 2);
	snprintf(number, sizeof number, "%" PRIu64 " ", count);
	store_bytes_put(list, number, strlen(number));
	store_bytes_put(list, what, strlen(what));
}

void format_input_progress(const struct format_input *input)
{
	uint64_t done, all;

	if (!input->file)
		return;
	packed_file_progress(input->file, &done, &all);
	if (all)
		progress_at("reading", done, all);
}
