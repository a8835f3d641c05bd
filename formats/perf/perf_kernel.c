/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_kernel.c - the list has a hundred thousand functions, of which a file needs some hundred: frames and
 * functions are sorted by address and walked once, side by side.
 *
 *   functions   |a        |b   |c      |d     by address; of two at one address the better name
 *   frames         . ..          .        .
 */
#include "formats/perf/perf_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/bytes.h"
#include "timeline/base/key_ids.h"

#define NAME_BYTES 512u			 /* what is longer is cut */
#define FUNCTION_MAX ((uint64_t)1 << 20) /* behind the list's last function; and no function is larger */

struct frame_key {
	uint64_t offset;
	uint32_t module, zero;
};

struct kernel_frame {
	uint64_t address, offset;
	uint32_t module;
};

struct function {
	uint64_t address;
	uint32_t name; /* where it begins in names */
	enum { GLOBAL, LOCAL, WEAK, DATA } rank;
};

struct perf_kernel {
	struct key_ids keys;
	struct kernel_frame *frames;
	size_t frame_room;
	struct function *functions;
	size_t count, room;
	struct store_bytes names; /* NUL-terminated */
	uint64_t anchor,
		end; /* of the list: its symbol of that name, the end of the kernel's own functions */
};

struct perf_kernel *perf_kernel_new(void)
{
	struct perf_kernel *kernel = calloc(1, sizeof *kernel);

	if (kernel)
		key_ids_init(&kernel->keys, sizeof(struct frame_key));
	return kernel;
}

void perf_kernel_free(struct perf_kernel *kernel)
{
	if (!kernel)
		return;
	key_ids_fini(&kernel->keys);
	store_bytes_fini(&kernel->names);
	free(kernel->frames);
	free(kernel->functions);
	free(kernel);
}

bool perf_kernel_add(struct perf_kernel *kernel, uint32_t module, uint64_t offset, uint64_t address)
{
	const struct frame_key key = {offset, module, 0};
	bool is_new;
	uint32_t number = key_ids_put(&kernel->keys, &key, &is_new);

	if (number == KEY_IDS_NONE ||
		!array_widen(&kernel->frames, &kernel->frame_room, number, sizeof *kernel->frames))
		return false;
	if (is_new)
		kernel->frames[number] = (struct kernel_frame){address, offset, module};
	return true;
}

/* ---- the list of symbols ---- */

static bool is_this_kernel(const struct perf_kernel_anchor *anchor)
{
	char notes[4096];
	FILE *file = fopen("/sys/kernel/notes", "re");
	size_t size = file ? fread(notes, 1, sizeof notes, file) : 0;

	if (file)
		fclose(file);
	return memmem(notes, size, anchor->build_id, anchor->build_id_bytes) != NULL;
}

static FILE *open_copy(const struct perf_kernel_anchor *anchor)
{
	const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	char id[2 * 20 + 1] = "";
	FILE *file;
	char *path;

	for (uint8_t i = 0; i < anchor->build_id_bytes && i < 20; i++)
		snprintf(id + 2 * (size_t)i, 3, "%02x", anchor->build_id[i]);
	if (asprintf(&path, "%s%s/[kernel.kallsyms]/%s/kallsyms",
		    folder ? folder
		    : home ? home
			   : "",
		    folder ? "" : "/.debug", id) < 0)
		return NULL;
	file = fopen(path, "re");
	free(path);
	return file;
}

static bool add_function(struct perf_kernel *kernel, uint64_t address, char type, const char *name)
{
	if (!array_widen(&kernel->functions, &kernel->room, kernel->count, sizeof *kernel->functions))
		return false;
	kernel->functions[kernel->count++] = (struct function){.address = address,
		.name = (uint32_t)kernel->names.size,
		.rank = type == 'T'		     ? GLOBAL
			: type == 't'		     ? LOCAL
			: type == 'w' || type == 'W' ? WEAK
						     : DATA};
	store_bytes_put(&kernel->names, name, strlen(name) + 1);
	return !kernel->names.failed;
}

/* `address type name`, then perhaps a tab and `[module]`. Where addresses are hidden all are 0. */
static bool read_list(struct perf_kernel *kernel, FILE *list, const char *anchor)
{
	char line[NAME_BYTES + 64], name[NAME_BYTES], type;
	uint64_t address;

	kernel->anchor = kernel->end = 0;
	kernel->count = kernel->names.size = 0;
	while (fgets(line, sizeof line, list)) {
		if (sscanf(line, "%" SCNx64 " %c %511[^\t\n]", &address, &type, name) != 3 || !address)
			continue;
		if (!kernel->anchor && strcmp(name, anchor) == 0)
			kernel->anchor = address;
		if (!kernel->end && strcmp(name, "_etext") == 0)
			kernel->end = address;
		if (!add_function(kernel, address, type, name))
			return false;
	}
	return kernel->anchor != 0;
}

static bool take_list(struct perf_kernel *kernel, FILE *list, const char *anchor)
{
	bool is_read = list && read_list(kernel, list, anchor);

	if (list)
		fclose(list);
	return is_read;
}

static bool find_list(struct perf_kernel *kernel, const struct perf_kernel_anchor *anchor)
{
	return (is_this_kernel(anchor) && take_list(kernel, fopen("/proc/kallsyms", "re"), anchor->symbol)) ||
	       take_list(kernel, open_copy(anchor), anchor->symbol);
}

/* ---- frames to functions ---- */

static const char *name_at(const struct perf_kernel *kernel, const struct function *function)
{
	return (const char *)kernel->names.data + function->name;
}

/* Of names of one address, as perf does: not a weak one, a global one, the one with the fewest underscores
 * before it, the longest. */
static int function_compare(const void *left, const void *right, void *own)
{
	const struct function *a = left, *b = right;
	const struct perf_kernel *kernel = own;
	const char *x = name_at(kernel, a), *y = name_at(kernel, b);
	size_t under = strspn(x, "_"), other = strspn(y, "_");

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (under != other)
		return under < other ? -1 : 1;
	if (strlen(x) != strlen(y))
		return strlen(x) > strlen(y) ? -1 : 1;
	return strcmp(x, y);
}

static int frame_compare(const void *left, const void *right)
{
	const struct kernel_frame *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void name_frame(const struct perf_kernel *kernel, struct store_writer *writer,
	const struct kernel_frame *frame, uint64_t address, const struct function *function)
{
	const char *name = name_at(kernel, function);
	const struct store_scope scope = {.kind = STORE_SCOPE_FUNCTION,
		.name = store_writer_text(writer, name, strlen(name)),
		.start = frame->offset - (address - function->address)};

	store_writer_symbol(writer, frame->module, frame->offset, &scope, 1);
}

/* The function that holds the address: frames come in order. NULL: none. */
static const struct function *find_function(const struct perf_kernel *kernel, uint64_t address, size_t *next)
{
	const struct function *best;

	while (*next < kernel->count && kernel->functions[*next].address <= address)
		++*next;
	if (*next == 0)
		return NULL;
	best = &kernel->functions[*next - 1];
	while (best > kernel->functions && best[-1].address == best->address)
		best--;
	return best->rank != DATA && address - best->address < FUNCTION_MAX ? best : NULL;
}

uint64_t perf_kernel_name(
	struct perf_kernel *kernel, struct store_writer *writer, const struct perf_kernel_anchor *anchor)
{
	uint64_t unnamed = 0;
	size_t next = 0;

	if (!kernel->keys.count || !anchor->symbol[0] || !anchor->build_id_bytes ||
		!find_list(kernel, anchor))
		return kernel->keys.count;
	qsort_r(kernel->functions, kernel->count, sizeof *kernel->functions, function_compare, kernel);
	qsort(kernel->frames, kernel->keys.count, sizeof *kernel->frames, frame_compare);
	for (uint32_t i = 0; i < kernel->keys.count; i++) {
		const struct kernel_frame *frame = &kernel->frames[i];
		uint64_t address = frame->address - anchor->address + kernel->anchor;
		const struct function *function = find_function(kernel, address, &next);
		bool is_moved = anchor->address != kernel->anchor && address >= kernel->end;

		if (function && !is_moved)
			name_frame(kernel, writer, frame, address, function);
		else
			unnamed++;
	}
	return unnamed;
}
