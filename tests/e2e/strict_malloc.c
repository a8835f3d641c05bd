/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strict_malloc.c - preloaded behind the agent: an allocation that is made from a sampling handler ends the
 * program. In a handler its signal is blocked, which the agent lets no program do; the mask is asked of
 * the kernel, past everybody's wrappers. Counts calls, so that a test sees that it was there: STRICT_MALLOC
 * names the file for the count.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AGENT_SIGNAL 61
#define LIBC_SIGNAL 32 /* no handler and no program blocks it */
#define SIGNAL_BIT(number) (UINT64_C(1) << ((number)-1))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *memory);

static _Atomic unsigned long calls;

static void check(void)
{
	static const char sentence[] = "strict_malloc: called from a sampling handler\n";
	uint64_t blocked = 0;

	calls++;
	syscall(SYS_rt_sigprocmask, 0, NULL, &blocked, sizeof(blocked));
	if (!(blocked & SIGNAL_BIT(AGENT_SIGNAL)) || (blocked & SIGNAL_BIT(LIBC_SIGNAL)))
		return; /* libc blocks all of them for a moment, when it makes a thread */
	if (write(STDERR_FILENO, sentence, sizeof(sentence) - 1) < 0)
		_exit(99);
	abort();
}

void *malloc(size_t bytes)
{
	check();
	return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	check();
	return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	check();
	return __libc_realloc(old, bytes);
}

void free(void *memory)
{
	check();
	__libc_free(memory);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("STRICT_MALLOC");
	char text[32];
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (file >= 0 && write(file, text, (size_t)snprintf(text, sizeof(text), "%lu\n", calls)) > 0)
		close(file);
}
