/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.h - what PyTorch tells its observers (at::RecordFunction): ranges that the program or PyTorch itself
 * names, of these the steps of optimizers, and which operator a backward function belongs to. PyTorch 1.12
 * and later; found when its Python module sets its engine, which happens once, by a name that the agent
 * interposes. A program that is not recorded from its start (hpct-record -p), or that has PyTorch's libraries
 * linked in, tells nothing.
 */
#ifndef RECORD_AGENT_TORCH_H
#define RECORD_AGENT_TORCH_H

#include <stdbool.h>
#include <stdint.h>

/* at::RecordFunctionCallback as its callers pass it, by value: a copy in memory. Zeros behind it, for one
 * that has more. */
struct torch_callback {
	void *start; /* std::unique_ptr<ObserverContext>(const RecordFunction &): TORCH_START */
	void *end;   /* void(const RecordFunction &, ObserverContext *) */
	double probability;
	unsigned char scopes[40];
};

enum { TORCH_SCOPE_FUNCTION, TORCH_SCOPE_BACKWARD, TORCH_SCOPE_USER = 7 };

/* A callback that returns an object by address, here an empty pointer, made of `begin`, which takes the
 * RecordFunction. */
#if defined(__aarch64__)
#define TORCH_START(name, begin)                                 \
	extern const char name[];                                \
	__asm__(".pushsection .text\n" #name ": str xzr, [x8]\n" \
		"	b " #begin "\n.popsection");
#else
#define TORCH_START(name, begin)                                 \
	static void **name(void **context, const void *function) \
	{                                                        \
		*context = NULL;                                 \
		begin(function);                                 \
		return context;                                  \
	}
#endif

/* What PyTorch's library of operators exports; `peek`, `thread` and `remove` may be NULL. */
struct torch_library {
	void (*set_engine)(void *make);			 /* torch::autograd::set_default_engine_stub() */
	uint64_t (*add)(struct torch_callback callback); /* at::addGlobalCallback() */
	bool (*remove)(uint64_t handle);		 /* at::removeCallback() */
	const char *(*name)(const void *function);	 /* at::RecordFunction::name() const */
	uint64_t (*peek)(void);				 /* at::sequence_number::peek() */
	uint64_t (*thread)(void);			 /* at::RecordFunction::currentThreadId() */
};

/* Registers the observers of ranges. */
void torch_ranges_open(const struct torch_library *torch);
/* Registers, from the first launch on a GPU on, those of operators and of their backward functions. */
void torch_backward_open(const struct torch_library *torch);

/* In a fork child. */
void torch_child(void);

#endif
