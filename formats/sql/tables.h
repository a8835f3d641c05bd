/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the tables, by the file that has them. For tables.c. */
#ifndef FORMATS_SQL_TABLES_H
#define FORMATS_SQL_TABLES_H

#include "formats/sql/table.h"

/* table_questions.c: what libhpct answers in one batch */
extern const struct sql_table sql_table_streams, sql_table_contexts, sql_table_contexts_matching,
	sql_table_modules, sql_table_metrics, sql_table_marks, sql_table_profile, sql_table_stats,
	sql_table_blame, sql_table_gaps, sql_table_late;
/* table_records.c: the records themselves */
extern const struct sql_table sql_table_samples, sql_table_spans, sql_table_values;

/* Columns of tables that take formulas: these, and the value of the last one. */
#define SQL_METRICS_COLUMN                      \
	{                                       \
		"metrics", "TEXT", SQL_ARGUMENT \
	}
#define SQL_FORMULA_COLUMN                     \
	{                                      \
		"formula", "REAL", SQL_FORMULA \
	}

#endif
