/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.c - see vdso.h. The kernel maps the vDSO, a small library, into each program; its addresses need
 * relocation.
 */
#include "record/agent/base/vdso.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/hot_section.h"

#define SYMBOLS_MAX 256

struct library {
	const char *base; /* added to its addresses */
	const Elf64_Sym *symbols;
	const char *names;
	size_t name_bytes;
};

static HOT_DATA struct timespec shift; /* CLOCK_MONOTONIC of our time namespace minus the host's */

static HOT_DATA int (*clock_of_kernel)(clockid_t clock, struct timespec *now);

static void dynamic_read(const Elf64_Dyn *entry, struct library *library)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *place = library->base + entry->d_un.d_ptr;

		if (entry->d_tag == DT_SYMTAB)
			library->symbols = place;
		else if (entry->d_tag == DT_STRTAB)
			library->names = place;
		else if (entry->d_tag == DT_STRSZ)
			library->name_bytes = entry->d_un.d_val;
	}
}

static void library_read(const char *image, struct library *library)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Phdr *segment = (const void *)(image + header->e_phoff);
	const Elf64_Dyn *dynamic = NULL;

	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && !library->base)
			library->base = image + segment->p_offset - segment->p_vaddr;
		else if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)(image + segment->p_offset);
	}
	if (library->base && dynamic)
		dynamic_read(dynamic, library);
}

/* With a GNU hash only, the number of symbols is not stored; their names follow them. */
static const void *symbol_find(const struct library *library, const char *name)
{
	const Elf64_Sym *symbol = library->symbols;
	const char *end = library->names;

	for (unsigned i = 0; i < SYMBOLS_MAX && (const char *)(symbol + 1) <= end; i++, symbol++)
		if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < library->name_bytes &&
			!strcmp(library->names + symbol->st_name, name))
			return library->base + symbol->st_value;
	return NULL;
}

static int64_t number_read(const char **text)
{
	bool is_negative;
	int64_t value = 0;

	*text += strspn(*text, " ");
	is_negative = **text == '-';
	for (*text += is_negative; **text >= '0' && **text <= '9'; ++*text)
		value = 10 * value + (**text - '0');
	return is_negative ? -value : value;
}

void vdso_look(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	char text[128];
	const char *at;
	ssize_t got;

	shift = (struct timespec){0, 0};
	if (fd < 0)
		return;
	got = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[got > 0 ? got : 0] = '\0';
	at = strstr(text, "monotonic");
	if (!at)
		return;
	at += strlen("monotonic");
	shift.tv_sec = number_read(&at);
	shift.tv_nsec = number_read(&at);
}

/* /proc/self/timens_offsets describes the namespace of future children. An exec enters that, too, but not
 * on older kernels, where `unshare -T PROGRAM` leaves PROGRAM in the old one. */
static bool is_of_children(void)
{
	char ours[64] = "", theirs[64] = "";

	syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/time", ours, sizeof(ours) - 1);
	syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/ns/time_for_children", theirs, sizeof(theirs) - 1);
	return strcmp(ours, theirs) != 0;
}

static int clock_by_call(clockid_t clock, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, clock, now);
}

void vdso_leave(void)
{
	clock_of_kernel = clock_by_call;
}

bool vdso_may_read_counter(void)
{
	return clock_of_kernel != clock_by_call;
}

void vdso_init(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	int counter = 0;
	struct library library = {0};
	const void *found = NULL;

	if (image && !memcmp(image, ELFMAG, SELFMAG))
		library_read(image, &library);
	if (library.symbols && library.names)
		found = symbol_find(&library, ARCH_VDSO_CLOCK);
	memcpy(&clock_of_kernel, &found, sizeof(found));
	if (!syscall(SYS_prctl, PR_GET_TSC, &counter, 0, 0, 0) && counter == PR_TSC_SIGSEGV)
		vdso_leave();
	vdso_look();
	if ((shift.tv_sec || shift.tv_nsec) && is_of_children())
		shift = (struct timespec){0, 0};
}

HOT int vdso_clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = clock_of_kernel ? clock_of_kernel(clock, now) : clock_gettime(clock, now);

	if (clock != CLOCK_MONOTONIC)
		return result;
	now->tv_sec -= shift.tv_sec;
	now->tv_nsec -= shift.tv_nsec;
	if (now->tv_nsec < 0) {
		now->tv_nsec += 1000000000;
		now->tv_sec--;
	}
	return result;
}
