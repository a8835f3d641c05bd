/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_samples_import.c - see gpu_samples_import.h. */
#include "formats/gpu_samples/gpu_samples_import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/import_run.h"
#include "formats/base/text_lines.h"
#include "formats/gpu_samples/gpu_reason.h"
#include "store/base/array.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/code/gpu_code.h"
#include "timeline/debug/demangle.h"
#include "timeline/names/names_fill.h"

#define STREAM "gpu:-/-/0.0/0/0/"
#define COLUMNS_MAX 64u
#define NUMBER_MAX 32u
#define REASONS_MAX 256u /* that are told apart; vendors have some fifty */
#define BINARY_BYTES_MAX ((size_t)1 << 30)

enum column { ADDRESS, OFFSET, KERNEL, REASON, WEIGHT, NOT_ISSUED, TIME, END, ATTRIBUTES, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = {
	"address", "offset", "kernel", "reason", "weight", "not_issued", "time_ns", "end_ns", "attributes"};

struct binary {
	uint64_t key;
	uint8_t *bytes;
	size_t size;
	struct gpu_code *code;
};

struct place {
	const struct gpu_function *function;
	const struct binary *binary;
};

struct gpu_samples {
	struct format_input *input;
	struct import_run *run;
	struct text_lines lines;
	struct binary *binaries;
	size_t binary_count;
	struct key_ids names; /* of the binaries' functions, mangled and demangled: hashes */
	struct place *places; /* by number of the name */
	size_t place_room;
	struct key_ids reasons;	      /* hashes of their metrics' names */
	uint8_t columns[COLUMNS_MAX]; /* by place: an enum column, COLUMN_COUNT: unknown */
	size_t count;
	struct text_part fields[COLUMN_COUNT]; /* of the line */
	uint32_t samples, queue;	       /* streams; IMPORT_NONE: not needed so far */
	uint64_t records, unknown_reasons;
};

/* ---- binaries ---- */

static int binary_read(struct binary *binary, const char *path, FILE *file, struct error *error)
{
	struct stat status;

	if (fstat(fileno(file), &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
		(size_t)status.st_size > BINARY_BYTES_MAX)
		return error_set(error, ERROR_USAGE, "--binary %s is no GPU binary", path);
	binary->size = (size_t)status.st_size;
	binary->bytes = malloc(binary->size);
	if (!binary->bytes)
		return error_memory(error);
	if (fread(binary->bytes, 1, binary->size, file) != binary->size)
		return error_set(error, ERROR_USAGE, "--binary %s cannot be read as a whole", path);
	return 0;
}

/* Of functions with the same name the first is meant. */
static bool name_put(struct gpu_samples *import, const char *name, const struct place *place)
{
	struct store_hash hash = store_hash128(name, strlen(name));
	bool is_new;
	uint32_t number = key_ids_put(&import->names, &hash, &is_new);

	if (number == KEY_IDS_NONE ||
		!array_widen(&import->places, &import->place_room, number, sizeof *import->places))
		return false;
	if (is_new)
		import->places[number] = *place;
	return true;
}

static int names_take(struct gpu_samples *import, const struct binary *binary, struct error *error)
{
	size_t count;
	const struct gpu_function *functions = gpu_code_functions(binary->code, &count);
	char plain[DEMANGLE_MAX];

	for (size_t i = 0; i < count; i++) {
		const struct place place = {&functions[i], binary};

		if (!name_put(import, functions[i].name, &place) ||
			(demangle_symbol(functions[i].name, plain, sizeof plain) &&
				!name_put(import, plain, &place)))
			return error_memory(error);
	}
	return 0;
}

static int binary_open(
	struct gpu_samples *import, struct binary *binary, const char *path, struct error *error)
{
	FILE *file = fopen(path, "rbe");
	struct error why;
	int rc;

	if (!file)
		return error_set(error, ERROR_USAGE, "--binary %s cannot be read: %s", path, strerror(errno));
	rc = binary_read(binary, path, file, error);
	fclose(file);
	if (rc == 0 && gpu_code_open(&binary->code, binary->bytes, binary->size, &why))
		rc = error_set(error, ERROR_USAGE, "--binary %s: %.400s", path, why.text);
	if (rc)
		return rc;
	binary->key = store_hash64(binary->bytes, binary->size, 0);
	binary->key += !binary->key;
	store_writer_blob(import_run_writer(import->run), binary->key, binary->bytes, binary->size);
	return names_take(import, binary, error);
}

static int binaries_open(struct gpu_samples *import, struct error *error)
{
	int rc = 0;

	import->binaries = calloc(import->input->binary_count + 1, sizeof *import->binaries);
	if (!import->binaries)
		return error_memory(error);
	for (size_t i = 0; i < import->input->binary_count && rc == 0; i++) {
		rc = binary_open(import, &import->binaries[i], import->input->binaries[i], error);
		import->binary_count++;
	}
	return rc;
}

/* The kernel's function and binary; NULL: none of the files has it. */
static const struct place *kernel_find(const struct gpu_samples *import, const char *name)
{
	struct store_hash hash = store_hash128(name, strlen(name));
	uint32_t number = key_ids_find(&import->names, &hash);

	return number == KEY_IDS_NONE ? NULL : &import->places[number];
}

/* Each file counts its addresses from its own begin: of several that have this one it is the kernel's. */
static struct place address_find(const struct gpu_samples *import, uint64_t address, const char *kernel)
{
	const struct place *own = kernel_find(import, kernel);
	struct place at = {NULL, own ? own->binary : import->binary_count ? import->binaries : NULL};

	if (own)
		at.function = gpu_code_at(own->binary->code, address);
	for (size_t b = 0; b < import->binary_count && !at.function; b++) {
		at.function = gpu_code_at(import->binaries[b].code, address);
		if (at.function)
			at.binary = &import->binaries[b];
	}
	return at;
}

/* ---- fields ---- */

static bool part_is(struct text_part part, const char *word)
{
	return strlen(word) == part.size && memcmp(part.bytes, word, part.size) == 0;
}

static bool columns_take(struct gpu_samples *import, struct text_part line)
{
	bool has[COLUMN_COUNT] = {false};

	for (size_t at = 0; at <= line.size && import->count < COLUMNS_MAX; import->count++) {
		const char *end = memchr(line.bytes + at, '\t', line.size - at);
		size_t size = end ? (size_t)(end - line.bytes) - at : line.size - at;
		uint8_t column = 0;

		while (column < COLUMN_COUNT &&
			!part_is((struct text_part){line.bytes + at, size}, column_names[column]))
			column++;
		import->columns[import->count] = column;
		if (column < COLUMN_COUNT)
			has[column] = true;
		at += size + 1;
	}
	return has[ADDRESS] || has[OFFSET];
}

static void fields_take(struct gpu_samples *import, struct text_part line)
{
	size_t at = 0;

	for (unsigned c = 0; c < COLUMN_COUNT; c++)
		import->fields[c] = (struct text_part){"", 0};
	for (size_t i = 0; i < import->count && at <= line.size; i++) {
		const char *end = memchr(line.bytes + at, '\t', line.size - at);
		size_t size = end ? (size_t)(end - line.bytes) - at : line.size - at;

		if (import->columns[i] < COLUMN_COUNT)
			import->fields[import->columns[i]] = (struct text_part){line.bytes + at, size};
		at += size + 1;
	}
}

static int bad(const struct gpu_samples *import, enum column column, const char *what, struct error *error)
{
	const struct text_part *field = &import->fields[column];

	return error_set(error, ERROR_RUN, "%s line %" PRIu64 ", column %s: '%.*s' %s", import->input->name,
		import->lines.lines, column_names[column], field->size < 80 ? (int)field->size : 80,
		field->bytes, what);
}

static int number_take(const struct gpu_samples *import, enum column column, uint64_t otherwise,
	uint64_t *number, struct error *error)
{
	const struct text_part *field = &import->fields[column];
	char text[NUMBER_MAX], *end;

	*number = otherwise;
	if (!field->size)
		return 0;
	if (field->size >= sizeof text)
		return bad(import, column, "is no number", error);
	memcpy(text, field->bytes, field->size);
	text[field->size] = '\0';
	errno = 0;
	*number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
	if (*end || errno || text[0] < '0' || text[0] > '9')
		return bad(import, column, "is no number", error);
	return 0;
}

/* AMD's symbol of what is launched is NAME.kd. "": the column is empty, or too long. */
static void kernel_name(const struct gpu_samples *import, char name[DEMANGLE_MAX])
{
	struct text_part field = import->fields[KERNEL];

	if (field.size > 3 && memcmp(field.bytes + field.size - 3, ".kd", 3) == 0)
		field.size -= 3;
	snprintf(name, DEMANGLE_MAX, "%.*s", field.size < DEMANGLE_MAX ? (int)field.size : 0, field.bytes);
}

/* ---- records ---- */

static int stream_need(struct gpu_samples *import, uint32_t *stream, const char *text, struct error *error)
{
	bool is_text;

	if (*stream == IMPORT_NONE)
		*stream = import_stream_named(import->run, text, strlen(text), &is_text);
	return *stream == IMPORT_NONE ? error_memory(error) : 0;
}

static uint32_t kernel_context(struct gpu_samples *import, const char *name)
{
	static const char frame[] = "<gpu kernel>";
	uint32_t context = import_frame(import->run, 0, import_name(import->run, frame, sizeof frame - 1));

	return import_frame(import->run, context, import_name(import->run, name, strlen(name)));
}

static uint32_t instruction_context(
	struct gpu_samples *import, const char *kernel, uint64_t key, uint64_t address)
{
	struct store_writer *writer = import_run_writer(import->run);
	struct store_module module = {.kind = STORE_MODULE_GPU, .build_id_bytes = sizeof key};

	for (unsigned i = 0; i < sizeof key; i++)
		module.build_id[i] = (uint8_t)(key >> (56 - 8 * i));
	return store_writer_context(
		writer, kernel_context(import, kernel), store_writer_module(writer, &module), address);
}

/* The instruction's address and binary, and the kernel if the row does not name it. */
static int place_take(struct gpu_samples *import, char kernel[DEMANGLE_MAX], uint64_t *key, uint64_t *address,
	struct error *error)
{
	const struct place *own;
	struct place at;
	uint64_t offset;
	int rc = number_take(import, OFFSET, 0, &offset, error);

	rc = rc ? rc : number_take(import, ADDRESS, 0, address, error);
	if (rc)
		return rc;
	if (import->fields[ADDRESS].size) {
		at = address_find(import, *address, kernel);
	} else {
		own = kernel_find(import, kernel);
		if (!own)
			return bad(import, KERNEL,
				"is in none of the files of --binary, and only its begin tells what the "
				"offset means",
				error);
		at = *own;
		*address = at.function->start + offset;
	}
	*key = at.binary ? at.binary->key : 1;
	if (!*kernel && at.function)
		snprintf(kernel, DEMANGLE_MAX, "%s", at.function->name);
	return *kernel ? 0
		       : bad(import, ADDRESS, "has no kernel: name it, or the binary that has it (--binary)",
				 error);
}

/* A damaged file may have a reason of its own in each row: what comes behind the others is not told apart. */
static int reason_take(
	struct gpu_samples *import, char name[GPU_REASON_METRIC_MAX], bool *is_idle, struct error *error)
{
	const struct text_part *reason = &import->fields[REASON];
	struct store_hash hash;

	import->unknown_reasons += !gpu_reason_metric(reason->bytes, reason->size, name, is_idle);
	hash = store_hash128(name, strlen(name));
	if (import->reasons.count < REASONS_MAX)
		return key_ids_put(&import->reasons, &hash, NULL) == KEY_IDS_NONE ? error_memory(error) : 0;
	if (key_ids_find(&import->reasons, &hash) == KEY_IDS_NONE)
		gpu_reason_metric("other", strlen("other"), name, is_idle);
	return 0;
}

static int metric_take(struct gpu_samples *import, uint32_t *metric, struct error *error)
{
	char name[GPU_REASON_METRIC_MAX + 16];
	bool is_idle;
	uint64_t not_issued;
	int rc = reason_take(import, name, &is_idle, error);

	rc = rc ? rc : number_take(import, NOT_ISSUED, is_idle, &not_issued, error);
	if (rc)
		return rc;
	if (not_issued > 1)
		return bad(import, NOT_ISSUED, "is neither 0 nor 1", error);
	if (not_issued && strncmp(name, "GINST:STL_NONE", 14) != 0)
		strcat(name, "/not_issued");
	*metric = store_writer_metric(import_run_writer(import->run), name, "", false);
	return 0;
}

static int sample_take(struct gpu_samples *import, struct error *error)
{
	struct import_record record = {.shape = IMPORT_SAMPLE};
	char kernel[DEMANGLE_MAX];
	uint64_t key = 0, address = 0;
	int rc;

	kernel_name(import, kernel);
	rc = place_take(import, kernel, &key, &address, error);
	rc = rc ? rc : number_take(import, WEIGHT, 1, &record.bytes, error);
	rc = rc ? rc : number_take(import, TIME, 0, &record.begin_ns, error);
	rc = rc ? rc : metric_take(import, &record.op, error);
	rc = rc ? rc : stream_need(import, &import->samples, STREAM "pc", error);
	if (rc)
		return rc;
	record.stream = import->samples;
	record.name = instruction_context(import, kernel, key, address);
	return import_record(import->run, &record, error);
}

static int launch_take(struct gpu_samples *import, struct error *error)
{
	const struct text_part *attributes = &import->fields[ATTRIBUTES];
	struct import_record record = {.shape = IMPORT_PLACED, .op = STORE_OP_KERNEL};
	char kernel[DEMANGLE_MAX];
	int rc = number_take(import, TIME, 0, &record.begin_ns, error);

	kernel_name(import, kernel);
	if (!*kernel)
		return bad(import, KERNEL, "is no kernel, and the row has neither address nor offset", error);
	rc = rc ? rc : number_take(import, END, 0, &record.end_ns, error);
	if (rc == 0 && record.end_ns < record.begin_ns)
		rc = bad(import, END, "is before time_ns", error);
	rc = rc ? rc : stream_need(import, &import->queue, STREAM "0", error);
	if (rc)
		return rc;
	record.stream = import->queue;
	record.name = kernel_context(import, kernel);
	record.attributes =
		attributes->size ? import_name(import->run, attributes->bytes, attributes->size) : 0;
	return import_record(import->run, &record, error);
}

static int lines_take(struct gpu_samples *import, struct error *error)
{
	struct text_part line;
	int rc = text_lines_next(&import->lines, &line, error);

	if (rc > 0 && !columns_take(import, line))
		rc = error_set(error, ERROR_RUN, "%s has no column address or offset in its first line",
			import->input->name);
	while (rc > 0 && (rc = text_lines_next(&import->lines, &line, error)) > 0) {
		bool is_launch;

		if (!line.size)
			continue;
		fields_take(import, line);
		is_launch = !import->fields[ADDRESS].size && !import->fields[OFFSET].size;
		rc = is_launch ? launch_take(import, error) : sample_take(import, error);
		rc = rc < 0 ? rc : 1;
		if ((++import->records & 0xfff) == 0)
			format_input_progress(import->input);
	}
	return rc;
}

/* ---- the whole ---- */

static int fill(struct gpu_samples *import, struct error *error)
{
	int rc = binaries_open(import, error);

	rc = rc ? rc : lines_take(import, error);
	if (rc == 0 && !import->records)
		rc = error_set(error, ERROR_RUN, "%s has no samples", import->input->name);
	format_left_out(&import->input->left_out, import->unknown_reasons,
		"reasons that are known of no vendor: they count as other");
	format_left_out(&import->input->left_out, import->lines.too_long, "lines of more than a mebibyte");
	return rc;
}

static void samples_fini(struct gpu_samples *import)
{
	for (size_t i = 0; i < import->binary_count; i++) {
		gpu_code_close(import->binaries[i].code);
		free(import->binaries[i].bytes);
	}
	free(import->binaries);
	free(import->places);
	key_ids_fini(&import->names);
	key_ids_fini(&import->reasons);
	text_lines_fini(&import->lines);
}

int gpu_samples_import(struct format_input *input, const char *path, struct error *error)
{
	struct gpu_samples import = {
		.input = input, .lines.in = input->in, .samples = IMPORT_NONE, .queue = IMPORT_NONE};
	const struct names_options names = {0};
	struct names_fill found;
	int rc = import_run_begin(&import.run, path, "gpu-samples", error);

	if (rc < 0)
		return rc;
	key_ids_init(&import.names, sizeof(struct store_hash));
	key_ids_init(&import.reasons, sizeof(struct store_hash));
	rc = fill(&import, error);
	samples_fini(&import);
	if (rc < 0) {
		import_run_abort(import.run);
		return rc;
	}
	rc = import_run_end(import.run, &input->left_out, error);
	if (rc == 0 && input->finds_names && input->binary_count)
		names_fill(path, &names, &found, NULL, NULL);
	return rc;
}

bool gpu_samples_is(const uint8_t *head, size_t size)
{
	const uint8_t *end = memchr(head, '\n', size);
	struct gpu_samples import = {0};

	return end && memchr(head, '\t', (size_t)(end - head)) &&
	       columns_take(&import, (struct text_part){(const char *)head, (size_t)(end - head)}) &&
	       memmem(head, (size_t)(end - head), "reason", 6);
}

const struct format format_gpu_samples = {.name = "gpu-samples",
	.about = "samples of GPU instructions, from any tool",
	.take = gpu_samples_import,
	.is = gpu_samples_is,
	.takes_binaries = true};
