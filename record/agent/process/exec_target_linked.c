/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_target_linked.c - finds out whether a program uses MPI or a sanitizer, by the libraries it was linked
 * with; for MPI also by the environment of a launcher that sets ranks (Python loads MPI late). clang links
 * the thread sanitizer into the program, where a symbol shows it; for a Python module it is preloaded. Safe
 * in vfork children, like exec_target.c.
 */
#include "record/agent/process/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/environment.h"

#define SEGMENTS_MAX 24
#define SEGMENTS_AT_ONCE 8
#define ENTRIES_MAX 512
#define ENTRIES_AT_ONCE 32 /* threads' stacks may be small */
#define TSAN_NAME "__tsan_init"

/* The needed fields of a segment, since threads' stacks may be small. */
struct segment {
	uint32_t type;
	uint64_t address, at, bytes;
};

struct binary {
	int fd;
	struct segment segments[SEGMENTS_MAX];
	unsigned count;
};

/* Reads the loaded segments and the dynamic section. */
static bool segments_read(struct binary *binary)
{
	Elf64_Phdr block[SEGMENTS_AT_ONCE];
	unsigned left;
	Elf64_Ehdr elf;
	off_t at;

	if (pread(binary->fd, &elf, sizeof(elf), 0) != sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
		elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	at = (off_t)elf.e_phoff;
	binary->count = 0;
	for (left = elf.e_phnum; left;) {
		unsigned now = left < SEGMENTS_AT_ONCE ? left : SEGMENTS_AT_ONCE;
		ssize_t bytes = (ssize_t)(now * sizeof(*block));

		if (pread(binary->fd, block, (size_t)bytes, at) != bytes)
			return false;
		for (unsigned i = 0; i < now && binary->count < SEGMENTS_MAX; i++)
			if (block[i].p_type == PT_LOAD || block[i].p_type == PT_DYNAMIC)
				binary->segments[binary->count++] = (struct segment){block[i].p_type,
					block[i].p_vaddr, block[i].p_offset, block[i].p_filesz};
		at += bytes;
		left -= now;
	}
	return true;
}

/* The entries of the dynamic section, read in blocks. */
struct entries {
	int fd;
	uint64_t at;	     /* offset in the file */
	size_t count, first; /* of all entries; of those in `block` */
	ssize_t held;	     /* valid bytes of `block` */
	Elf64_Dyn block[ENTRIES_AT_ONCE];
};

static bool entries_find(const struct binary *binary, struct entries *entries)
{
	*entries = (struct entries){.fd = binary->fd};
	for (unsigned i = 0; i < binary->count; i++)
		if (binary->segments[i].type == PT_DYNAMIC) {
			entries->at = binary->segments[i].at;
			entries->count = binary->segments[i].bytes / sizeof(Elf64_Dyn);
			return entries->count <= ENTRIES_MAX;
		}
	return false;
}

/* NULL: no more. */
static const Elf64_Dyn *entry_at(struct entries *entries, size_t i)
{
	if (i >= entries->count)
		return NULL;
	if (i < entries->first || i >= entries->first + (size_t)entries->held / sizeof(Elf64_Dyn)) {
		entries->first = i;
		entries->held = pread(entries->fd, entries->block, sizeof(entries->block),
			(off_t)(entries->at + i * sizeof(Elf64_Dyn)));
		if (entries->held < (ssize_t)sizeof(Elf64_Dyn)) {
			entries->held = 0;
			return NULL;
		}
	}
	return &entries->block[i - entries->first];
}

/* File offset of an address; negative: none. */
static off_t place_of(const struct binary *binary, uint64_t address)
{
	for (unsigned i = 0; i < binary->count; i++) {
		const struct segment *segment = &binary->segments[i];

		if (segment->type == PT_LOAD && address - segment->address < segment->bytes)
			return (off_t)(address - segment->address + segment->at);
	}
	return -1;
}

/* Reads the name of a library, truncated to `bytes`. */
static void name_read(const struct binary *binary, off_t at, char *name, size_t bytes)
{
	ssize_t got = pread(binary->fd, name, bytes - 1, at);

	name[got > 0 ? got : 0] = '\0';
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_tsan(const char *name)
{
	return begins(name, "libtsan.so") || begins(name, "libclang_rt.tsan");
}

static bool is_tsan_preloaded(char *const *envp)
{
	const char *name = environment_value(envp, "LD_PRELOAD");

	for (const char *at = name; at && *at; at++) {
		if (*at == '/' || *at == ':' || *at == ' ')
			name = at + 1;
		else if (at == name && is_tsan(name))
			return true;
	}
	return false;
}

static void library_judge(struct exec_target_linked *linked, const char *name)
{
	if (begins(name, "libmpi")) /* libmpi.so of both, libmpi_mpifh.so, libmpich.so, libmpifort.so */
		linked->with_mpi = true;
	if (is_tsan(name))
		linked->with_tsan = true;
	if ((begins(name, "libasan.so") || begins(name, "libclang_rt.asan")) &&
		strlen(name) < sizeof(linked->asan))
		strcpy(linked->asan, name);
}

/* Checks two words of its hash table for TSAN_NAME, so that the symbols of nearly all programs need not be
 * read. */
static bool may_have_tsan(const struct binary *binary, off_t table)
{
	struct {
		uint32_t buckets, first, words, shift;
	} header;
	uint32_t hash = 5381;
	uint64_t word, bits;

	for (const char *c = TSAN_NAME; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (table < 0 || pread(binary->fd, &header, sizeof(header), table) != sizeof(header) ||
		!header.words || header.shift > 31 ||
		pread(binary->fd, &word, sizeof(word),
			table + (off_t)sizeof(header) + 8 * (off_t)(hash / 64 % header.words)) !=
			sizeof(word))
		return false;
	bits = UINT64_C(1) << hash % 64 | UINT64_C(1) << (hash >> header.shift) % 64;
	return (word & bits) == bits;
}

/* True if [at, at + bytes) of the file contains TSAN_NAME. */
static bool has_tsan(const struct binary *binary, off_t at, size_t bytes)
{
	char text[512];
	size_t wanted = sizeof(TSAN_NAME), kept = 0, now;

	while (bytes) {
		now = bytes < sizeof(text) - kept ? bytes : sizeof(text) - kept;
		if (pread(binary->fd, text + kept, now, at) != (ssize_t)now)
			return false;
		if (memmem(text, kept + now, TSAN_NAME, wanted))
			return true;
		at += (off_t)now;
		bytes -= now;
		now += kept;
		kept = now < wanted ? now : wanted - 1;
		memmove(text, text + now - kept, kept);
	}
	return false;
}

static void libraries_judge(struct binary *binary, struct exec_target_linked *linked)
{
	char name[sizeof(linked->asan) + 1];
	struct entries entries;
	const Elf64_Dyn *entry;
	off_t names = -1, table = -1;
	size_t bytes = 0;

	if (!segments_read(binary) || !entries_find(binary, &entries))
		return;
	for (size_t i = 0; (entry = entry_at(&entries, i)); i++) {
		if (entry->d_tag == DT_STRTAB)
			names = place_of(binary, entry->d_un.d_ptr);
		if (entry->d_tag == DT_GNU_HASH)
			table = place_of(binary, entry->d_un.d_ptr);
		if (entry->d_tag == DT_STRSZ)
			bytes = entry->d_un.d_val;
	}
	for (size_t i = 0; names >= 0 && (entry = entry_at(&entries, i)); i++)
		if (entry->d_tag == DT_NEEDED) {
			name_read(binary, names + (off_t)entry->d_un.d_val, name, sizeof(name));
			library_judge(linked, name);
		}
	if (names >= 0 && !linked->with_tsan && may_have_tsan(binary, table))
		linked->with_tsan = has_tsan(binary, names, bytes);
}

/* True: it is a script, and its interpreter, which must be checked, is written to `script`. */
static bool program_judge(int at, const char *path, struct exec_target_linked *linked, char *script)
{
	struct binary binary;
	unsigned char head[EXEC_TARGET_INTERPRETER];
	bool is_script;
	ssize_t got;

	binary.fd = *path ? openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : dup(at);
	if (binary.fd < 0)
		return false;
	got = pread(binary.fd, head, sizeof(head), 0);
	is_script = got > 0 && exec_target_interpreter(head, (size_t)got, script);
	if (!is_script)
		libraries_judge(&binary, linked);
	close(binary.fd);
	return is_script;
}

void exec_target_linked(int at, const char *path, char *const *envp, struct exec_target_linked *linked)
{
	char script[EXEC_TARGET_INTERPRETER];
	int error = errno;

	*linked = (struct exec_target_linked){.with_mpi = path && environment_may_have_mpi(envp),
		.with_tsan = path && is_tsan_preloaded(envp)};
	for (unsigned i = 0; path && i <= EXEC_TARGET_SCRIPTS_MAX && program_judge(at, path, linked, script);
		i++) {
		path = script;
		at = AT_FDCWD;
	}
	errno = error;
}
