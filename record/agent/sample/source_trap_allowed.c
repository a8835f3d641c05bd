/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_trap_allowed.c - whether the program may get traps: not if it is written in Go, if a debugger is
 * attached, or if the kernel is too old.
 */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "record/agent/process/debugger.h"
#include "record/agent/sample/source.h"
#include "record/agent/unwind/module_map.h"
#include "store/ring/ring.h"

static bool kernel_is_older(unsigned long major, unsigned long minor)
{
	struct utsname name;
	unsigned long got_major, got_minor = 0;
	char *end;

	if (uname(&name))
		return true;
	got_major = strtoul(name.release, &end, 10);
	if (*end == '.')
		got_minor = strtoul(end + 1, NULL, 10);
	return got_major < major || (got_major == major && got_minor < minor);
}

static bool note_is_go(const ElfW(Nhdr) * note, const char *end)
{
	while ((const char *)(note + 1) <= end) {
		const char *name = (const char *)(note + 1);
		size_t bytes = sizeof(*note) + ((note->n_namesz + 3u) & ~3u) + ((note->n_descsz + 3u) & ~3u);

		if (note->n_namesz == 4 && end - name >= 4 && !memcmp(name, "Go\0", 4))
			return true;
		if (bytes > (size_t)(end - (const char *)note))
			break;
		note = (const ElfW(Nhdr) *)(const void *)((const char *)note + bytes);
	}
	return false;
}

/* Go's runtime handles all signals by its own system calls, and dies of an unexpected SIGTRAP. */
bool source_program_is_go(void)
{
	uint64_t bias;
	size_t count;
	const ElfW(Phdr) *segment = module_map_program(&count, &bias);

	for (size_t i = 0; segment && i < count; i++) {
		const char *begin = (const char *)(uintptr_t)(bias + segment[i].p_vaddr);

		if (segment[i].p_type == PT_NOTE &&
			note_is_go((const void *)begin, begin + segment[i].p_memsz))
			return true;
	}
	return false;
}

int source_trap_refusal(void)
{
	if (source_program_is_go())
		return EVENT_SAMPLER_GO;
	if (debugger_is_there()) /* it would stop at every sample */
		return EVENT_SAMPLER_TRACED;
	/* On older kernels a SIGTRAP that a thread has blocked would kill the program. */
	return kernel_is_older(5, 18) ? EVENT_SAMPLER_OLD_KERNEL : 0;
}
