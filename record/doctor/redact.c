/* SPDX-License-Identifier: Apache-2.0 */
/* redact.c - see redact.h. */
#include "record/doctor/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/error.h"

/* Directories of the system: what is in them says what is installed, not whose it is. */
static const char *const publics[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/etc/", NULL};
/* Of the kernel: no name of a person or a host is in them. */
static const char *const publics_kernel[] = {"/proc/", "/sys/", "/dev/", NULL};
static const char *const publics_alone[] = {
	"GNU/Linux", "/", "/tmp", "/home", "/run", "/var/tmp", "/dev/shm", "/opt", NULL};

void redact_add(struct redact *redact, const char *from, size_t size, const char *to)
{
	static const char *const common[] = {"", "/", "root", "/root", "localhost", NULL};
	char *copy;

	for (const char *const *name = common; *name; name++)
		if (size == strlen(*name) && !memcmp(from, *name, size))
			return;
	copy = redact->count < REDACT_WORDS ? strndup(from, size) : NULL;
	redact->failed |= !copy;
	if (copy)
		redact->words[redact->count++] = (struct redact_word){copy, to};
}

void redact_fini(struct redact *redact)
{
	while (redact->count)
		free(redact->words[--redact->count].from);
}

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* What may stand in a path of a text; blanks and quotes end it. */
static bool is_path_byte(char byte)
{
	return (unsigned char)byte > ' ' && !strchr(":;,\"'`()<>|=[]{}", byte);
}

static void put(struct store_bytes *out, const char *text)
{
	store_bytes_put(out, text, strlen(text));
}

/* The word that stands at `at`; NULL: none. */
static const struct redact_word *word_at(
	const struct redact *redact, const char *at, const char *end, bool is_directory)
{
	for (unsigned i = 0; i < redact->count; i++) {
		const char *from = redact->words[i].from;
		size_t size = strlen(from);

		if ((from[0] == '/') != is_directory || (size_t)(end - at) < size || memcmp(at, from, size))
			continue;
		if (at + size == end ||
			(is_directory ? !is_path_byte(at[size]) || at[size] == '/' : !is_name_byte(at[size])))
			return &redact->words[i];
	}
	return NULL;
}

/* Text without paths. */
static void plain_put(const struct redact *redact, const char *at, const char *end, struct store_bytes *out)
{
	for (const char *begin = at; at < end;) {
		const struct redact_word *word =
			at == begin || !is_name_byte(at[-1]) ? word_at(redact, at, end, false) : NULL;

		if (word) {
			put(out, word->to);
			at += strlen(word->from);
		} else {
			store_bytes_put(out, at++, 1);
		}
	}
}

static bool begins_with(const char *at, const char *end, const char *const *names)
{
	size_t size = (size_t)(end - at);

	while (*names && (size < strlen(*names) || memcmp(at, *names, strlen(*names))))
		names++;
	return *names;
}

static bool is_public(const char *at, const char *end)
{
	static const char *const shared[] = {"/dev/shm/", NULL};
	size_t size = (size_t)(end - at);

	for (const char *const *name = publics_alone; *name; name++)
		if (size == strlen(*name) && !memcmp(at, *name, size))
			return true;
	return !begins_with(at, end, shared) &&
	       (begins_with(at, end, publics) || begins_with(at, end, publics_kernel));
}

/* Of a path with a slash: its last name, behind "..." if there is more before it. The one name below /home is
 * a user's. */
static void path_put(const struct redact *redact, const char *at, const char *end, struct store_bytes *out)
{
	const char *last;

	if (is_public(at, end)) {
		if (begins_with(at, end, publics_kernel))
			store_bytes_put(out, at, (size_t)(end - at));
		else
			plain_put(redact, at, end, out);
		return;
	}
	while (end > at + 1 && end[-1] == '/')
		end--;
	last = memrchr(at, '/', (size_t)(end - at));
	put(out, "...");
	if (last && !(last == at + 5 && !memcmp(at, "/home", 5)))
		plain_put(redact, last, end, out);
}

/* "1/10" is a fraction. */
static bool is_number(const char *at, const char *end)
{
	while (at < end && (isdigit((unsigned char)*at) || *at == '/' || *at == '.'))
		at++;
	return at == end;
}

/* A word that begins at `at`. Returns its end. */
static const char *token_put(
	const struct redact *redact, const char *at, const char *end, struct store_bytes *out)
{
	const struct redact_word *word = word_at(redact, at, end, true);
	const char *stop = at;

	if (word) {
		put(out, word->to);
		at += strlen(word->from);
		for (stop = at; stop < end && is_path_byte(*stop);)
			stop++;
		if (stop > at && memrchr(at, '/', (size_t)(stop - at)) == at)
			plain_put(redact, at, stop, out);
		else if (stop > at)
			put(out, "/"), path_put(redact, at, stop, out);
		return stop;
	}
	while (stop < end && is_path_byte(*stop))
		stop++;
	if (end - stop > 2 && !memcmp(stop, "://", 3)) { /* a URL */
		store_bytes_put(out, at, (size_t)(stop - at));
		put(out, "://...");
		while (stop < end && !isspace((unsigned char)*stop))
			stop++;
	} else if (memchr(at, '/', (size_t)(stop - at)) && !is_number(at, stop)) {
		path_put(redact, at, stop, out);
	} else {
		plain_put(redact, at, stop, out);
	}
	return stop;
}

int redact_text(const struct redact *redact, const char *text, size_t size, struct store_bytes *out)
{
	const char *at = text, *end = text + size;

	while (at < end)
		if (is_path_byte(*at))
			at = token_put(redact, at, end, out);
		else
			store_bytes_put(out, at++, 1);
	return out->failed || redact->failed ? error_memory(NULL) : 0;
}
