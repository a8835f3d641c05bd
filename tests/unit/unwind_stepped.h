/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_stepped.h - this very process one instruction at a time, and the tables of its modules. */
#ifndef TESTS_UNIT_UNWIND_STEPPED_H
#define TESTS_UNIT_UNWIND_STEPPED_H

#include <link.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/agent/unwind/unwind.h"

#define TRAP_FLAG 0x100

static struct unwinder unwinder;
static struct unwind_frame frames[UNWIND_FRAMES_MAX];
static struct cfi_module modules[64];
static unsigned module_count;

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	(void)context;
	return process_vm_readv(getpid(), &local, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static int module_take(struct dl_phdr_info *info, size_t size, void *context)
{
	struct cfi_module *module = &modules[module_count];
	uint64_t header = 0;

	(void)size;
	(void)context;
	assert_true(module_count < sizeof(modules) / sizeof(modules[0]));
	*module = (struct cfi_module){.begin = UINT64_MAX, .slot = module_count};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			header = begin;
		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
			module->begin = begin;
			module->end = begin + segment->p_memsz;
		}
	}
	for (unsigned i = 0; header && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_filesz;

		if (segment->p_type == PT_LOAD && header >= begin && header < end) {
			module->image = (struct cfi_image){(const uint8_t *)begin, begin, end};
			module_count += !cfi_module_init(module, header);
			break;
		}
	}
	return 0;
}

static const struct cfi_module *module_find(void *context, uint64_t pc)
{
	(void)context;
	for (unsigned i = 0; i < module_count; i++)
		if (pc >= modules[i].begin && pc < modules[i].end)
			return &modules[i];
	return NULL;
}

static void step_by_step(bool on)
{
	if (on)
		__asm__ volatile("pushf; orl %0,(%%rsp); popf" ::"i"(TRAP_FLAG) : "memory", "cc");
	else
		__asm__ volatile("pushf; andl %0,(%%rsp); popf" ::"i"(~TRAP_FLAG) : "memory", "cc");
}

/* `walk` is called behind each instruction while that is on. */
static void stepped_begin(void (*walk)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = {.sa_sigaction = walk, .sa_flags = SA_SIGINFO};

	unwinder.frames = frames;
	unwinder.most = UNWIND_FRAMES_MAX;
	unwinder.space.memory.read = memory_read;
	unwinder.space.module_find = module_find;
	dl_iterate_phdr(module_take, NULL);
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
}

#endif
