/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc_2_28.c - what a program that is linked here lacks on systems whose glibc is older than the one it is
 * linked with: the start that runs its constructors (before 2.34 the C library left that to the program) and
 * the functions of stat's family (before 2.33 they were in libc_nonshared.a). Linked into programs with
 * -DHPCT_PORTABLE=ON alone, behind the libraries that glibc_stub.py makes.
 */
#include <stddef.h>
#include <sys/stat.h>

#ifdef HPCT_SHARED
#include <stdio.h>

/* stdin, stdout and stderr under names of the library's own (relocatable.py's caller renames them). */
FILE *hpct_own_stdin, *hpct_own_stdout, *hpct_own_stderr;

static __attribute__((constructor)) void streams_take(void)
{
	hpct_own_stdin = stdin;
	hpct_own_stdout = stdout;
	hpct_own_stderr = stderr;
}
#else
typedef int start_main(int, char **, char **);
typedef void start_part(int, char **, char **);

extern start_part *__preinit_array_start[] __attribute__((visibility("hidden")));
extern start_part *__preinit_array_end[] __attribute__((visibility("hidden")));
extern start_part *__init_array_start[] __attribute__((visibility("hidden")));
extern start_part *__init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

/* The loader runs a program's preinit functions itself. */
static void constructors_run(int argc, char **argv, char **environment)
{
	_init();
	for (start_part **at = __init_array_start; at < __init_array_end; at++)
		(*at)(argc, argv, environment);
}

/* The linker calls this where the program's start calls __libc_start_main (--wrap). */
int __real___libc_start_main(
	start_main *, int, char **, start_part *, void (*)(void), void (*)(void), void *);
int __wrap___libc_start_main(start_main *main, int argc, char **argv, start_part *init, void (*fini)(void),
	void (*loader_fini)(void), void *stack);
int __wrap___libc_start_main(start_main *main, int argc, char **argv, start_part *init, void (*fini)(void),
	void (*loader_fini)(void), void *stack)
{
	(void)init, (void)fini;
	return __real___libc_start_main(main, argc, argv, constructors_run, NULL, loader_fini, stack);
}
#endif

/* ---- stat ---- */

#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif

int __xstat(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);

int stat(const char *path, struct stat *status)
{
	return __xstat(STAT_VERSION, path, status);
}

int lstat(const char *path, struct stat *status)
{
	return __lxstat(STAT_VERSION, path, status);
}

int fstat(int fd, struct stat *status)
{
	return __fxstat(STAT_VERSION, fd, status);
}

int fstatat(int directory, const char *path, struct stat *status, int flags)
{
	return __fxstatat(STAT_VERSION, directory, path, status, flags);
}

/* Where off_t has 64 bits these are the same functions; archives of Debian's name them so. */
int stat64(const char *, struct stat64 *) __attribute__((alias("stat")));
int lstat64(const char *, struct stat64 *) __attribute__((alias("lstat")));
int fstat64(int, struct stat64 *) __attribute__((alias("fstat")));
int fstatat64(int, const char *, struct stat64 *, int) __attribute__((alias("fstatat")));
