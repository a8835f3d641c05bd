/* SPDX-License-Identifier: Apache-2.0 */
/* names_calls.c - see names_calls.h. Reads binaries only through gpu_code.h, which trusts none of their
 * bytes. */
#include "timeline/names_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/read/reader.h"
#include "timeline/code/decode.h"
#include "timeline/code/gpu_code.h"
#include "timeline/debug/demangle.h"
#include "timeline/report/report.h"
#include "timeline/run/run_find.h"

#define CHAIN_MAX 64u

static const struct report_column columns[] = {
	{"binary", REPORT_TEXT},
	{"offset", REPORT_FIGURES},
	{"kind", REPORT_TEXT},
	{"caller", REPORT_TEXT},
	{"inlined", REPORT_TEXT},
	{"file", REPORT_TEXT},
	{"line", REPORT_NUMBER},
	{"target", REPORT_FIGURES},
	{"callee", REPORT_TEXT},
};

struct printing {
	FILE *out;
	struct report *report; /* NULL: nothing was found to be readable yet, and nothing printed */
	void (*note)(const char *sentence);
	struct error *error;
};

/* ---- one binary ---- */

static void put_address(struct report *report, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, address);
	report_string(report, text);
}

static void put_name(struct report *report, const char *symbol)
{
	char name[DEMANGLE_MAX];

	demangle_symbol(symbol, name, sizeof name);
	report_string(report, name);
}

/* Where the call is written: in the innermost of what was inlined there. */
static void put_place(struct report *report, struct gpu_code *code, uint64_t address)
{
	struct gpu_frame frames[CHAIN_MAX];
	unsigned count = gpu_code_chain(code, address, frames, CHAIN_MAX);
	const struct gpu_frame *inner = count ? &frames[count - 1] : NULL;

	if (count > 1)
		put_name(report, inner->name);
	else
		report_none(report);
	report_string(report, inner && inner->file[0] ? inner->file : NULL);
	if (inner && inner->line)
		report_number(report, inner->line);
	else
		report_none(report);
}

/* A call through a pointer has no target: "?". */
static void put_call(
	struct report *report, struct gpu_code *code, const char *binary, const struct gpu_call *call)
{
	const struct gpu_function *caller = gpu_code_at(code, call->address);
	const struct gpu_function *called = call->target ? gpu_code_at(code, call->target) : NULL;

	report_string(report, binary);
	put_address(report, call->address);
	report_string(report, caller && caller->is_kernel ? "kernel" : "function");
	put_name(report, caller ? caller->name : "?");
	put_place(report, code, call->address);
	if (call->target)
		put_address(report, call->target);
	else
		report_none(report);
	put_name(report, called ? called->name : "?");
	report_row(report);
}

/* What cannot be read gets a sentence and no header. */
static int printing_begin(struct printing *printing)
{
	return printing->report ? 0
				: report_open(&printing->report, printing->out, REPORT_TSV, "hpct-names",
					  columns, sizeof columns / sizeof *columns, printing->error);
}

static int binary_print(struct printing *printing, const char *binary, const void *bytes, size_t size)
{
	struct gpu_code *code = NULL;
	struct gpu_call *calls = NULL;
	char text[256];
	size_t count = 0;
	int rc = gpu_code_open(&code, bytes, size, printing->error);

	if (rc)
		return rc;
	if (decoder_lacks(gpu_code_machine(code))) {
		snprintf(text, sizeof text, "%s: %s", binary, decoder_lacks(gpu_code_machine(code)));
		printing->note(text);
	}
	rc = printing_begin(printing);
	rc = rc ? rc : gpu_code_calls(code, &calls, &count, printing->error);
	for (size_t i = 0; i < count && !rc; i++)
		put_call(printing->report, code, binary, &calls[i]);
	free(calls);
	gpu_code_close(code);
	return rc;
}

static int file_print(struct printing *printing, const char *path)
{
	const char *slash = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat status;
	void *bytes;

	if (fd < 0)
		return error_set(printing->error, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return error_set(printing->error, ERROR_IO, "%s is not a GPU binary", path);
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return error_memory(printing->error);
	if (gpu_code_is(bytes, (size_t)status.st_size))
		rc = binary_print(printing, slash ? slash + 1 : path, bytes, (size_t)status.st_size);
	else
		rc = error_set(printing->error, ERROR_IO,
			"%s is not a GPU binary of a kind that can be read (cubin, AMD, Intel; 64-bit)",
			path);
	munmap(bytes, (size_t)status.st_size);
	return rc;
}

/* ---- a run ---- */

static int blob_print(struct printing *printing, struct store_reader *reader, uint64_t key)
{
	char binary[64], text[72 + sizeof printing->error->text];
	void *bytes;
	size_t size;
	int rc = store_reader_blob(reader, key, &bytes, &size, printing->error);

	if (rc <= 0)
		return rc;
	snprintf(binary, sizeof binary, "%016" PRIx64, key);
	if (gpu_code_is(bytes, size) && (rc = binary_print(printing, binary, bytes, size)) == -ERROR_IO) {
		snprintf(text, sizeof text, "%s: %s", binary, printing->error->text);
		printing->note(text);
		rc = 0;
	}
	free(bytes);
	return rc < 0 ? rc : 0;
}

static int store_print(struct printing *printing, const char *path)
{
	struct store_reader *reader = NULL;
	uint64_t key = 0;
	int rc = store_reader_open(&reader, path, printing->error);

	while (!rc && (rc = store_reader_blob_next(reader, &key, printing->error)) == 1) {
		rc = blob_print(printing, reader, key);
		if (key++ == UINT64_MAX)
			break;
	}
	if (reader)
		store_reader_close(reader);
	return rc;
}

static int run_print(struct printing *printing, const char *run)
{
	char **names, *path, *found;
	size_t count;
	int rc = run_find(run, &found, printing->error);

	if (rc)
		return rc;
	rc = run_find_stores(found, &names, &count, printing->error);
	if (rc) {
		free(found);
		return rc;
	}
	rc = printing_begin(printing);
	for (size_t i = 0; !rc && i < count; i++) {
		if (asprintf(&path, "%s/%s", found, names[i]) < 0) {
			rc = error_memory(printing->error);
			break;
		}
		rc = store_print(printing, path);
		free(path);
	}
	run_find_free(names, count);
	free(found);
	return rc;
}

int names_calls_print(const char *path, FILE *out, void (*note)(const char *sentence), struct error *error)
{
	struct printing printing = {.out = out, .note = note, .error = error};
	struct error unwritten = {0};
	struct stat status;
	bool is_file = !stat(path, &status) && !S_ISDIR(status.st_mode);
	int rc = is_file ? file_print(&printing, path) : run_print(&printing, path), closed;

	if (!printing.report)
		return rc;
	closed = report_close(printing.report, rc ? &unwritten : error);
	return rc ? rc : closed;
}
