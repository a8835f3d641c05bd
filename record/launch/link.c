/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - see link.h. `--wrap NAME` redirects every call of NAME, libc's own included, to the agent's
 * `__wrap_NAME`. `--eh-frame-hdr` adds the search table for unwinding to static programs.
 */
#include "record/launch/link.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/base/agent_names.h"

#define COMMA "-Wl,"

static const char *const names[] = {
#define NAME(name) #name,
	AGENT_WRAPS(NAME)
#undef NAME
};
static const char *const memory_names[] = {
#define NAME(name) #name,
	AGENT_MEMORY_WRAPS(NAME)
#undef NAME
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

bool link_is_linker(const char *program)
{
	const char *base = strrchr(program, '/');
	size_t length;

	base = base ? base + 1 : program;
	length = strcspn(base, ".");
	return length >= 2 && !strncmp(base + length - 2, "ld", 2) &&
	       (length == 2 || base[length - 3] == '-');
}

/* Words under construction: pointers first, then their text, in one block. */
struct words {
	char **word;
	size_t count;
	char *text;
	const char *prefix; /* passes an option on to the linker: "-Wl," */
};

static void word_add(struct words *to, const char *format, const char *name)
{
	to->word[to->count++] = to->text;
	to->text += sprintf(to->text, "%s", to->prefix);
	to->text += sprintf(to->text, format, name) + 1;
}

static void names_add(struct words *to, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		word_add(to, "--wrap=%s", list[i]);
}

/* A path may contain commas, at which compilers would split it. */
static void path_add(struct words *to, const char *path)
{
	const char *prefix = to->prefix;

	if (*prefix) {
		to->word[to->count++] = (char *)"-Xlinker";
		to->prefix = "";
	}
	word_add(to, "%s", path);
	to->prefix = prefix;
}

static void agent_add(struct words *to, const char *archive, bool memleak)
{
	names_add(to, names, COUNT(names));
	if (memleak)
		names_add(to, memory_names, COUNT(memory_names));
	word_add(to, "%s", "--undefined=__wrap___libc_start_main");
	word_add(to, "%s", "--eh-frame-hdr");
	path_add(to, archive);
}

static size_t words_count(char *const *command)
{
	size_t count = 0;

	while (command[count])
		count++;
	return count;
}

static int archive_find(char *path, size_t room, const char *agent, bool memleak, struct error *error)
{
	snprintf(path, room, "%.*s/libhpct-agent%s.a", (int)(strrchr(agent, '/') - agent), agent,
		memleak ? "-memleak" : "");
	if (!access(path, R_OK))
		return 0;
	return error_set(
		error, ERROR_IO, "%s: %s; install hpct again, or correct --agent", path, strerror(errno));
}

char **link_command(
	char *const *command, const char *agent, bool memleak, bool is_linker, struct error *error)
{
	const size_t options = COUNT(names) + COUNT(memory_names) + 8;
	size_t count = words_count(command), first = is_linker && count ? 1 : count;
	struct words words = {.prefix = is_linker ? "" : COMMA};
	char archive[PATH_MAX + 64];

	if (archive_find(archive, sizeof(archive), agent, memleak, error))
		return NULL;
	words.word = malloc((count + options + 1) * sizeof(*words.word) + options * 80 + sizeof(archive));
	if (!words.word) {
		error_set(error, ERROR_IO, "no memory");
		return NULL;
	}
	words.text = (char *)(words.word + count + options + 1);
	/* Compilers put libc last, but linkers keep the given order: the agent must come before libc. */
	memcpy(words.word, command, first * sizeof(*command));
	words.count = first;
	agent_add(&words, archive, memleak);
	memcpy(words.word + words.count, command + first, (count - first + 1) * sizeof(*command));
	return words.word;
}

const char *link_output(char *const *command)
{
	const char *output = "a.out";

	for (; *command; command++) {
		if (!strcmp(*command, "-o") && command[1])
			output = command[1];
		else if (!strncmp(*command, "-o", 2) && (*command)[2])
			output = *command + 2;
		else if (!strncmp(*command, "--output=", 9))
			output = *command + 9;
	}
	return output;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *elf)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; i < elf->e_phnum; i++)
		if (pread(fd, &segment, sizeof(segment), (off_t)(elf->e_phoff + i * sizeof(segment))) ==
				sizeof(segment) &&
			segment.p_type == PT_INTERP)
			return true;
	return false;
}

enum link_outcome link_look(int fd, struct elf_note *note)
{
	Elf64_Ehdr elf;

	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
		(elf.e_type != ET_EXEC && elf.e_type != ET_DYN) || !elf.e_entry)
		return LINK_NO_PROGRAM;
	if (has_interpreter(fd, &elf))
		return LINK_DYNAMIC;
	return elf_note_find(fd, note) ? LINK_WITH_AGENT : LINK_WITHOUT_AGENT;
}
