/* SPDX-License-Identifier: Apache-2.0 */
/* no_sql.c - hpct_sql() of a library that was built without SQLite. */
#include "formats/library/hpct_read.h"
#include "store/base/error.h"

int hpct_sql(struct hpct_run *run, const char *query, struct hpct_rows **rows, struct hpct_error *error)
{
	(void)run, (void)query, (void)rows;
	return error_set((struct error *)error, ERROR_USAGE,
		"this libhpct was built without SQLite: build it where libsqlite3-dev is installed");
}
