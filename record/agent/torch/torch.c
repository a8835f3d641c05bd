/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.c - finds PyTorch's libraries when its Python module starts, see torch.h. They are opened locally, as
 * Python opens modules: only the loader's list of all libraries has them.
 */
#include "record/agent/torch/torch.h"

#include <link.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/real_caller.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_symbols.h"

#define SET_ENGINE "_ZN5torch8autograd23set_default_engine_stubEPFRNS0_6EngineEvE"
#define ADD "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define PEEK "_ZN2at15sequence_number4peekEv"
#define THREAD "_ZN2at14RecordFunction15currentThreadIdEv"
#define REMOVE "_ZN2at14removeCallbackEm"
#define NAME "_ZNK2at14RecordFunction4nameEv"
/* Its callbacks are plain pointers since it is made of this. */
#define STEP_CALLBACKS "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE"

void hpct_torch_engine(void *make) __asm__(SET_ENGINE);

static int library_look(struct dl_phdr_info *info, size_t bytes, void *to)
{
	struct torch_library *torch = to;
	struct {
		const char *name;
		void *to;
	} wanted[] = {{SET_ENGINE, &torch->set_engine}, {ADD, &torch->add}, {REMOVE, &torch->remove},
		{NAME, &torch->name}, {PEEK, &torch->peek}, {THREAD, &torch->thread}};
	struct python_symbols symbols;
	uint64_t address;

	(void)bytes;
	if (!python_symbols_loaded(&symbols, info))
		return 0;
	address = python_symbols_find(&symbols, SET_ENGINE);
	if (!address || address == (uintptr_t)hpct_torch_engine)
		return 0;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		address = python_symbols_find(&symbols, wanted[i].name);
		memcpy(wanted[i].to, &address, sizeof(address));
	}
	if (!python_symbols_find(&symbols, STEP_CALLBACKS))
		torch->add = NULL;
	return 1;
}

/* void torch::autograd::set_default_engine_stub(Engine &(*)()), called once when the Python module starts. */
WRAPPER void hpct_torch_engine(void *make)
{
	int (*each)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	struct torch_library torch = {.set_engine = NULL};
	static _Atomic bool is_open;

	*(void **)&each = real_symbol("dl_iterate_phdr");
	if (each)
		each(library_look, &torch);
	if (!torch.set_engine) /* it has no table of symbols that we read */
		*(void **)&torch.set_engine =
			real_caller_symbol(SET_ENGINE, __builtin_return_address(0), NULL);
	if (torch.set_engine)
		torch.set_engine(make);
	if (process_is_live() && !is_open) {
		is_open = true;
		if (torch.add && torch.name) {
			torch_ranges_open(&torch);
			torch_backward_open(&torch);
		}
	}
	STAY;
}
