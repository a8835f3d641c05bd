/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_start.c - the start of a program up to its main, and the frame at which main's stacks end. In a static
 * program (agent_kind.h) the wrapper runs before everything else, even before the relocations that libc's
 * string functions need, so it calls no libc function.
 */
#include <stdlib.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/gpu.h"
#include "record/agent/process/agent_kind.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/papi.h"
#include "record/agent/sample/thread.h"

static int (*program_main)(int, char **, char **);

/* A call of it, as far as the compiler knows, may return. */
static void (*volatile end)(int) = exit;

/* A vfork child that returns from main, after an exec that has failed, calls exit in its parent's frame: the
 * parent then returns from main to behind that call. What it finds there in libc is another exit, of 0: here,
 * too. */
FENCE static int run_main(int argc, char **argv, char **envp)
{
	int result = program_main(argc, argv, envp);

	for (;; result = 0)
		end(result);
	return result;
}

#ifndef HPCT_STATIC

bool agent_kind_is_wanted(char ***argv, char ***envp)
{
	(void)argv;
	(void)envp;
	return true;
}

OWN static void libraries_load(void)
{
	gpu_open();
	papi_load();
	thread_unwinder_load();
	STAY;
}

/* No call of the program, like agent.c's load. */
FENCE static void before_main(void)
{
	libraries_load();
	STAY;
}

WRAPPER int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	program_main = main;
	if (process_is_live())
		before_main();
	return REAL(__libc_start_main)(
		process_is_live() ? run_main : main, argc, argv, init, fini, rtld_fini, stack_end);
}

#else

#include <sys/auxv.h>

#include "record/agent/base/elf_note.h"

/* hpct-record searches for this note in static programs. */
__attribute__((used, aligned(4), section(".note.hpct"))) static const struct elf_note_record note = {
	.name_bytes = sizeof(ELF_NOTE_NAME),
	.data_bytes = sizeof(struct elf_note),
	.type = ELF_NOTE_TYPE,
	.name = ELF_NOTE_NAME,
	.note = {.version = EVENT_VERSION, .flags = HPCT_STATIC}};

int __real___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
WRAPPER int __wrap___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static char **first_argv;
static int first_argc;

/* Not every libc passes these to constructors. If a loader has run, the program is not static, and the
 * preloaded library measures it. */
bool agent_kind_is_wanted(char ***argv, char ***envp)
{
	if (!first_argv || getauxval(AT_BASE))
		return false;
	*argv = first_argv;
	*envp = first_argv + first_argc + 1;
	return true;
}

WRAPPER int __wrap___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	program_main = main;
	first_argv = argv;
	first_argc = argc;
	return __real___libc_start_main(run_main, argc, argv, init, fini, rtld_fini, stack_end);
}

#endif
