/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.c - finds PyTorch's libraries when its Python module starts, see torch.h. They are opened locally, as
 * Python opens modules: only the loader's list of all libraries has them.
 */
#include "record/agent/torch/torch.h"

#include <link.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"

#define SET_ENGINE "_ZN5torch8autograd23set_default_engine_stubEPFRNS0_6EngineEvE"
#define ADD "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define PEEK "_ZN2at15sequence_number4peekEv"
#define NAME "_ZNK2at14RecordFunction4nameEv"
/* Its callbacks are plain pointers since it is made of this. */
#define STEP_CALLBACKS "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE"

void hpct_torch_engine(void *make) __asm__(SET_ENGINE);

/* The library of PyTorch's operators. */
struct library {
	void (*set_engine)(void *make); /* NULL: not found */
	uint64_t add, name, peek, step_callbacks;
};

static int library_look(struct dl_phdr_info *info, size_t bytes, void *to)
{
	struct library *library = to;
	struct python_symbols symbols;
	uint64_t address;

	(void)bytes;
	if (!python_symbols_loaded(&symbols, info))
		return 0;
	address = python_symbols_find(&symbols, SET_ENGINE);
	if (!address || address == (uintptr_t)hpct_torch_engine)
		return 0;
	memcpy(&library->set_engine, &address, sizeof(address));
	library->add = python_symbols_find(&symbols, ADD);
	library->peek = python_symbols_find(&symbols, PEEK);
	library->name = python_symbols_find(&symbols, NAME);
	library->step_callbacks = python_symbols_find(&symbols, STEP_CALLBACKS);
	return 1;
}

static void observe(const struct library *library)
{
	uint64_t (*add)(struct torch_callback callback);
	const char *(*name)(const void *function);
	uint64_t (*peek)(void);

	memcpy(&add, &library->add, sizeof(add));
	memcpy(&name, &library->name, sizeof(name));
	memcpy(&peek, &library->peek, sizeof(peek));
	if (!add || !library->step_callbacks)
		return;
	if (name)
		torch_ranges_open(add, name);
	if (peek)
		torch_backward_open(add, peek);
}

/* void torch::autograd::set_default_engine_stub(Engine &(*)()), called once when the Python module starts. */
WRAPPER void hpct_torch_engine(void *make)
{
	int (*each)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	struct library library = {.set_engine = NULL};
	static _Atomic bool is_open;

	*(void **)&each = real_symbol("dl_iterate_phdr");
	if (each)
		each(library_look, &library);
	if (library.set_engine)
		library.set_engine(make);
	if (library.set_engine && process_is_live() && !is_open) {
		is_open = true;
		observe(&library);
	}
	STAY;
}
