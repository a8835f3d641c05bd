/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_blobs.c - see java_blobs.h. The memory of the code cache only grows and is never given back, nor are
 * the few objects that describe it: once they were read safely they are read directly, within the bounds that
 * they give. Other threads make and free code meanwhile: whatever is read may be half made, and the walk
 * checks where it leads. What the blob of a frame that is on a stack says does not change.
 */
#include "record/agent/java/java_blobs.h"

#include <stddef.h>
#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"
#include "record/agent/unwind/module_slots.h"

#define FIELDS_MAX 8192u
#define TRIES 4096u /* a library that publishes other fields is left alone in the end */
#define HEAPS_MAX 8u
#define SEGMENT_FREE 0xffu
#define STEPS_MAX 4096u /* through the segment map: a blob has some thousand segments at most */

/* Fields that are read, by number. */
enum field {
	HEAPS, /* CodeCache::_heaps, since Java 9 */
	HEAP,  /* CodeCache::_heap, before */
	ARRAY_COUNT,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_MAP,
	HEAP_SHIFT,
	BLOCK_LENGTH, /* of HeapBlock: a flag follows, then, at the next place for a length, the blob */
	SPACE_LOW,
	SPACE_HIGH,
	BLOB_SIZE,
	BLOB_FRAME,
	BLOB_COMPLETE,
	BLOB_BEGIN,  /* _code_begin, an address, up to Java 22 */
	BLOB_OFFSET, /* _code_offset, since then */
	INTERPRETER, /* AbstractInterpreter::_code */
	QUEUE_BUFFER,
	QUEUE_LIMIT,
	FIELD_COUNT
};

static const struct {
	const char *type, *name;
	enum field field;
} wanted[] = {
	{"CodeCache", "_heaps", HEAPS},
	{"CodeCache", "_heap", HEAP},
	{"GrowableArrayBase", "_len", ARRAY_COUNT},
	{"GenericGrowableArray", "_len", ARRAY_COUNT},
	{"GrowableArray<int>", "_data", ARRAY_DATA},
	{"CodeHeap", "_memory", HEAP_MEMORY},
	{"CodeHeap", "_segmap", HEAP_MAP},
	{"CodeHeap", "_log2_segment_size", HEAP_SHIFT},
	{"HeapBlock::Header", "_length", BLOCK_LENGTH},
	{"VirtualSpace", "_low", SPACE_LOW},
	{"VirtualSpace", "_high", SPACE_HIGH},
	{"CodeBlob", "_size", BLOB_SIZE},
	{"CodeBlob", "_frame_size", BLOB_FRAME},
	{"CodeBlob", "_frame_complete_offset", BLOB_COMPLETE},
	{"CodeBlob", "_code_begin", BLOB_BEGIN},
	{"CodeBlob", "_code_offset", BLOB_OFFSET},
	{"AbstractInterpreter", "_code", INTERPRETER},
	{"StubQueue", "_stub_buffer", QUEUE_BUFFER},
	{"StubQueue", "_buffer_limit", QUEUE_LIMIT},
};

struct place {
	uint64_t at;   /* an offset, or the address of a static field */
	uint8_t bytes; /* of an integer */
	bool is_known;
};

struct machine {
	struct place field[FIELD_COUNT];
};

/* The machine's library. */
struct library {
	const struct java_field *fields;
	uint64_t begin, end;
	const uint64_t
		*field_bytes; /* what a constructor sets once it fills the fields; NULL: it is not there */
};

/* One part of the code cache. */
struct heap {
	uint64_t memory, map; /* addresses of its two VirtualSpaces */
	uint32_t shift;	      /* log2 of a segment's bytes */
};

static HOT_DATA _Atomic(const struct library *) published;
static HOT_DATA _Atomic uint32_t heap_count; /* of those below; not 0: these and the machine are complete */
static struct heap heaps[HEAPS_MAX];
static _Atomic uint64_t interpreter_begin, interpreter_bytes;
static struct machine machine;
static struct library library;
static uint32_t tries_left;
static _Atomic uint32_t looked;		       /* modules so far */
static atomic_flag looking = ATOMIC_FLAG_INIT; /* never waited for */
static atomic_flag reading = ATOMIC_FLAG_INIT;

/* ---- what the machine publishes ---- */

static bool is_text(const char *text, const char *is, uint64_t begin, uint64_t end)
{
	uint64_t at = (uintptr_t)text, bytes = strlen(is) + 1;

	return at >= begin && at < end && end - at >= bytes && !strcmp(text, is);
}

/* Of an integer, by the name of its type. */
static uint8_t bytes_of(const char *kind, uint64_t begin, uint64_t end)
{
	if (is_text(kind, "size_t", begin, end))
		return 8;
	return is_text(kind, "int16_t", begin, end) ? 2 : 4;
}

static void field_take(struct machine *to, const struct java_field *field, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!is_text(field->name, wanted[i].name, begin, end) ||
			!is_text(field->type, wanted[i].type, begin, end))
			continue;
		to->field[wanted[i].field] =
			(struct place){.at = field->is_static ? field->address : field->offset,
				.bytes = bytes_of(field->kind, begin, end),
				.is_known = true};
	}
}

static bool has_all(const struct machine *of)
{
	for (unsigned i = 0; i < FIELD_COUNT; i++)
		if (!of->field[i].is_known && i != HEAPS && i != HEAP && i != ARRAY_COUNT &&
			i != ARRAY_DATA && i != BLOB_BEGIN && i != BLOB_OFFSET)
			return false;
	return (of->field[HEAP].is_known || (of->field[HEAPS].is_known && of->field[ARRAY_COUNT].is_known &&
						    of->field[ARRAY_DATA].is_known)) &&
	       (of->field[BLOB_BEGIN].is_known || of->field[BLOB_OFFSET].is_known);
}

static bool machine_read(struct machine *to, const struct library *from)
{
	memset(to, 0, sizeof(*to));
	for (unsigned i = 0; i < FIELDS_MAX; i++) {
		struct java_field field;

		if (!safe_read(&field, &from->fields[i], sizeof(field)) || !field.type)
			break;
		field_take(to, &field, from->begin, from->end);
	}
	return has_all(to);
}

void java_blobs_open(
	const struct java_field *fields, uint64_t begin, uint64_t end, const uint64_t *field_bytes)
{
	library = (struct library){fields, begin, end, field_bytes};
	tries_left = TRIES;
	atomic_store_explicit(&published, &library, memory_order_release);
}

/* ---- its heaps, once they are there ---- */

static bool word_get(uint64_t at, uint64_t *word)
{
	return at && !(at % 8) && safe_read(word, (const void *)(uintptr_t)at, sizeof(*word));
}

static bool number_get(const struct place *place, uint64_t of, uint32_t *number)
{
	*number = 0;
	return safe_read(number, (const void *)(uintptr_t)(of + place->at), place->bytes);
}

/* The addresses of the objects that describe the heaps; 0: none yet. */
static uint32_t objects_find(const struct machine *of, uint64_t objects[HEAPS_MAX])
{
	uint64_t array, data;
	uint32_t count;

	if (!of->field[HEAPS].is_known)
		return word_get(of->field[HEAP].at, &objects[0]) && objects[0] ? 1 : 0;
	if (!word_get(of->field[HEAPS].at, &array) || !array ||
		!number_get(&of->field[ARRAY_COUNT], array, &count) ||
		!word_get(array + of->field[ARRAY_DATA].at, &data) || !count || count > HEAPS_MAX ||
		!safe_read(objects, (const void *)(uintptr_t)data, count * sizeof(*objects)))
		return 0;
	return count;
}

static bool heap_fill(const struct machine *of, uint64_t object, struct heap *heap)
{
	uint64_t low, high;

	heap->memory = object + of->field[HEAP_MEMORY].at;
	heap->map = object + of->field[HEAP_MAP].at;
	return number_get(&of->field[HEAP_SHIFT], object, &heap->shift) && heap->shift >= 3 &&
	       heap->shift < 20 && word_get(heap->memory + of->field[SPACE_LOW].at, &low) &&
	       word_get(heap->memory + of->field[SPACE_HIGH].at, &high) && low && low < high &&
	       word_get(heap->map + of->field[SPACE_LOW].at, &low) &&
	       word_get(heap->map + of->field[SPACE_HIGH].at, &high) && low && low < high;
}

/* The interpreter is one range, made at the start. */
static bool interpreter_read(const struct machine *of)
{
	uint64_t queue, begin;
	uint32_t limit;

	if (!word_get(of->field[INTERPRETER].at, &queue) || !queue ||
		!word_get(queue + of->field[QUEUE_BUFFER].at, &begin) || !begin ||
		!number_get(&of->field[QUEUE_LIMIT], queue, &limit))
		return false;
	atomic_store(&interpreter_begin, begin);
	atomic_store(&interpreter_bytes, limit);
	return true;
}

/* False: the machine has not made them all. It makes them in a row at its start, before any code; the fields
 * that it publishes are not filled before its library's constructors have run, so that they are read only
 * now. */
static bool heaps_read(const struct library *from)
{
	uint64_t objects[HEAPS_MAX];
	uint32_t count, filled = 0;

	if (atomic_load_explicit(&heap_count, memory_order_acquire))
		return true;
	if ((from->field_bytes && *from->field_bytes != sizeof(struct java_field)) ||
		atomic_flag_test_and_set(&reading))
		return false;
	if (!atomic_load(&heap_count) && tries_left && tries_left-- && machine_read(&machine, from)) {
		count = objects_find(&machine, objects);
		while (filled < count && heap_fill(&machine, objects[filled], &heaps[filled]))
			filled++;
		if (count && filled == count && interpreter_read(&machine))
			atomic_store_explicit(&heap_count, count, memory_order_release);
	}
	atomic_flag_clear(&reading);
	return atomic_load(&heap_count) != 0;
}

/* ---- the blob at an address ---- */

static HOT uint64_t word_at(uint64_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	return word;
}

static HOT int32_t number_at(const struct place *place, uint64_t of)
{
	int16_t half;
	int32_t number;

	if (place->bytes == 2) {
		memcpy(&half, (const void *)(uintptr_t)(of + place->at), sizeof(half));
		return half;
	}
	memcpy(&number, (const void *)(uintptr_t)(of + place->at), sizeof(number));
	return number;
}

/* The segment map says for each segment how far back, at least, its block begins. 0: free. */
static HOT uint64_t block_find(const struct machine *of, const struct heap *heap, uint64_t low, uint64_t pc)
{
	uint64_t map = word_at(heap->map + of->field[SPACE_LOW].at),
		 map_high = word_at(heap->map + of->field[SPACE_HIGH].at), at = (pc - low) >> heap->shift;
	const uint8_t *segments = (const uint8_t *)(uintptr_t)map;

	if (at >= map_high - map || segments[at] == SEGMENT_FREE)
		return 0;
	for (unsigned steps = 0; segments[at]; steps++) {
		if (steps == STEPS_MAX || segments[at] > at || segments[at] == SEGMENT_FREE)
			return 0;
		at -= segments[at];
	}
	return low + (at << heap->shift);
}

static HOT bool blob_read(
	const struct machine *of, uint64_t blob, uint64_t high, uint64_t pc, struct unwind_told *told)
{
	uint64_t begin;
	int32_t size, words, complete;

	if (blob + 256 > high) /* its head */
		return false;
	size = number_at(&of->field[BLOB_SIZE], blob);
	words = number_at(&of->field[BLOB_FRAME], blob);
	complete = number_at(&of->field[BLOB_COMPLETE], blob);
	begin = of->field[BLOB_BEGIN].is_known
			? word_at(blob + of->field[BLOB_BEGIN].at)
			: blob + (uint64_t)(int64_t)number_at(&of->field[BLOB_OFFSET], blob);
	if (size <= 0 || (uint64_t)size > high - blob || pc - blob >= (uint64_t)size || begin < blob ||
		begin > blob + (uint64_t)size)
		return false;
	*told = (struct unwind_told){.begin = begin,
		.frame_bytes = words > 0 && words < (1 << 17) ? (uint32_t)words * 8 : 0,
		.complete = complete};
	return true;
}

HOT bool java_blobs_find(uint64_t pc, struct unwind_told *told)
{
	const struct library *from = atomic_load_explicit(&published, memory_order_acquire);
	const struct machine *of = &machine;

	if (!from || !heaps_read(from))
		return false;
	if (pc - atomic_load_explicit(&interpreter_begin, memory_order_relaxed) <
		atomic_load_explicit(&interpreter_bytes, memory_order_relaxed)) {
		*told = (struct unwind_told){
			.begin = atomic_load_explicit(&interpreter_begin, memory_order_relaxed),
			.is_interpreter = true};
		return true;
	}
	for (uint32_t i = 0; i < heap_count; i++) {
		uint64_t low = word_at(heaps[i].memory + of->field[SPACE_LOW].at),
			 high = word_at(heaps[i].memory + of->field[SPACE_HIGH].at), block;

		if (pc < low || pc >= high)
			continue;
		block = block_find(of, &heaps[i], low, pc);
		return block && blob_read(of, block + 2u * of->field[BLOCK_LENGTH].bytes, high, pc, told);
	}
	return false;
}

bool java_blobs_is_known(void)
{
	return atomic_load_explicit(&heap_count, memory_order_relaxed) != 0;
}

/* ---- the library ---- */

static bool is_library(const struct event_module *module)
{
	static const char name[] = "libjvm.so";
	size_t bytes = strnlen(module->path, sizeof(module->path));

	return module->language == EVENT_LANGUAGE_NATIVE && !module->is_anonymous && bytes >= sizeof(name) &&
	       !memcmp(module->path + bytes - (sizeof(name) - 1), name, sizeof(name) - 1) &&
	       module->path[bytes - sizeof(name)] == '/';
}

static bool library_open(uint32_t slot)
{
	const struct event_module *module = &process.modules[slot];
	struct python_symbols symbols;
	uint64_t at, fields;

	if (!is_library(module) || !python_symbols_open(&symbols, module->begin, module->end, module->bias))
		return false;
	at = python_symbols_find(&symbols, "gHotSpotVMStructs");
	if (!at || !word_get(at, &fields) || fields < module->begin || fields >= module->end)
		return false;
	java_blobs_open((const struct java_field *)(uintptr_t)fields, module->begin, module->end,
		(const uint64_t *)(uintptr_t)python_symbols_find(
			&symbols, "gHotSpotVMStructEntryArrayStride"));
	return true;
}

bool java_blobs_look(void)
{
	uint32_t count = module_slots_count(), at = atomic_load_explicit(&looked, memory_order_relaxed);
	bool is_found = false;

	if (at == count || process.settings.no_java_blobs ||
		atomic_load_explicit(&published, memory_order_relaxed) || atomic_flag_test_and_set(&looking))
		return false;
	for (; at < count && !is_found && !module_slots_is_written(at); at++)
		is_found = module_slots_is_live(at) && library_open(at);
	atomic_store(&looked, at);
	atomic_flag_clear(&looking);
	return is_found;
}

void java_blobs_init(void)
{
	atomic_store(&published, NULL);
	atomic_store(&looked, 0);
	atomic_store(&heap_count, 0);
	atomic_store(&interpreter_begin, 0);
	atomic_store(&interpreter_bytes, 0);
	atomic_flag_clear(&looking);
	atomic_flag_clear(&reading);
}
