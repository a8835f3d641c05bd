/* SPDX-License-Identifier: Apache-2.0 */
/* size_report.c - see size_report.h. */
#include "store/read/size_report.h"

#include "store/read/reader_internal.h"

_Static_assert(STORE_SIZE_COUNT == STORE_TREE_COUNT, "one for each named database");

int store_reader_sizes(
	const struct store_reader *reader, struct store_size sizes[STORE_SIZE_COUNT], struct error *error)
{
	int rc = 0;

	for (unsigned tree = 0; tree < STORE_TREE_COUNT && !rc; tree++) {
		struct store_tree_cursor cursor;

		sizes[tree].name = store_tree_name((enum store_tree_id)tree);
		store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[tree]);
		rc = store_tree_seek(&cursor, "", 0, error);
		for (; rc == 1; rc = store_tree_next(&cursor, error)) {
			sizes[tree].values++;
			sizes[tree].bytes += cursor.key.size + cursor.value.size;
		}
	}
	return rc;
}
