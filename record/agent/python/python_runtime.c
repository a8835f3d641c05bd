/* SPDX-License-Identifier: Apache-2.0 */
/* python_runtime.c - see python_runtime.h. */
#include "record/agent/python/python_runtime.h"

#include <stddef.h>
#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/module_slots.h"
#include "record/agent/unwind/unwind.h"

static HOT_DATA _Atomic(const struct python_runtime *) published;
static HOT_DATA _Atomic uint32_t looked;       /* modules so far */
static atomic_flag looking = ATOMIC_FLAG_INIT; /* never waited for */
static struct python_runtime runtime;
_Atomic uint32_t python_beside[PYTHON_BESIDE_COUNT];

/* Names that came with a version of the API, newest first. */
static unsigned minor_by_api(const struct python_symbols *of)
{
	static const struct {
		const char *name;
		unsigned minor;
	} since[] = {{"Py_NewRef", 10}, {"PyFrame_GetCode", 9}, {"PyCode_NewWithPosOnlyArgs", 8}};

	for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++)
		if (python_symbols_find(of, since[i].name))
			return since[i].minor;
	return 0;
}

/* Py_Version, a variable since 3.11, is 0x03MMuuRS. 0: another major version. */
static unsigned minor_of(const struct python_symbols *of)
{
	const unsigned long *version = (const void *)(uintptr_t)python_symbols_find(of, "Py_Version");

	if (!version)
		return minor_by_api(of);
	return *version >> 24 == 3 ? *version >> 16 & 0xff : 0;
}

/* Debug builds have other layouts; the ones without a GIL lay out every object differently. */
static bool is_plain(const struct python_symbols *of, unsigned minor, uint64_t base)
{
	const char *cookie = (const void *)(uintptr_t)base;
	uint64_t is_free_threaded;

	if (python_symbols_find(of, "_Py_NegativeRefcount"))
		return false;
	if (minor < 13 || memcmp(cookie, "xdebugpy", 8) != 0)
		return minor < 13;
	memcpy(&is_free_threaded, cookie + 16, sizeof(is_free_threaded));
	return !is_free_threaded;
}

static uint64_t find_either(const struct python_symbols *of, const char *name, const char *before)
{
	uint64_t found = python_symbols_find(of, name);

	return found ? found : python_symbols_find(of, before);
}

static bool runtime_fill(struct python_runtime *fresh, const struct python_symbols *of)
{
	uint64_t get = python_symbols_find(of, "PyGILState_GetThisThreadState"),
		 ends = find_either(of, "Py_IsFinalizing", "_Py_IsFinalizing");

	fresh->code_type = python_symbols_find(of, "PyCode_Type");
	fresh->string_type = python_symbols_find(of, "PyUnicode_Type");
	fresh->bytes_type = python_symbols_find(of, "PyBytes_Type");
	fresh->evaluate = python_symbols_find(of, "_PyEval_EvalFrameDefault");
	memcpy(&fresh->state_get, &get, sizeof(get));
	memcpy(&fresh->is_finalizing, &ends, sizeof(ends));
	return get && ends && fresh->code_type && fresh->string_type && fresh->bytes_type && fresh->evaluate;
}

/* The executable, if its name says that it only starts the interpreter. */
static bool is_starter(const struct event_module *module)
{
	const char *path = process.shared->executable, *slash = strrchr(path, '/');

	return !module->path[0] && !strncmp(slash ? slash + 1 : path, "python", strlen("python"));
}

static bool is_loader(const struct event_module *module)
{
	uint64_t begin, end;

	return !module_map_loader_range(&begin, &end) && module->begin == begin;
}

/* True: its frames are hidden from now on. */
static bool beside_look(uint32_t slot)
{
	const struct event_module *module = &process.modules[slot];
	enum python_beside which = PYTHON_BESIDE_COUNT;
	uint32_t hidden;

	if (module->is_anonymous || module->language != EVENT_LANGUAGE_NATIVE || slot == runtime.slot)
		return false;
	if (is_starter(module))
		which = PYTHON_BESIDE_PROGRAM;
	else if (is_loader(module))
		which = PYTHON_BESIDE_LOADER;
	if (which == PYTHON_BESIDE_COUNT || atomic_load(&python_beside[which]))
		return false;
	hidden = module_slots_twin(slot);
	if (hidden == UNWIND_NO_SLOT)
		return false;
	atomic_store(&python_beside[which], slot << 16 | hidden);
	return true;
}

static void module_look(uint32_t slot)
{
	const struct event_module *module = &process.modules[slot];
	struct python_runtime fresh = {.slot = (uint16_t)slot};
	struct python_symbols symbols;
	uint64_t base;
	uint32_t hidden, python;
	unsigned minor;

	if (module->is_anonymous || module->is_vdso || module->language != EVENT_LANGUAGE_NATIVE ||
		!python_symbols_open(&symbols, module->begin, module->end, module->bias))
		return;
	base = python_symbols_find(&symbols, "_PyRuntime");
	if (!base && python_symbols_find(&symbols, "PyPyUnicode_FromString"))
		atomic_store(&process.shared->python_unknown, EVENT_PYTHON_PYPY);
	if (!base)
		return;
	minor = minor_of(&symbols);
	fresh.layout = python_layout_find(minor);
	if (!fresh.layout || !is_plain(&symbols, minor, base) || !python_layout_agrees(fresh.layout, base) ||
		!python_layout_lists(fresh.layout, base, &fresh.lists) || !runtime_fill(&fresh, &symbols)) {
		atomic_store(&process.shared->python_unknown, minor ? minor : 1);
		return;
	}
	fresh.base = base;
	hidden = module_slots_twin(slot);
	python = module_slots_python();
	if (hidden == UNWIND_NO_SLOT || python == UNWIND_NO_SLOT)
		return;
	fresh.hidden_slot = (uint16_t)hidden;
	fresh.python_slot = (uint16_t)python;
	runtime = fresh;
	for (uint32_t i = 0; i < slot; i++)
		if (module_slots_is_live(i))
			beside_look(i);
	atomic_store_explicit(&published, &runtime, memory_order_release);
}

HOT const struct python_runtime *python_runtime(void)
{
	const struct python_runtime *known = atomic_load_explicit(&published, memory_order_acquire);

	return known && module_slots_is_live(known->slot) ? known : NULL;
}

bool python_runtime_look(void)
{
	uint32_t count = module_slots_count(), at = atomic_load_explicit(&looked, memory_order_relaxed);
	bool was_known = python_runtime() != NULL, is_changed = false;

	if (at == count || atomic_flag_test_and_set(&looking))
		return false;
	for (; at < count; at++) {
		if (module_slots_is_written(at))
			break; /* by another thread: next time */
		if (!module_slots_is_live(at))
			continue;
		if (python_runtime())
			is_changed |= beside_look(at);
		else
			module_look(at);
	}
	atomic_store(&looked, at);
	is_changed |= !was_known && python_runtime();
	atomic_flag_clear(&looking);
	return is_changed;
}

void python_runtime_init(void)
{
	atomic_store(&published, NULL);
	atomic_store(&looked, 0);
	for (unsigned i = 0; i < PYTHON_BESIDE_COUNT; i++)
		atomic_store(&python_beside[i], 0);
	atomic_flag_clear(&looking);
}
