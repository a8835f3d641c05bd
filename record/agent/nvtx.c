/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - ranges that a program marks with NVTX become `range` spans of the thread.
 * NVTX is header-only: at its first call it loads the library that
 * NVTX_INJECTION64_PATH names, which is the agent, and asks it to fill in a table of
 * functions (NVTX 3's interface for tools). Marks, categories and colours are left.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "record/agent/process.h"
#include "record/agent/trace.h"
#include "record/agent/wrap.h"

#define DEPTH_MAX 64
#define NAME_BYTES 200
#define STRINGS_BYTES (256u * 1024u) /* a block of registered strings and domains' names */
#define STRINGS_BLOCKS 256u	     /* XLA registers a string for each instruction that it compiles */
#define STARTED_MAX 1024u	     /* ranges by id that are open at once, a power of two */

/* What NVTX 3 hands over: tables of pointers to the pointers that its functions call. */
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum {
	RANGE_START_EX = 4,
	RANGE_START_A,
	RANGE_START_W,
	RANGE_END,
	RANGE_PUSH_EX,
	RANGE_PUSH_A,
	RANGE_PUSH_W,
	RANGE_POP
};
enum {
	DOMAIN_START_EX = 2,
	DOMAIN_END,
	DOMAIN_PUSH_EX,
	DOMAIN_POP,
	REGISTER_A = 10,
	REGISTER_W,
	DOMAIN_A,
	DOMAIN_W
};
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };

typedef void (**slot)(void);
struct callbacks {
	size_t bytes;
	int (*module_table)(int module, slot **table, unsigned *count);
};
typedef const void *(*export_table)(uint32_t id);

struct attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const char *registered; /* what register_string returned */
	} message;
};

static_assert(offsetof(struct attributes, message) == 40, "nvtxEventAttributes_t");

/* An open range. The path is that of its begin; node and text are the ring's, of one claim. */
struct range {
	uint64_t begin_ns;
	uint32_t node, text, claim;
};

static __thread struct {
	unsigned depth; /* beyond DEPTH_MAX only counted */
	struct range open[DEPTH_MAX];
} stack __attribute__((tls_model("initial-exec")));

/* Ranges that begin on one thread and may end on another: the name is kept. */
static struct {
	_Atomic uint64_t id; /* 0: free */
	uint64_t begin_ns;
	char name[NAME_BYTES];
} started[STARTED_MAX];
static _Atomic uint64_t started_count;

/* Memory of registered strings, block by block. No lock: a thread may be in here when another forks. */
static struct strings {
	_Atomic size_t used;
	char text[STRINGS_BYTES];
} * _Atomic strings;
static _Atomic unsigned strings_blocks;

/* The next block, which is the one of whoever comes first; NULL: there is no memory for it. */
static struct strings *strings_next(struct strings *full)
{
	struct strings *next;

	if (atomic_fetch_add(&strings_blocks, 1) >= STRINGS_BLOCKS)
		return NULL;
	next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (next == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&strings, &full, next))
		return next;
	munmap(next, sizeof(*next));
	atomic_fetch_sub(&strings_blocks, 1);
	return full;
}

/* Lives for good; "" when there is no room. */
static const char *string_keep(const char *text)
{
	size_t bytes = strnlen(text, NAME_BYTES - 1) + 1, at;
	struct strings *block = atomic_load(&strings);

	for (;; block = strings_next(block)) {
		if (!block && !(block = strings_next(NULL)))
			return "";
		at = atomic_fetch_add(&block->used, bytes);
		if (at + bytes <= sizeof(block->text))
			break;
		atomic_store(&block->used, sizeof(block->text)); /* nor for a shorter one */
	}
	memcpy(block->text + at, text, bytes - 1);
	return block->text + at;
}

static void narrow(char *to, const wchar_t *from)
{
	size_t used = 0;

	for (; from && *from && used + 1 < NAME_BYTES; from++)
		to[used++] = *from < 0x80 ? (char)*from : '?';
	to[used] = '\0';
}

static void message_copy(char *to, const struct attributes *attributes)
{
	*to = '\0';
	if (!attributes || !attributes->message.ascii)
		return;
	if (attributes->message_type == MESSAGE_WIDE)
		narrow(to, attributes->message.wide);
	else if (attributes->message_type == MESSAGE_ASCII || attributes->message_type == MESSAGE_REGISTERED)
		snprintf(to, NAME_BYTES, "%s", attributes->message.ascii);
}

/* "name=...,domain=...", in which `,` `=` and `\` are escaped. Returns the text's id, 0: none. */
static uint32_t range_text(struct thread *t, const char *domain, const char *name)
{
	const char *const parts[] = {"name=", name, domain ? ",domain=" : NULL, domain};
	char text[4 * NAME_BYTES + 32];
	size_t used = 0;

	for (unsigned i = 0; i < 4 && parts[i]; i++)
		for (const char *from = parts[i]; *from; from++) {
			if (i % 2 && strchr(",=\\", *from))
				text[used++] = '\\';
			text[used++] = *from;
		}
	text[used] = '\0';
	return trace_text(t, text);
}

static int push(const char *domain, const char *name)
{
	struct thread *t = stack.depth < DEPTH_MAX ? trace_begin() : NULL;
	struct range *range = &stack.open[stack.depth % DEPTH_MAX];

	if (stack.depth < DEPTH_MAX)
		*range = (struct range){0};
	if (t) {
		*range = (struct range){
			process_now_ns(), trace_path(t), range_text(t, domain, name), t->ring.shared->claim};
		trace_end(t);
	}
	return (int)stack.depth++;
}

static int pop(void)
{
	struct range *range;
	struct thread *t;

	if (!stack.depth)
		return -1;
	stack.depth--;
	range = &stack.open[stack.depth % DEPTH_MAX];
	t = stack.depth < DEPTH_MAX && range->begin_ns ? trace_begin() : NULL;
	if (t) {
		struct event_span span = {.h.node = range->node,
			.begin_ns = range->begin_ns,
			.end_ns = process_now_ns(),
			.operation = STORE_OP_RANGE,
			.attributes = range->text};

		if (range->claim == t->ring.shared->claim)
			trace_span(t, EVENT_SPAN, &span);
		trace_end(t);
	}
	return (int)stack.depth;
}

static uint64_t start(const char *domain, const char *name)
{
	uint64_t id = atomic_fetch_add(&started_count, 1) + 1, none = 0;

	(void)domain;
	if (!atomic_compare_exchange_strong(&started[id % STARTED_MAX].id, &none, id))
		return id;
	started[id % STARTED_MAX].begin_ns = process_now_ns();
	snprintf(started[id % STARTED_MAX].name, NAME_BYTES, "%s", name);
	return id;
}

/* On the thread and the path that end it. */
static void end(uint64_t id)
{
	struct thread *t;

	if (!id || atomic_load(&started[id % STARTED_MAX].id) != id)
		return;
	t = trace_begin();
	if (t) {
		struct event_span span = {.begin_ns = started[id % STARTED_MAX].begin_ns,
			.end_ns = process_now_ns(),
			.operation = STORE_OP_RANGE};

		span.h.node = trace_path(t);
		span.attributes = range_text(t, NULL, started[id % STARTED_MAX].name);
		trace_span(t, EVENT_SPAN, &span);
		trace_end(t);
	}
	atomic_store(&started[id % STARTED_MAX].id, 0);
}

/* ---- the functions as NVTX calls them ---- */

static int push_ascii(const char *name)
{
	return push(NULL, name ? name : "");
}

static int push_wide(const wchar_t *name)
{
	char text[NAME_BYTES];

	narrow(text, name);
	return push(NULL, text);
}

static int push_domain(const char *domain, const struct attributes *attributes)
{
	char text[NAME_BYTES];

	message_copy(text, attributes);
	return push(domain, text);
}

static int push_attributes(const struct attributes *attributes)
{
	return push_domain(NULL, attributes);
}

static int pop_domain(const char *domain)
{
	(void)domain;
	return pop();
}

static uint64_t start_ascii(const char *name)
{
	return start(NULL, name ? name : "");
}

static uint64_t start_wide(const wchar_t *name)
{
	char text[NAME_BYTES];

	narrow(text, name);
	return start(NULL, text);
}

static uint64_t start_domain(const char *domain, const struct attributes *attributes)
{
	char text[NAME_BYTES];

	message_copy(text, attributes);
	return start(domain, text);
}

static uint64_t start_attributes(const struct attributes *attributes)
{
	return start_domain(NULL, attributes);
}

static void end_domain(const char *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static const char *register_ascii(const char *domain, const char *text)
{
	(void)domain;
	return string_keep(text ? text : "");
}

static const char *register_wide(const char *domain, const wchar_t *text)
{
	char name[NAME_BYTES];

	narrow(name, text);
	return register_ascii(domain, name);
}

static const char *domain_ascii(const char *name)
{
	return string_keep(name ? name : "");
}

static const char *domain_wide(const wchar_t *name)
{
	return register_wide(NULL, name);
}

#define FUNCTION(pointer) ((void (*)(void))(pointer))
static const struct {
	int module;
	unsigned index;
	void (*function)(void);
} functions[] = {
	{MODULE_CORE, RANGE_START_EX, FUNCTION(start_attributes)},
	{MODULE_CORE, RANGE_START_A, FUNCTION(start_ascii)},
	{MODULE_CORE, RANGE_START_W, FUNCTION(start_wide)},
	{MODULE_CORE, RANGE_END, FUNCTION(end)},
	{MODULE_CORE, RANGE_PUSH_EX, FUNCTION(push_attributes)},
	{MODULE_CORE, RANGE_PUSH_A, FUNCTION(push_ascii)},
	{MODULE_CORE, RANGE_PUSH_W, FUNCTION(push_wide)},
	{MODULE_CORE, RANGE_POP, FUNCTION(pop)},
	{MODULE_CORE2, DOMAIN_START_EX, FUNCTION(start_domain)},
	{MODULE_CORE2, DOMAIN_END, FUNCTION(end_domain)},
	{MODULE_CORE2, DOMAIN_PUSH_EX, FUNCTION(push_domain)},
	{MODULE_CORE2, DOMAIN_POP, FUNCTION(pop_domain)},
	{MODULE_CORE2, REGISTER_A, FUNCTION(register_ascii)},
	{MODULE_CORE2, REGISTER_W, FUNCTION(register_wide)},
	{MODULE_CORE2, DOMAIN_A, FUNCTION(domain_ascii)},
	{MODULE_CORE2, DOMAIN_W, FUNCTION(domain_wide)},
};

int InitializeInjectionNvtx2(export_table get);
WRAPPER int InitializeInjectionNvtx2(export_table get)
{
	const struct callbacks *callbacks = process_is_live() ? get(TABLE_CALLBACKS) : NULL;

	if (!callbacks || callbacks->bytes < sizeof(*callbacks))
		return 0;
	for (unsigned i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		unsigned count = 0;
		slot *table = NULL;

		if (callbacks->module_table(functions[i].module, &table, &count) &&
			functions[i].index < count && table[functions[i].index])
			*table[functions[i].index] = functions[i].function;
	}
	return 1;
}
