/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what the tabulator completes in SQLite's shell: the shell asks its own table `completion`,
 * which knows tables of a database alone; this one takes its place and knows those of a run, their columns
 * and the functions, too.
 */
#ifndef FORMATS_SQL_COMPLETION_H
#define FORMATS_SQL_COMPLETION_H

#include <sqlite3ext.h>

/* SQLite's code. */
int sql_completion_register(sqlite3 *db);

#endif
