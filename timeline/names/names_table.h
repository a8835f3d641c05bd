/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_table.h - prints answers for people and scripts: a TSV row for each function, inlined call and loop
 * at an address.
 */
#ifndef TIMELINE_NAMES_TABLE_H
#define TIMELINE_NAMES_TABLE_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/catalog/symbol_protocol.h"

struct names_table {
	struct store_bytes out;
	FILE *to;	    /* NULL: rows stay in `out` */
	const char *module; /* file name without directories */
};

/* `path` (of the module) and `to` must outlive the table. */
void names_table_init(struct names_table *table, const char *path, FILE *to);
int names_table_header(FILE *to);
void names_table_fini(struct names_table *table);
/* A names_take (timeline/names/names_worker.h): adds the rows of one answer. Negative: they could not be
 * written. */
int names_table_take(void *context, const struct symbol_answer *answer);
/* Writes buffered rows; negative: failed. */
int names_table_flush(struct names_table *table);

#endif
