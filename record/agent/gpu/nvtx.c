/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - ranges that a program marks with NVTX become `range` spans of the thread. NVTX is header-only: at
 * its first call it loads the library named by NVTX_INJECTION64_PATH, which is the agent, and asks it to fill
 * in a table of functions (NVTX 3's tool interface). Marks, categories and colours are ignored.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "record/agent/base/wrap.h"
#include "record/agent/gpu/nvtx_name.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/trace.h"

#define DEPTH_MAX 64
#define STARTED_MAX 1024u /* ranges by id, open at once; a power of two */

/* NVTX 3's interface: tables of pointers to its function pointers. */
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

typedef void (**slot)(void);
struct callbacks {
	size_t bytes;
	int (*module_table)(int module, slot **table, unsigned *count);
};
typedef const void *(*export_table)(uint32_t id);

/* An open range, with the path of its begin; node and text are ids of one claim of the ring. */
struct range {
	uint64_t begin_ns;
	uint32_t node, text, claim;
};

/* Ranges open on this thread; those beyond DEPTH_MAX are only counted, as are all of a thread that is not
 * measured. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));
_Static_assert(DEPTH_MAX * sizeof(struct range) <= sizeof(((struct thread *)NULL)->nvtx_open),
	"enlarge THREAD_NVTX_WORDS");

/* In the thread's block: thread-local memory would come off every thread's stack. NULL: only counted. */
static struct range *range_at(unsigned level)
{
	struct thread *t = level < DEPTH_MAX ? thread_self() : NULL;

	return t ? (struct range *)(void *)t->nvtx_open + level : NULL;
}

/* Ranges that begin on one thread and may end on another; keeps the name. */
static struct {
	_Atomic uint64_t id; /* 0: free */
	uint64_t begin_ns;
	struct nvtx_name name;
	char text[NVTX_NAME_BYTES];
} started[STARTED_MAX];
static _Atomic uint64_t started_count;

static void step_note(const struct nvtx_name *name)
{
	const char *text = name->registered ? name->registered->text : name->name;

	start_stop_step_note(name->registered && strncmp(text, "name=", 5) == 0 ? text + 5 : text);
}

static int push(struct nvtx_name name)
{
	struct range *range = range_at(depth);
	struct thread *t = range ? trace_begin() : NULL;

	if (range)
		*range = (struct range){0};
	if (t) {
		step_note(&name);
		*range = (struct range){
			process_now_ns(), trace_callpath(t), nvtx_name_text(t, &name), t->ring.shared->claim};
		trace_end(t);
	}
	return (int)depth++;
}

static int pop(void)
{
	struct range *range;
	struct thread *t;

	if (!depth)
		return -1;
	range = range_at(--depth);
	t = range && range->begin_ns ? trace_begin() : NULL;
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
	return (int)depth;
}

static uint64_t start(struct nvtx_name name)
{
	uint64_t id = atomic_fetch_add(&started_count, 1) + 1, none = 0;
	char *text = started[id % STARTED_MAX].text;

	if (!atomic_compare_exchange_strong(&started[id % STARTED_MAX].id, &none, id))
		return id;
	started[id % STARTED_MAX].begin_ns = process_now_ns();
	step_note(&name);
	if (!name.registered) {
		snprintf(text, NVTX_NAME_BYTES, "%s", name.name);
		name.name = text;
	}
	started[id % STARTED_MAX].name = name;
	return id;
}

/* The span belongs to the thread and path that end the range. */
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

		span.h.node = trace_callpath(t);
		span.attributes = nvtx_name_text(t, &started[id % STARTED_MAX].name);
		trace_span(t, EVENT_SPAN, &span);
		trace_end(t);
	}
	atomic_store(&started[id % STARTED_MAX].id, 0);
}

/* ---- the functions that NVTX calls ---- */

static int push_ascii(const char *name)
{
	return push(nvtx_name_ascii(name));
}

static int push_wide(const wchar_t *name)
{
	char text[NVTX_NAME_BYTES];

	return push(nvtx_name_wide(name, text));
}

static int push_domain(const char *domain, const struct nvtx_attributes *attributes)
{
	char wide[NVTX_NAME_BYTES];

	return push(nvtx_name_of(domain, attributes, wide));
}

static int push_attributes(const struct nvtx_attributes *attributes)
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
	return start(nvtx_name_ascii(name));
}

static uint64_t start_wide(const wchar_t *name)
{
	char text[NVTX_NAME_BYTES];

	return start(nvtx_name_wide(name, text));
}

static uint64_t start_domain(const char *domain, const struct nvtx_attributes *attributes)
{
	char wide[NVTX_NAME_BYTES];

	return start(nvtx_name_of(domain, attributes, wide));
}

static uint64_t start_attributes(const struct nvtx_attributes *attributes)
{
	return start_domain(NULL, attributes);
}

static void end_domain(const char *domain, uint64_t id)
{
	(void)domain;
	end(id);
}

static const struct nvtx_registered *register_ascii(const char *domain, const char *name)
{
	return nvtx_register(domain, nvtx_name_ascii(name).name);
}

static const struct nvtx_registered *register_wide(const char *domain, const wchar_t *name)
{
	char text[NVTX_NAME_BYTES];

	return nvtx_register(domain, nvtx_name_wide(name, text).name);
}

static const char *domain_ascii(const char *name)
{
	return nvtx_domain_keep(nvtx_name_ascii(name).name);
}

static const char *domain_wide(const wchar_t *name)
{
	char text[NVTX_NAME_BYTES];

	return nvtx_domain_keep(nvtx_name_wide(name, text).name);
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
