/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_target.c - reads the first page of a program before it is executed. musl's loader would load the
 * agent, miss glibc's symbols and exit with 127; 32-bit loaders print an error per program: both start
 * without the agent instead.
 */
#include "record/agent/process/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/elf_note.h"
#include "record/agent/process/environment.h"
#include "store/ring/ring.h"

#define HEAD_BYTES 1024
#define PATH_DEFAULT "/bin:/usr/bin" /* libc's, when PATH is not set */

struct head {
	unsigned char bytes[HEAD_BYTES];
	size_t count;
	bool setuid;
	bool has_agent;
	char interpreter[EXEC_TARGET_INTERPRETER]; /* of an ELF program; "": none */
};

static bool name_copy(char *to, const char *from, size_t length)
{
	if (length >= EXEC_TARGET_INTERPRETER)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

static bool is_elf(const struct head *head)
{
	return head->count >= sizeof(Elf64_Ehdr) && !memcmp(head->bytes, ELFMAG, SELFMAG);
}

static void interpreter_read(int fd, struct head *head)
{
	const Elf64_Ehdr *elf = (const void *)head->bytes;
	Elf64_Phdr segment;

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_phentsize != sizeof(segment))
		return;
	for (unsigned i = 0; i < elf->e_phnum && i < 64; i++) {
		off_t at = (off_t)(elf->e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return;
		if (segment.p_type == PT_INTERP && segment.p_filesz < EXEC_TARGET_INTERPRETER) {
			ssize_t got = pread(fd, head->interpreter, segment.p_filesz, (off_t)segment.p_offset);

			head->interpreter[got > 0 ? got : 0] = '\0';
			return;
		}
	}
}

static bool head_read(int at, const char *path, struct head *head)
{
	int fd = *path ? openat(at, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : dup(at);
	struct statx status;
	ssize_t got = -1;

	if (fd < 0)
		return false;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) && S_ISREG(status.stx_mode))
		got = pread(fd, head->bytes, sizeof(head->bytes), 0);
	head->count = got > 0 ? (size_t)got : 0;
	head->interpreter[0] = '\0';
	head->has_agent = false;
	if (got > 0) {
		head->setuid = (status.stx_mode & S_ISUID) && status.stx_uid != geteuid();
		if (is_elf(head)) {
			struct elf_note note;

			interpreter_read(fd, head);
			head->has_agent = !head->interpreter[0] && elf_note_find(fd, &note) &&
					  note.version == EVENT_VERSION;
		}
	}
	close(fd);
	return got > 0;
}

bool exec_target_interpreter(const unsigned char *bytes, size_t count, char *path)
{
	const char *text = (const char *)bytes + 2;
	const char *end = (const char *)bytes + count;
	size_t length = 0;

	if (count < 3 || memcmp(bytes, "#!", 2))
		return false;
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (text + length < end && !strchr(" \t\n", text[length]))
		length++;
	return length && name_copy(path, text, length);
}

bool exec_target_is_loader(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, "ld-linux", 8) || !strcmp(base, "ld.so");
}

static enum exec_target_kind elf_kind(const struct head *head, const char *path, const char *agent)
{
	const Elf64_Ehdr *elf = (const void *)head->bytes;
	bool is_loader = !head->interpreter[0] && elf->e_type == ET_DYN && exec_target_is_loader(path);

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != ARCH_ELF_MACHINE)
		return EXEC_TARGET_HARMED;
	if (head->has_agent && !head->setuid)
		return EXEC_TARGET_TAKES;
	if ((!head->interpreter[0] && !is_loader) || head->setuid)
		return EXEC_TARGET_IGNORES;
	if (!is_loader && !exec_target_is_loader(head->interpreter))
		return EXEC_TARGET_HARMED;
	return access(agent, R_OK) ? EXEC_TARGET_HARMED : EXEC_TARGET_TAKES;
}

enum exec_target_kind exec_target_kind(int at, const char *path, const char *agent)
{
	enum exec_target_kind kind = EXEC_TARGET_TAKES;
	char script[EXEC_TARGET_INTERPRETER];
	struct head head;
	int error = errno;

	for (unsigned i = 0; path && i <= EXEC_TARGET_SCRIPTS_MAX && head_read(at, path, &head); i++) {
		if (is_elf(&head)) {
			kind = elf_kind(&head, path, agent);
			break;
		}
		if (!exec_target_interpreter(head.bytes, head.count, script))
			break;
		path = script;
		at = AT_FDCWD;
	}
	errno = error;
	return kind;
}

const char *exec_target_search(const char *file, char *place, size_t bytes)
{
	const char *path = environment_value(environ, "PATH");
	size_t name = file ? strlen(file) : 0, length;
	int error = errno;

	if (!name || strchr(file, '/'))
		return file;
	for (path = path ? path : PATH_DEFAULT;; path += length + 1) {
		length = strcspn(path, ":");
		if (length + name + 2 <= bytes) {
			memcpy(place, path, length);
			place[length] = '/';
			memcpy(place + length + !!length, file, name + 1);
			if (!access(place, X_OK))
				break;
		}
		if (!path[length]) {
			place = NULL;
			break;
		}
	}
	errno = error;
	return place;
}
