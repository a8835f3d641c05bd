/* SPDX-License-Identifier: Apache-2.0 */
/* target_check.c - see target_check.h. */
#include "record/launch/target_check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/process/exec_target.h"
#include "store/ring/ring.h"

#define SCRIPTS_MAX 4 /* nested interpreters, the kernel's limit */

static int refuse(struct error *error, int code, const char *program, const char *why)
{
	error_set(error, ERROR_USAGE, "%s: %s", program, why);
	return code;
}

/* Why an existing file cannot be executed, and what helps. */
static int forbid(struct error *error, const char *program, int number)
{
	return refuse(error, TARGET_NOT_EXECUTABLE, program,
		number == EACCES ? "may not be executed; name its interpreter before it, or chmod +x"
				 : strerror(number));
}

static int executable_check(const char *path, const char *program, struct error *error)
{
	struct stat status;

	if (stat(path, &status))
		return errno == ENOENT || errno == ENOTDIR
			       ? refuse(error, TARGET_NOT_FOUND, program,
					 "no such file; give its path, or correct its name")
			       : forbid(error, program, errno);
	if (S_ISDIR(status.st_mode))
		return refuse(
			error, TARGET_NOT_EXECUTABLE, program, "is a directory; name the program in it");
	return access(path, X_OK) ? forbid(error, program, errno) : 0;
}

/* Searches like execvp, but gives a reason on failure. */
static int path_search(struct target_check *target, const char *program, struct error *error)
{
	const char *path = getenv("PATH");
	bool is_refused = false;

	for (path = path ? path : "/bin:/usr/bin";; path++) {
		size_t length = strcspn(path, ":");
		struct stat status;

		snprintf(target->path, sizeof(target->path), "%.*s%s%s", (int)length, path, length ? "/" : "",
			program);
		if (!stat(target->path, &status) && S_ISREG(status.st_mode)) {
			if (!access(target->path, X_OK))
				return 0;
			is_refused = true;
		}
		path += length;
		if (!*path)
			break;
	}
	if (is_refused)
		return refuse(error, TARGET_NOT_EXECUTABLE, program, "found in PATH, but not executable");
	return refuse(
		error, TARGET_NOT_FOUND, program, "not found in PATH; give its path, or correct its name");
}

struct head {
	unsigned char bytes[4096];
	size_t size;
	int fd;
	bool is_privileged;
};

static bool head_open(struct head *head, const char *path)
{
	struct stat status = {0};
	ssize_t got = -1;

	head->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (head->fd < 0)
		return false;
	if (!fstat(head->fd, &status) && S_ISREG(status.st_mode))
		got = pread(head->fd, head->bytes, sizeof(head->bytes), 0);
	head->size = got > 0 ? (size_t)got : 0;
	head->is_privileged = ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
			      ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
			      (geteuid() && fgetxattr(head->fd, "security.capability", NULL, 0) > 0);
	return true;
}

/* The interpreter that a dynamically linked program names; "" for a static one. Tools that patch binaries
 * may move headers and name to the end of the file, so this reads them at the offsets given. */
static void interpreter_find(const struct head *head, char *name, size_t room)
{
	const Elf64_Ehdr *elf = (const void *)head->bytes;
	ssize_t got = 0;

	for (unsigned i = 0; i < elf->e_phnum && !got; i++) {
		uint64_t at = elf->e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (pread(head->fd, &segment, sizeof(segment), (off_t)at) != sizeof(segment))
			break;
		if (segment.p_type == PT_INTERP)
			got = pread(head->fd, name, segment.p_filesz < room ? segment.p_filesz : room - 1,
				(off_t)segment.p_offset);
	}
	name[got > 0 ? got : 0] = '\0';
}

static bool notes_have_abi(const char *notes, size_t size)
{
	static const char owner[4] = "GNU";
	size_t at = 0;

	while (at + sizeof(Elf64_Nhdr) + sizeof(owner) <= size) {
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_type == NT_GNU_ABI_TAG && note.n_namesz == sizeof(owner) &&
			!memcmp(notes + at + sizeof(note), owner, sizeof(owner)))
			return true;
		at += sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3) +
		      (((size_t)note.n_descsz + 3) & ~(size_t)3);
	}
	return false;
}

/* glibc's start files have a note with the minimum kernel version; musl's and Go's do not. */
static bool is_glibc(const struct head *head)
{
	const Elf64_Ehdr *elf = (const void *)head->bytes;
	char notes[1024];

	for (unsigned i = 0; i < elf->e_phnum; i++) {
		uint64_t at = elf->e_phoff + (uint64_t)i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;
		ssize_t got;

		if (pread(head->fd, &segment, sizeof(segment), (off_t)at) != sizeof(segment))
			return false;
		if (segment.p_type != PT_NOTE)
			continue;
		got = pread(head->fd, notes,
			segment.p_filesz < sizeof(notes) ? segment.p_filesz : sizeof(notes),
			(off_t)segment.p_offset);
		if (got > 0 && notes_have_abi(notes, (size_t)got))
			return true;
	}
	return false;
}

static const char *static_judge(const struct head *head, struct elf_note *note)
{
	if (!elf_note_find(head->fd, note))
		return is_glibc(head)
			       ? "it is statically linked; hpct-link can put an agent inside"
			       : "it is statically linked, and not with glibc, which hpct-link's agent needs";
	if (note->version != EVENT_VERSION)
		return "another version of hpct-link put the agent inside; link it again";
	return NULL;
}

static const char *elf_judge(const struct head *head, struct target_check *target)
{
	const Elf64_Ehdr *elf = (const void *)head->bytes;
	struct exec_target_linked linked;
	char interpreter[256];
	const char *base;

	target->breaks_preload = true;
	if (elf->e_ident[EI_CLASS] == ELFCLASS32)
		return "it is a 32-bit program";
	if (elf->e_machine != ARCH_ELF_MACHINE)
		return "it is for another processor";
	target->is_seen_outside = !head->is_privileged;
	interpreter_find(head, interpreter, sizeof(interpreter));
	base = strrchr(interpreter, '/');
	base = base ? base + 1 : interpreter;
	if (*base && !exec_target_is_loader(interpreter))
		return strncmp(base, "ld-musl", 7) ? "its loader is not glibc's"
						   : "it is linked with musl instead of glibc";
	exec_target_linked(head->fd, "", environ, &linked);
	if (linked.with_tsan)
		return "it runs with the thread sanitizer, which would take the agent for a part of it";
	target->breaks_preload = false;
	if (head->is_privileged)
		return "it gains privileges when it starts (setuid, setgid or capabilities)";
	if (*base || (elf->e_type == ET_DYN && exec_target_is_loader(target->binary)))
		return NULL;
	return static_judge(head, &target->note);
}

static bool script_interpreter(const struct head *head, char *path, size_t room)
{
	const char *text = (const char *)head->bytes + 2, *end = (const char *)head->bytes + head->size;
	size_t length = 0;

	if (head->size < 3 || memcmp(head->bytes, "#!", 2))
		return false;
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (text + length < end && !strchr(" \t\n", text[length]))
		length++;
	snprintf(path, room, "%.*s", (int)length, text);
	return length > 0;
}

/* True: classified. A script is classified as its interpreter. */
static bool head_judge(struct target_check *target, const struct head *head)
{
	if (head->size >= sizeof(Elf64_Ehdr) && !memcmp(head->bytes, ELFMAG, SELFMAG)) {
		target->unmeasurable = elf_judge(head, target);
		return true;
	}
	return !script_interpreter(head, target->binary, sizeof(target->binary));
}

static void judge(struct target_check *target)
{
	static struct head head;
	bool is_known = false;

	snprintf(target->binary, sizeof(target->binary), "%s", target->path);
	for (int i = 0; i <= SCRIPTS_MAX && !is_known && head_open(&head, target->binary); i++) {
		is_known = head_judge(target, &head);
		close(head.fd);
	}
}

int target_check(struct target_check *target, const char *program, struct error *error)
{
	int result;

	memset(target, 0, sizeof(*target));
	if (strchr(program, '/')) {
		snprintf(target->path, sizeof(target->path), "%s", program);
		result = executable_check(target->path, program, error);
	} else {
		result = *program ? path_search(target, program, error)
				  : refuse(error, TARGET_NOT_FOUND, "\"\"", "the program's name is empty");
	}
	if (!result)
		judge(target);
	return result;
}
