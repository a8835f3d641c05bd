/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h - SQL functions beside the tables.
 *
 *   hpct_open(run)      names the run of questions that name none; gives its path
 *   hpct_schema()       SQL_SCHEMA_VERSION
 *   percentile(x, p)    aggregate: the smallest x that p per cent of all are not above (nearest rank)
 *   stddev(x)           aggregate: the standard deviation of all x (of a population)
 */
#ifndef FORMATS_SQL_FUNCTIONS_H
#define FORMATS_SQL_FUNCTIONS_H

#include <sqlite3ext.h>

#include "formats/sql/session.h"

/* A code of SQLite. From now on the connection owns the session, and frees it after its tables are gone; also
 * after a failure. */
int sql_functions_register(sqlite3 *db, struct sql_session *session);

#endif
