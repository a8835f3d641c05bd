/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.h - prints the rows of a statement as every reader does: table, TSV, JSON.
 */
#ifndef FORMATS_SQL_PRINT_H
#define FORMATS_SQL_PRINT_H

#include <sqlite3.h>

#include "timeline/report/report.h"

/* Steps it to its end. `rc`: the code of the last step, SQLITE_DONE if all rows were printed. Negative: an
 * error of writing. */
int sql_print(sqlite3_stmt *statement, enum report_format format, int *rc, struct error *error);

#endif
