/* SPDX-License-Identifier: Apache-2.0 */
/* safe_read.c - see safe_read.h. */
#include "record/agent/base/safe_read.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define STRING_MOST (128u * 1024u) /* the kernel accepts no longer ones */

/* If process_vm_readv is not permitted, assumes that the memory is readable, as libc does. */
bool safe_read(void *to, const void *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)from, bytes};
	int error = errno;
	long got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1, &remote, 1, 0);
	bool is_refused = got < 0 && errno != EFAULT;

	errno = error;
	if (is_refused)
		memcpy(to, from, bytes);
	return is_refused || got == (long)bytes;
}

/* *page: number of the last page found readable. */
static bool page_is_readable(uintptr_t at, uintptr_t *page)
{
	char byte;

	if (*page != at / PAGE_BYTES && !safe_read(&byte, (const void *)at, 1))
		return false;
	*page = at / PAGE_BYTES;
	return true;
}

static bool string_is_readable(const char *text, uintptr_t *page)
{
	for (uintptr_t at = (uintptr_t)text, end = at + STRING_MOST; at < end;) {
		size_t left = PAGE_BYTES - at % PAGE_BYTES;

		if (!page_is_readable(at, page))
			return false;
		if (memchr((const void *)at, '\0', left))
			return true;
		at += left;
	}
	return true;
}

bool safe_read_string(const char *text)
{
	uintptr_t page = UINTPTR_MAX;

	return !text || string_is_readable(text, &page);
}

bool safe_read_words(char *const *words)
{
	uintptr_t page = UINTPTR_MAX, own_page = UINTPTR_MAX;

	for (; words; words++) {
		char *word;

		if ((uintptr_t)words % sizeof(*words) ? !safe_read(&word, words, sizeof(word))
						      : !page_is_readable((uintptr_t)words, &own_page))
			return false;
		memcpy(&word, words, sizeof(word));
		if (!word)
			return true;
		if (!string_is_readable(word, &page))
			return false;
	}
	return true;
}
