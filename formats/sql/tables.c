/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - all tables. A new one is a line here. */
#include "formats/sql/tables.h"

const struct sql_table *const sql_tables[] = {&sql_table_streams, &sql_table_contexts,
	&sql_table_contexts_matching, &sql_table_modules, &sql_table_metrics, &sql_table_marks,
	&sql_table_samples, &sql_table_spans, &sql_table_values, &sql_table_profile, &sql_table_stats,
	&sql_table_blame, &sql_table_gaps, &sql_table_late, NULL};
