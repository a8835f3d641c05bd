/* SPDX-License-Identifier: Apache-2.0 */
/* preload.c - see preload.h. */
#include "record/agent/process/preload.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/environment.h"

#define SEPARATORS ": " /* those of ld.so */
#define LOADER_CALLS "libdl.so.2"

/* Before glibc 2.34 dlsym is in a library of its own, which a program may be without; the agent finds libc's
 * functions by it. The next program has this one's C library. */
static bool loader_calls_are_apart(void)
{
	const char *version = gnu_get_libc_version();
	const char *minor = strchr(version, '.');

	return version[0] == '2' && minor && atoi(minor + 1) < 34;
}

static bool is_word(const char *word, size_t length, const char *wanted)
{
	return length && length == strlen(wanted) && !memcmp(word, wanted, length);
}

static bool is_known(const char *word, const char *const *known)
{
	size_t length = strcspn(word, SEPARATORS);

	for (; *known; known++)
		if (is_word(word, length, *known))
			return true;
	return false;
}

/* True if the word comes before a known library, with a blank after it. */
static bool is_marked(const char *word, const char *const *known)
{
	size_t length = strcspn(word, SEPARATORS);

	return word[length] == ' ' && is_known(word + length + 1, known);
}

bool preload_list_write(char *to, size_t bytes, const char *name, const char *others, const char *ours,
	const char *const *known)
{
	size_t used = strlen(name) + 1 + strlen(ours), length;

	if (used + (others ? strlen(others) : 0) + 3 > bytes)
		return false;
	strcpy(to, name);
	strcat(to, "=");
	strcat(to, ours);
	for (others = others ? others : ""; *others; others += length) {
		others += strspn(others, SEPARATORS);
		length = strcspn(others, SEPARATORS);
		if (!length || is_known(others, known) || is_marked(others, known))
			continue;
		if (to[used - 1] != '=')
			to[used++] = ':';
		memcpy(to + used, others, length);
		used += length;
	}
	to[used] = '\0';
	return to[used - 1] != '=';
}

/* The names of gcc and clang. */
static bool is_sanitizer(const char *word, size_t length)
{
	static const char *const names[] = {"libasan.so", "libclang_rt.asan"};
	size_t base = length;

	while (base && word[base - 1] != '/')
		base--;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (length - base >= strlen(names[i]) && !memcmp(word + base, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Finds a sanitizer's library among the others, "" if none. */
static void sanitizer_find(char *to, size_t bytes, const char *others, const char *const *known)
{
	size_t length;

	for (*to = '\0'; others && *others; others += length) {
		others += strspn(others, SEPARATORS);
		length = strcspn(others, SEPARATORS);
		if (length < bytes && is_sanitizer(others, length) && !is_marked(others, known)) {
			memcpy(to, others, length);
			to[length] = '\0';
			return;
		}
	}
}

bool preload_write(char *to, size_t bytes, const char *others, const struct preload *ours)
{
	char mpi[ENVIRONMENT_PATH], sanitizer[ENVIRONMENT_PATH],
		list[3 * ENVIRONMENT_PATH + sizeof(LOADER_CALLS) + 1] = "";
	const char *known[] = {ours->agent, mpi, NULL, NULL, NULL};
	bool with_loader_calls = loader_calls_are_apart();

	if (!environment_mpi_path(mpi, sizeof(mpi), ours->agent) || strlen(ours->first) >= sizeof(sanitizer))
		return false;
	sanitizer_find(sanitizer, sizeof(sanitizer), others, known);
	if (ours->is_wanted) {
		if (*sanitizer)
			strcat(strcpy(list, sanitizer), ":");
		else if (*ours->first)
			strcat(strcpy(list, ours->first), " ");
		if (ours->with_mpi && !access(mpi, R_OK))
			strcat(strcat(list, mpi), ":");
		strcat(list, ours->agent);
		if (with_loader_calls)
			strcat(list, ":" LOADER_CALLS);
		if (*sanitizer)
			known[2] = sanitizer; /* it was written already */
	}
	if (with_loader_calls)
		known[*sanitizer && ours->is_wanted ? 3 : 2] = LOADER_CALLS;
	return preload_list_write(to, bytes, "LD_PRELOAD", others, list, known);
}
