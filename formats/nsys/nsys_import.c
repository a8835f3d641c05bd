/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_import.c - imports the SQLite export of Nsight Systems (nsys export --type sqlite). Columns are found
 * by name, since versions differ in them; a table or column that is not there gives nothing.
 *
 *   KERNEL, MEMCPY, MEMSET, GRAPH_TRACE     operations of queues, joined with their launch by correlationId
 *   RUNTIME                                 launches, synchronizations and other calls of CUDA
 *   NVTX_EVENTS, OSRT_API                   calls of threads, that nest with those of CUDA; ranges, marks
 *   COMPOSITE_EVENTS, SAMPLING_CALLCHAINS   samples with their call paths
 *   SCHED_EVENTS                            blocked time
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/format.h"
#include "formats/base/import_run.h"
#include "store/base/array.h"
#include "store/base/hash.h"

#define TEXTS_MAX ((int64_t)1 << 26) /* ids */
#define CHAIN_MAX 1024

#define SEEN_THREADS 256u
#define SEEN_QUEUES 64u
#define SEEN_LAUNCHES 256u

/* The thread of a number that was met before. */
struct seen_thread {
	uint64_t global;
	uint32_t stream;
	bool is_known;
};

/* A queue that was met before. */
struct seen_queue {
	uint64_t pid, device, context, stream;
	uint32_t number;
	bool is_known;
};

/* The shape of a kernel that was met before. */
#define LAUNCH_VALUES 9
struct seen_launch {
	uint64_t values[LAUNCH_VALUES];
	uint32_t attributes;
	bool is_known;
};

struct nsys {
	struct seen_launch launches[SEEN_LAUNCHES];
	struct seen_thread seen[SEEN_THREADS];
	struct seen_queue queues[SEEN_QUEUES];
	struct format_input *input;
	struct import_run *run;
	sqlite3 *db;
	sqlite3_stmt *text_query;
	int64_t text_ids; /* below: nsys counts texts in turn, and none takes less than a byte of the file */
	uint32_t *texts;  /* [id] text id + 1, 0: not asked for yet */
	size_t text_room;
	struct call_name *calls; /* [id] of the table that is read */
	size_t call_room;
	struct store_bytes attributes;
	bool is_damaged; /* SQLite could not read all of a table */
	bool has_table;
	const char *why;
	uint64_t damaged, domains;
};

/* Rows of a table: of the columns that are wanted, those that it has, in the order of the list. */
#define COLUMNS_MAX 20
struct rows {
	sqlite3_stmt *query;
	int count;
	const char *names[COLUMNS_MAX];
};

/* ---- tables ---- */

/* Of tables alone: a view could compute for ever. */
static bool has_table(struct nsys *nsys, const char *table)
{
	sqlite3_stmt *query = NULL;
	bool is_there;

	if (sqlite3_prepare_v2(nsys->db,
		    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE "
		    "VIRTUAL%'",
		    -1, &query, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC);
	is_there = sqlite3_step(query) == SQLITE_ROW;
	sqlite3_finalize(query);
	return is_there;
}

/* All of a row's columns would be decoded, and a table of kernels has thirty. */
static bool rows_list(struct nsys *nsys, struct rows *rows, const char *table, const char *const *wanted,
	char *text, size_t room)
{
	sqlite3_stmt *query = NULL;
	char all[128];
	size_t size = 0;

	snprintf(all, sizeof all, "SELECT * FROM \"%s\"", table);
	if (sqlite3_prepare_v2(nsys->db, all, -1, &query, NULL) != SQLITE_OK)
		return false;
	for (; *wanted && rows->count < COLUMNS_MAX; wanted++)
		for (int i = 0; i < sqlite3_column_count(query); i++)
			if (strcmp(sqlite3_column_name(query, i), *wanted) == 0 && size < room) {
				size += (size_t)snprintf(
					text + size, room - size, "%s\"%s\"", size ? "," : "", *wanted);
				rows->names[rows->count++] = *wanted;
				break;
			}
	sqlite3_finalize(query);
	return size > 0 && size < room;
}

static bool rows_begin(
	struct nsys *nsys, struct rows *rows, const char *table, const char *const *wanted, const char *order)
{
	char list[512], text[768];

	*rows = (struct rows){0};
	if (!has_table(nsys, table))
		return false;
	nsys->has_table = true;
	if (!rows_list(nsys, rows, table, wanted, list, sizeof list))
		return false;
	snprintf(text, sizeof text, "SELECT %s FROM \"%s\"%s", list, table, order);
	return sqlite3_prepare_v2(nsys->db, text, -1, &rows->query, NULL) == SQLITE_OK;
}

static bool rows_next(struct nsys *nsys, struct rows *rows)
{
	int code = sqlite3_step(rows->query);

	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE) {
		nsys->is_damaged = true;
		nsys->why = sqlite3_errstr(code);
	}
	return false;
}

/* -1: there is no such column, or it was not wanted. */
static int column(const struct rows *rows, const char *name)
{
	for (int i = 0; i < rows->count; i++)
		if (strcmp(rows->names[i], name) == 0)
			return i;
	return -1;
}

static uint64_t number(const struct rows *rows, int at)
{
	int64_t value = at < 0 ? 0 : sqlite3_column_int64(rows->query, at);

	return value < 0 ? 0 : (uint64_t)value;
}

static bool is_null(const struct rows *rows, int at)
{
	return at < 0 || sqlite3_column_type(rows->query, at) == SQLITE_NULL;
}

/* Text id of a text in StringIds. */
static uint32_t text_of(struct nsys *nsys, int64_t id)
{
	uint32_t text = 0;

	if (id < 0 || id >= nsys->text_ids ||
		!array_reserve_zero(&nsys->texts, &nsys->text_room, (size_t)id + 1, sizeof *nsys->texts))
		return 0;
	if (nsys->texts[id])
		return nsys->texts[id] - 1;
	if (!nsys->text_query)
		return 0;
	sqlite3_bind_int64(nsys->text_query, 1, id);
	if (sqlite3_step(nsys->text_query) == SQLITE_ROW && sqlite3_column_text(nsys->text_query, 0))
		text = import_name(nsys->run, (const char *)sqlite3_column_text(nsys->text_query, 0),
			(size_t)sqlite3_column_bytes(nsys->text_query, 0));
	sqlite3_reset(nsys->text_query);
	nsys->texts[id] = text + 1;
	return text;
}

static const char *text_at(struct nsys *nsys, uint32_t text, size_t *size)
{
	return store_writer_text_at(import_run_writer(nsys->run), text, size);
}

/* ---- threads and queues ---- */

/* globalTid: ... | pid 24 bits | tid 24 bits. */
static uint32_t find_process(struct nsys *nsys, uint64_t global)
{
	char text[IMPORT_DECIMAL_MAX];

	return import_process(nsys->run, text, import_decimal(text, global >> 24 & 0xffffff));
}

static uint32_t find_thread(struct nsys *nsys, uint64_t global)
{
	struct seen_thread *seen = &nsys->seen[global % SEEN_THREADS];
	uint32_t process;
	char text[IMPORT_DECIMAL_MAX];

	if (seen->is_known && seen->global == global)
		return seen->stream;
	process = find_process(nsys, global);
	if (process == IMPORT_NONE)
		return IMPORT_NONE;
	*seen = (struct seen_thread){.global = global,
		.stream = import_thread(nsys->run, process, text, import_decimal(text, global & 0xffffff))};
	seen->is_known = seen->stream != IMPORT_NONE;
	return seen->stream;
}

static int put(struct nsys *nsys, struct import_record *record, struct error *error)
{
	if (record->stream == IMPORT_NONE)
		return error_memory(error);
	if (record->end_ns < record->begin_ns &&
		(record->shape == IMPORT_CALL || record->shape == IMPORT_APART)) {
		nsys->damaged++;
		return 0;
	}
	return import_record(nsys->run, record, error);
}

/* ---- operations ---- */

static void put_number(struct nsys *nsys, const char *key, uint64_t value)
{
	if (value)
		import_attribute_number(&nsys->attributes, key, value);
}

static void put_size(struct nsys *nsys, const char *key, const uint64_t values[3])
{
	char text[3 * (IMPORT_DECIMAL_MAX + 1)];
	size_t size = 0;

	for (size_t i = 0; i < 3; i++) {
		size += import_decimal(text + size, values[i]);
		text[size++] = ':';
	}
	import_attribute_put(&nsys->attributes, key, strlen(key), text, size - 1);
}

/* CUpti_ActivityMemcpyKind. */
static const char *const copy_kinds[] = {
	NULL, "H2D", "D2H", "H2D", "D2H", "D2D", "D2D", "D2D", "D2D", "H2H", "P2P"};

struct operation_columns {
	int start, end, device, context, stream, correlation, pid, name, bytes, copy_kind;
	int registers, shared_static, shared_dynamic, grid[3], block[3];
};

static void find_columns(const struct rows *rows, struct operation_columns *c)
{
	*c = (struct operation_columns){.start = column(rows, "start"),
		.end = column(rows, "end"),
		.device = column(rows, "deviceId"),
		.context = column(rows, "contextId"),
		.stream = column(rows, "streamId"),
		.correlation = column(rows, "correlationId"),
		.pid = column(rows, "globalPid"),
		.name = column(rows, "demangledName"),
		.bytes = column(rows, "bytes"),
		.copy_kind = column(rows, "copyKind"),
		.registers = column(rows, "registersPerThread"),
		.shared_static = column(rows, "staticSharedMemory"),
		.shared_dynamic = column(rows, "dynamicSharedMemory"),
		.grid = {column(rows, "gridX"), column(rows, "gridY"), column(rows, "gridZ")},
		.block = {column(rows, "blockX"), column(rows, "blockY"), column(rows, "blockZ")}};
	if (c->name < 0)
		c->name = column(rows, "shortName");
}

/* In the order of seen_launch.values: grid, block, registers, shared memory. */
static void read_launch(
	const struct rows *rows, const struct operation_columns *c, uint64_t values[LAUNCH_VALUES])
{
	for (size_t i = 0; i < 3; i++) {
		values[i] = number(rows, c->grid[i]);
		values[3 + i] = number(rows, c->block[i]);
	}
	values[6] = number(rows, c->registers);
	values[7] = number(rows, c->shared_static);
	values[8] = number(rows, c->shared_dynamic);
}

/* Kernels come by the million, and in few shapes. */
static uint32_t launch_attributes(
	struct nsys *nsys, const struct rows *rows, const struct operation_columns *c)
{
	uint64_t values[LAUNCH_VALUES];
	struct seen_launch *seen;

	read_launch(rows, c, values);
	seen = &nsys->launches[store_hash64(values, sizeof values, 0) % SEEN_LAUNCHES];
	if (seen->is_known && memcmp(seen->values, values, sizeof values) == 0)
		return seen->attributes;
	if (c->grid[0] >= 0)
		put_size(nsys, "grid", values);
	if (c->block[0] >= 0)
		put_size(nsys, "block", values + 3);
	put_number(nsys, "registers", values[6]);
	put_number(nsys, "shared_static", values[7]);
	put_number(nsys, "shared_dynamic", values[8]);
	memcpy(seen->values, values, sizeof values);
	seen->attributes = import_attributes(nsys->run, &nsys->attributes);
	seen->is_known = true;
	return seen->attributes;
}

static uint32_t attributes_of(
	struct nsys *nsys, const struct rows *rows, const struct operation_columns *c, uint32_t op)
{
	uint64_t kind = number(rows, c->copy_kind);

	nsys->attributes.size = 0;
	if (op == STORE_OP_KERNEL)
		return launch_attributes(nsys, rows, c);
	if (op != STORE_OP_COPY || kind >= sizeof copy_kinds / sizeof *copy_kinds || !copy_kinds[kind])
		return 0;
	import_attribute_put(&nsys->attributes, "kind", 4, copy_kinds[kind], 3);
	return import_attributes(nsys->run, &nsys->attributes);
}

static uint32_t find_queue(struct nsys *nsys, const struct rows *rows, const struct operation_columns *c)
{
	const struct seen_queue wanted = {.pid = number(rows, c->pid),
		.device = number(rows, c->device),
		.context = number(rows, c->context),
		.stream = number(rows, c->stream)};
	struct seen_queue *seen =
		&nsys->queues[(wanted.pid >> 24 ^ wanted.device * 7 ^ wanted.stream) % SEEN_QUEUES];
	uint32_t process;

	if (seen->is_known && seen->pid == wanted.pid && seen->device == wanted.device &&
		seen->context == wanted.context && seen->stream == wanted.stream)
		return seen->number;
	process = c->pid < 0 ? IMPORT_OWNER : find_process(nsys, wanted.pid);
	if (process == IMPORT_NONE)
		return IMPORT_NONE;
	*seen = wanted;
	seen->number = import_queue(nsys->run, process, (uint32_t)wanted.device, (uint32_t)wanted.context,
		(uint32_t)wanted.stream);
	seen->is_known = seen->number != IMPORT_NONE;
	return seen->number;
}

static int read_operations(struct nsys *nsys, const char *table, uint32_t op, struct error *error)
{
	static const char *const wanted[] = {"start", "end", "deviceId", "contextId", "streamId",
		"correlationId", "globalPid", "demangledName", "shortName", "bytes", "copyKind",
		"registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "gridX", "gridY", "gridZ",
		"blockX", "blockY", "blockZ", NULL};
	struct operation_columns c;
	struct rows rows;
	int code = 0;

	if (!rows_begin(nsys, &rows, table, wanted, ""))
		return 0;
	find_columns(&rows, &c);
	/* Another table may not tell processes, or sizes. */
	memset(nsys->queues, 0, sizeof nsys->queues);
	memset(nsys->launches, 0, sizeof nsys->launches);
	while (code == 0 && rows_next(nsys, &rows)) {
		struct import_record record = {.begin_ns = number(&rows, c.start),
			.end_ns = number(&rows, c.end),
			.shape = IMPORT_CALL,
			.op = op,
			.bytes = number(&rows, c.bytes),
			.link = number(&rows, c.correlation)};

		record.stream = find_queue(nsys, &rows, &c);
		if (op == STORE_OP_KERNEL)
			record.name = text_of(nsys, (int64_t)number(&rows, c.name));
		record.attributes = attributes_of(nsys, &rows, &c, op);
		code = put(nsys, &record, error);
	}
	sqlite3_finalize(rows.query);
	return code;
}

/* ---- calls ---- */

static bool has(const char *text, size_t size, const char *part)
{
	return memmem(text, size, part, strlen(part)) != NULL;
}

/* Of CUDA's calls those that launch, and those that wait. */
static uint32_t cuda_op(struct nsys *nsys, uint32_t name)
{
	size_t size;
	const char *text = text_at(nsys, name, &size);

	if (has(text, size, "Synchronize"))
		return STORE_OP_SYNC;
	if (has(text, size, "Launch") || has(text, size, "emcpy") || has(text, size, "emset"))
		return STORE_OP_LAUNCH;
	return store_writer_op(import_run_writer(nsys->run), "cuda_runtime", 12);
}

/* Of the C library's calls those that wait: a thread that waits works for nobody. */
static uint32_t system_op(struct nsys *nsys, uint32_t name)
{
	static const char *const waits[] = {"wait", "poll", "select", "sleep", "join", "futex", "pause",
		"sem_", "pthread_mutex_lock", "barrier"};
	size_t size;
	const char *text = text_at(nsys, name, &size);

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (has(text, size, waits[i]))
			return STORE_OP_BLOCKED;
	return store_writer_op(import_run_writer(nsys->run), "osrt", 4);
}

/* The name as nsys has it, "cudaLaunchKernel_v7000", is "cudaLaunchKernel". */
static uint32_t cut_version(struct nsys *nsys, uint32_t name)
{
	size_t size, at;
	const char *text = text_at(nsys, name, &size);

	for (at = size; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';)
		at--;
	if (at < 3 || at == size || size - at < 4 || text[at - 1] != 'v' || text[at - 2] != '_')
		return name;
	return import_name(nsys->run, text, at - 2);
}

/* The name as a run has it, and what the call is: found once per text. */
struct call_name {
	uint32_t name, op;
	bool is_known;
};

static struct call_name *find_call(struct nsys *nsys, int64_t id, bool is_cuda)
{
	static struct call_name other;
	struct call_name *call = &other;

	if (id >= 0 && id < nsys->text_ids &&
		array_reserve_zero(&nsys->calls, &nsys->call_room, (size_t)id + 1, sizeof *nsys->calls))
		call = &nsys->calls[id];
	if (call->is_known && call != &other)
		return call;
	call->name = text_of(nsys, id);
	call->name = is_cuda ? cut_version(nsys, call->name) : call->name;
	call->op = is_cuda ? cuda_op(nsys, call->name) : system_op(nsys, call->name);
	call->is_known = true;
	return call;
}

static int read_calls(struct nsys *nsys, const char *table, bool is_cuda, struct error *error)
{
	static const char *const wanted[] = {"start", "end", "globalTid", "correlationId", "nameId", NULL};
	struct rows rows;
	int code = 0, start, end, tid, correlation, name;

	if (!rows_begin(nsys, &rows, table, wanted, ""))
		return 0;
	start = column(&rows, "start");
	end = column(&rows, "end");
	tid = column(&rows, "globalTid");
	correlation = column(&rows, "correlationId");
	name = column(&rows, "nameId");
	if (nsys->call_room) /* of another table */
		memset(nsys->calls, 0, nsys->call_room * sizeof *nsys->calls);
	while (code == 0 && rows_next(nsys, &rows)) {
		struct import_record record = {.begin_ns = number(&rows, start),
			.end_ns = number(&rows, end),
			.shape = IMPORT_CALL,
			.stream = find_thread(nsys, number(&rows, tid))};
		const struct call_name *call = find_call(nsys, (int64_t)number(&rows, name), is_cuda);

		record.name = call->name;
		record.op = call->op;
		record.link = record.op == STORE_OP_LAUNCH ? number(&rows, correlation) : 0;
		if (is_cuda && record.stream != IMPORT_NONE)
			import_run_owner(nsys->run, import_stream_at(nsys->run, record.stream)->process);
		code = put(nsys, &record, error);
	}
	sqlite3_finalize(rows.query);
	return code;
}

/* ---- NVTX ---- */

enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 };

struct nvtx_columns {
	int start, end, type, tid, text, text_id;
};

static uint32_t nvtx_name(struct nsys *nsys, const struct rows *rows, const struct nvtx_columns *c)
{
	const char *text =
		is_null(rows, c->text) ? NULL : (const char *)sqlite3_column_text(rows->query, c->text);

	if (text)
		return import_name(nsys->run, text, (size_t)sqlite3_column_bytes(rows->query, c->text));
	return is_null(rows, c->text_id) ? import_name(nsys->run, "range", 5)
					 : text_of(nsys, (int64_t)number(rows, c->text_id));
}

static int put_nvtx(
	struct nsys *nsys, const struct rows *rows, const struct nvtx_columns *c, struct error *error)
{
	uint64_t type = number(rows, c->type);
	uint32_t name = nvtx_name(nsys, rows, c);
	struct import_record record = {.begin_ns = number(rows, c->start), .end_ns = number(rows, c->end)};
	size_t size;
	const char *text;

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END) {
		nsys->domains += type != 0;
		return 0;
	}
	record.stream = find_thread(nsys, number(rows, c->tid));
	if (type == NVTX_PUSH_POP) {
		record.shape = is_null(rows, c->end) ? IMPORT_BEGIN : IMPORT_CALL;
		record.op = store_writer_op(import_run_writer(nsys->run), "nvtx", 4);
		record.name = name;
		return put(nsys, &record, error);
	}
	text = text_at(nsys, name, &size);
	nsys->attributes.size = 0;
	import_attribute_put(&nsys->attributes, "name", 4, text, size);
	record.attributes = import_attributes(nsys->run, &nsys->attributes);
	record.shape = IMPORT_APART;
	record.op = type == NVTX_MARK ? STORE_OP_MARK : STORE_OP_RANGE;
	record.end_ns = is_null(rows, c->end) ? record.begin_ns : record.end_ns;
	return put(nsys, &record, error);
}

static int read_nvtx(struct nsys *nsys, struct error *error)
{
	static const char *const wanted[] = {
		"start", "end", "eventType", "globalTid", "text", "textId", NULL};
	struct nvtx_columns c;
	struct rows rows;
	int code = 0;

	if (!rows_begin(nsys, &rows, "NVTX_EVENTS", wanted, ""))
		return 0;
	c = (struct nvtx_columns){column(&rows, "start"), column(&rows, "end"), column(&rows, "eventType"),
		column(&rows, "globalTid"), column(&rows, "text"), column(&rows, "textId")};
	while (code == 0 && rows_next(nsys, &rows))
		code = put_nvtx(nsys, &rows, &c, error);
	sqlite3_finalize(rows.query);
	return code;
}

/* ---- samples ---- */

/* Call chains, of which each event's is read when its turn comes: both tables go by event. */
struct chains {
	struct rows rows;
	int id, symbol;
	bool is_there; /* a row waits */
};

static uint32_t context_of(struct nsys *nsys, struct chains *chains, int64_t id)
{
	static uint32_t names[CHAIN_MAX];
	size_t count = 0;
	uint32_t context = 0;

	while (chains->is_there && sqlite3_column_int64(chains->rows.query, chains->id) < id)
		chains->is_there = rows_next(nsys, &chains->rows);
	while (chains->is_there && sqlite3_column_int64(chains->rows.query, chains->id) == id) {
		if (count < CHAIN_MAX)
			names[count++] = text_of(nsys, (int64_t)number(&chains->rows, chains->symbol));
		chains->is_there = rows_next(nsys, &chains->rows);
	}
	while (count-- > 0) /* the innermost frame stands first */
		context = import_frame(nsys->run, context, names[count]);
	return context;
}

static int read_samples(struct nsys *nsys, struct error *error)
{
	uint32_t metric = store_writer_metric(import_run_writer(nsys->run), "cycles", "", false);
	static const char *const wanted[] = {"id", "start", "globalTid", "cpuCycles", NULL};
	static const char *const links[] = {"id", "symbol", NULL};
	struct chains chains = {0};
	struct rows rows;
	int code = 0, id, start, tid, cycles;

	if (!rows_begin(nsys, &rows, "COMPOSITE_EVENTS", wanted, " ORDER BY id"))
		return 0;
	id = column(&rows, "id");
	start = column(&rows, "start");
	tid = column(&rows, "globalTid");
	cycles = column(&rows, "cpuCycles");
	if (id >= 0 &&
		rows_begin(nsys, &chains.rows, "SAMPLING_CALLCHAINS", links, " ORDER BY id, stackDepth")) {
		chains.id = column(&chains.rows, "id");
		chains.symbol = column(&chains.rows, "symbol");
		chains.is_there = chains.id >= 0 && chains.symbol >= 0 && rows_next(nsys, &chains.rows);
	}
	while (code == 0 && rows_next(nsys, &rows)) {
		struct import_record record = {.begin_ns = number(&rows, start),
			.shape = IMPORT_SAMPLE,
			.op = metric,
			.bytes = number(&rows, cycles) ? number(&rows, cycles) : 1,
			.is_source = true,
			.stream = find_thread(nsys, number(&rows, tid))};

		record.name = context_of(nsys, &chains, id < 0 ? 0 : sqlite3_column_int64(rows.query, id));
		code = put(nsys, &record, error);
	}
	sqlite3_finalize(rows.query);
	sqlite3_finalize(chains.rows.query);
	return code;
}

static int read_switches(struct nsys *nsys, struct error *error)
{
	static const char *const wanted[] = {"start", "globalTid", "isSchedIn", NULL};
	struct rows rows;
	int code = 0, start, tid, is_in;

	if (!rows_begin(nsys, &rows, "SCHED_EVENTS", wanted, ""))
		return 0;
	start = column(&rows, "start");
	tid = column(&rows, "globalTid");
	is_in = column(&rows, "isSchedIn");
	while (code == 0 && rows_next(nsys, &rows)) {
		struct import_record record = {.begin_ns = number(&rows, start),
			.shape = number(&rows, is_in) ? IMPORT_END : IMPORT_BEGIN,
			.op = STORE_OP_BLOCKED,
			.stream = find_thread(nsys, number(&rows, tid))};

		code = put(nsys, &record, error);
	}
	sqlite3_finalize(rows.query);
	return code;
}

/* ---- names ---- */

static int name_threads(struct nsys *nsys, struct error *error)
{
	static const char *const wanted[] = {"nameId", "globalTid", NULL};
	struct rows rows;
	int name, tid, code = 0;

	if (rows_begin(nsys, &rows, "ThreadNames", wanted, "")) {
		name = column(&rows, "nameId");
		tid = column(&rows, "globalTid");
		while (code == 0 && rows_next(nsys, &rows)) {
			uint32_t text = text_of(nsys, (int64_t)number(&rows, name));
			uint32_t stream = find_thread(nsys, number(&rows, tid));

			if (stream == IMPORT_NONE)
				code = error_memory(error);
			else
				import_stream_at(nsys->run, stream)->s.name = text;
		}
	}
	sqlite3_finalize(rows.query);
	return code;
}

static int name_processes(struct nsys *nsys, struct error *error)
{
	static const char *const wanted[] = {"name", "globalPid", NULL};
	struct rows rows;
	int name, pid, code = 0;

	if (rows_begin(nsys, &rows, "PROCESSES", wanted, "")) {
		name = column(&rows, "name");
		pid = column(&rows, "globalPid");
		while (code == 0 && rows_next(nsys, &rows)) {
			uint32_t process = find_process(nsys, number(&rows, pid));
			const char *text =
				name < 0 ? NULL : (const char *)sqlite3_column_text(rows.query, name);

			if (process == IMPORT_NONE)
				code = error_memory(error);
			else if (text)
				import_process_at(nsys->run, process)->name =
					import_name(nsys->run, text, strlen(text));
		}
	}
	sqlite3_finalize(rows.query);
	return code;
}

static void name_devices(struct nsys *nsys)
{
	static const char *const wanted[] = {"name", "id", NULL};
	struct rows rows;
	int name, id;

	if (!rows_begin(nsys, &rows, "TARGET_INFO_GPU", wanted, ""))
		return;
	name = column(&rows, "name");
	id = column(&rows, "id");
	while (rows_next(nsys, &rows)) {
		const char *text = name < 0 ? NULL : (const char *)sqlite3_column_text(rows.query, name);

		for (uint32_t i = 0; text && i < import_stream_count(nsys->run); i++) {
			struct import_stream *stream = import_stream_at(nsys->run, i);

			if (stream->s.kind == STORE_STREAM_GPU && stream->s.device == number(&rows, id))
				stream->s.device_name = import_name(nsys->run, text, strlen(text));
		}
	}
	sqlite3_finalize(rows.query);
}

static void take_clock(struct nsys *nsys)
{
	static const char *const wanted[] = {"utcEpochNs", NULL};
	struct rows rows;

	if (!rows_begin(nsys, &rows, "TARGET_INFO_SESSION_START_TIME", wanted, ""))
		return;
	if (rows_next(nsys, &rows))
		import_run_wall(nsys->run, number(&rows, column(&rows, "utcEpochNs")));
	sqlite3_finalize(rows.query);
}

/* ---- the whole ---- */

static uint64_t count_rows(struct nsys *nsys, const char *table)
{
	sqlite3_stmt *query = NULL;
	char text[128];
	uint64_t count = 0;

	if (!has_table(nsys, table))
		return 0;
	snprintf(text, sizeof text, "SELECT count(*) FROM \"%s\"", table);
	if (sqlite3_prepare_v2(nsys->db, text, -1, &query, NULL) == SQLITE_OK &&
		sqlite3_step(query) == SQLITE_ROW)
		count = (uint64_t)sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return count;
}

static void say_left_out(struct nsys *nsys, struct store_bytes *list)
{
	static const struct {
		const char *table, *what;
	} others[] = {
		{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronizations as the GPU's side tells them"},
		{"CUDA_GPU_MEMORY_USAGE_EVENTS", "events of GPU memory"}, {"GPU_METRICS", "GPU metrics"},
		{"PROFILER_OVERHEAD", "spans of the profiler's overhead"},
		{"CUDA_UM_GPU_PAGE_FAULT_EVENTS", "page faults of the GPU"},
		{"MPI_P2P_EVENTS", "MPI messages"}, {"MPI_COLLECTIVES_EVENTS", "MPI collectives"},
		{"DIAGNOSTIC_EVENT", "diagnostic messages"}};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		format_left_out(list, count_rows(nsys, others[i].table), others[i].what);
	format_left_out(list, nsys->domains, "NVTX events that name domains, categories or threads");
	format_left_out(list, nsys->damaged, "records that end before they begin");
}

static int read_all(struct nsys *nsys, struct error *error)
{
	int code = read_calls(nsys, "CUPTI_ACTIVITY_KIND_RUNTIME", true, error);

	code = code ? code : read_operations(nsys, "CUPTI_ACTIVITY_KIND_KERNEL", STORE_OP_KERNEL, error);
	code = code ? code : read_operations(nsys, "CUPTI_ACTIVITY_KIND_MEMCPY", STORE_OP_COPY, error);
	code = code ? code : read_operations(nsys, "CUPTI_ACTIVITY_KIND_MEMSET", STORE_OP_SET, error);
	code = code ? code : read_operations(nsys, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", STORE_OP_GRAPH, error);
	code = code ? code : read_nvtx(nsys, error);
	code = code ? code : read_calls(nsys, "OSRT_API", false, error);
	code = code ? code : read_samples(nsys, error);
	code = code ? code : read_switches(nsys, error);
	code = code ? code : name_threads(nsys, error);
	code = code ? code : name_processes(nsys, error);
	if (code)
		return code;
	name_devices(nsys);
	take_clock(nsys);
	if (!nsys->has_table)
		return error_set(error, ERROR_RUN,
			"%s is an SQLite file%s, but has no table of Nsight Systems: make it by nsys export "
			"--type sqlite",
			nsys->input->name, nsys->is_damaged ? ", and damaged" : "");
	return 0;
}

static int open_database(struct nsys *nsys, const char *path, struct error *error)
{
	int code = sqlite3_open_v2(path, &nsys->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);

	if (code != SQLITE_OK)
		return error_set(
			error, ERROR_RUN, "cannot read %s: %s", nsys->input->name, sqlite3_errstr(code));
	sqlite3_db_config(nsys->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(nsys->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(nsys->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	if (has_table(nsys, "StringIds"))
		sqlite3_prepare_v2(
			nsys->db, "SELECT value FROM StringIds WHERE id = ?", -1, &nsys->text_query, NULL);
	return 0;
}

static int import_from(struct nsys *nsys, const char *file, const char *path, struct error *error)
{
	struct format_input *input = nsys->input;
	int code = import_run_begin(&nsys->run, path, "nsys", error);
	struct stat status;

	if (code < 0)
		return code;
	nsys->text_ids = stat(file, &status) == 0 && status.st_size < TEXTS_MAX ? status.st_size : TEXTS_MAX;
	code = open_database(nsys, file, error);
	if (code == 0)
		code = read_all(nsys, error);
	if (code == 0)
		say_left_out(nsys, &input->left_out);
	sqlite3_finalize(nsys->text_query);
	sqlite3_close(nsys->db);
	if (code < 0) {
		import_run_abort(nsys->run);
		return code;
	}
	code = import_run_end(nsys->run, &input->left_out, error);
	if (code < 0 || !nsys->is_damaged)
		return code;
	input->is_kept = true;
	return error_set(error, ERROR_RUN, "%s is damaged or cut short (%s): what could be read is in %s",
		input->name, nsys->why, path);
}

static int nsys_import(struct format_input *input, const char *path, struct error *error)
{
	struct nsys nsys = {.input = input};
	char name[PATH_MAX];
	int code = format_named_file(input, name, error);

	if (code < 0)
		return code;
	code = import_from(&nsys, name, path, error);
	if (input->fd < 0)
		unlink(name);
	free(nsys.texts);
	free(nsys.calls);
	store_bytes_fini(&nsys.attributes);
	return code;
}

static bool nsys_is(const uint8_t *head, size_t size)
{
	return size >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

const struct format format_nsys = {
	.name = "nsys", .about = "SQLite export of Nsight Systems", .take = nsys_import, .is = nsys_is};
