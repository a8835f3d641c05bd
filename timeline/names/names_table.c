/* SPDX-License-Identifier: Apache-2.0 */
/* names_table.c - see names_table.h. */
#include "timeline/names/names_table.h"

#include <stdio.h>
#include <string.h>

#include "store/base/escape.h"
#include "store/base/path.h"

#define OUT_BYTES 65536u

void names_table_init(struct names_table *table, const char *path, FILE *to)
{
	*table = (struct names_table){.to = to, .module = path_base(path)};
}

int names_table_header(FILE *to)
{
	return fputs("offset\tdepth\tkind\tname\tfile\tline\tsource\tstart\tlinkage\tdecl_file\tdecl_line\n",
		       to) < 0
		       ? -1
		       : 0;
}

void names_table_fini(struct names_table *table)
{
	store_bytes_fini(&table->out);
}

int names_table_flush(struct names_table *table)
{
	size_t written = fwrite(table->out.data, 1, table->out.size, table->to);
	bool whole = written == table->out.size && !table->out.failed;

	table->out.size = 0;
	return whole && !fflush(table->to) ? 0 : -1;
}

static void put_field(struct store_bytes *out, const char *text)
{
	store_bytes_put(out, "\t", 1);
	escape_field(out, text, strlen(text));
}

static void put_number(struct store_bytes *out, const char *format, uint64_t number)
{
	char text[32];
	int size = snprintf(text, sizeof text, format, (unsigned long long)number);

	store_bytes_put(out, text, (size_t)size);
}

/* A line that is not known is an empty field. */
static void put_line(struct store_bytes *out, uint32_t line)
{
	store_bytes_put(out, "\t", 1);
	if (line)
		put_number(out, "%llu", line);
}

static void table_row(struct names_table *table, const struct symbol_answer *answer, uint32_t depth)
{
	static const char *const kinds[] = {
		[NAMES_FUNCTION] = "function", [NAMES_INLINE] = "inline", [NAMES_LOOP] = "loop"};
	static const char *const sources[] = {"nothing", "frame", "symbol", "debug"};
	const struct names_scope *scope = &answer->scopes[depth];
	struct store_bytes *out = &table->out;

	put_number(out, "0x%llx", answer->offset);
	put_number(out, "\t%llu", depth);
	put_field(out, kinds[scope->kind]);
	put_field(out, scope->name[0] ? scope->name : table->module);
	if (!scope->name[0])
		put_number(out, "+0x%llx", scope->start);
	put_field(out, scope->file);
	put_line(out, scope->line);
	put_field(out, sources[answer->source]);
	put_number(out, "\t0x%llx", scope->start);
	put_field(out, scope->linkage);
	put_field(out, scope->decl_file);
	put_line(out, scope->decl_line);
	store_bytes_put(out, "\n", 1);
}

int names_table_take(void *context, const struct symbol_answer *answer)
{
	struct names_table *table = context;

	for (uint32_t i = 0; i < answer->scope_count; i++)
		table_row(table, answer, i);
	return table->out.failed			   ? -1
	       : !table->to || table->out.size < OUT_BYTES ? 0
							   : names_table_flush(table);
}
