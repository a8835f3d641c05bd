/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_mpi.c - has a program to do with MPI? A launcher that counts ranks says so,
 * for whatever it starts (Python loads MPI late); else the libraries that the program
 * was linked with. Fit for vfork children, as target.c.
 */
#include "record/agent/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/environment.h"

#define SEGMENTS_MAX 64
#define ENTRIES_MAX 512
#define LIBRARY "libmpi" /* libmpi.so of both, libmpi_mpifh.so, libmpich.so, libmpifort.so */

struct binary {
	int fd;
	Elf64_Phdr segments[SEGMENTS_MAX];
	unsigned count;
};

static bool segments_read(struct binary *binary)
{
	Elf64_Ehdr elf;
	size_t bytes;

	if (pread(binary->fd, &elf, sizeof(elf), 0) != sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
		elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(Elf64_Phdr) ||
		elf.e_phnum > SEGMENTS_MAX)
		return false;
	binary->count = elf.e_phnum;
	bytes = binary->count * sizeof(Elf64_Phdr);
	return pread(binary->fd, binary->segments, bytes, (off_t)elf.e_phoff) == (ssize_t)bytes;
}

static const Elf64_Phdr *dynamic_find(const struct binary *binary)
{
	for (unsigned i = 0; i < binary->count; i++)
		if (binary->segments[i].p_type == PT_DYNAMIC)
			return &binary->segments[i];
	return NULL;
}

/* Where in the file an address lies; negative: nowhere. */
static off_t place_of(const struct binary *binary, uint64_t address)
{
	for (unsigned i = 0; i < binary->count; i++) {
		const Elf64_Phdr *segment = &binary->segments[i];

		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
			return (off_t)(address - segment->p_vaddr + segment->p_offset);
	}
	return -1;
}

static bool is_library(const struct binary *binary, off_t at)
{
	char name[sizeof(LIBRARY) - 1];

	return pread(binary->fd, name, sizeof(name), at) == sizeof(name) &&
	       !memcmp(name, LIBRARY, sizeof(name));
}

static bool needs_library(struct binary *binary)
{
	const Elf64_Phdr *dynamic = segments_read(binary) ? dynamic_find(binary) : NULL;
	Elf64_Dyn entries[ENTRIES_MAX];
	off_t names = -1;
	ssize_t got;
	size_t count;

	if (!dynamic || dynamic->p_filesz > sizeof(entries))
		return false;
	got = pread(binary->fd, entries, dynamic->p_filesz, (off_t)dynamic->p_offset);
	count = got > 0 ? (size_t)got / sizeof(*entries) : 0;
	for (size_t i = 0; i < count; i++)
		if (entries[i].d_tag == DT_STRTAB)
			names = place_of(binary, entries[i].d_un.d_ptr);
	for (size_t i = 0; names >= 0 && i < count; i++)
		if (entries[i].d_tag == DT_NEEDED && is_library(binary, names + (off_t)entries[i].d_un.d_val))
			return true;
	return false;
}

bool target_has_mpi(int at, const char *path, char *const *envp)
{
	struct binary binary;
	int error = errno;
	bool found = environment_rank(envp) >= 0;

	if (!found && path) {
		binary.fd = *path ? openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : dup(at);
		if (binary.fd >= 0) {
			found = needs_library(&binary);
			close(binary.fd);
		}
	}
	errno = error;
	return found;
}
