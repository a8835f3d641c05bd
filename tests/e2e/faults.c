/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - touches as many pages as it is told, in touch(), the last 16 of them by
 * one system call. The trace must show a page fault for each, and the call path of
 * the line that touches (e2e.record.counters.sh).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define IN_KERNEL 16

__attribute__((noinline)) static void touch(volatile char *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pages[i * PAGE] = 1;
}

__attribute__((noinline)) static int touch_in_kernel(char *pages)
{
	int zero = open("/dev/zero", O_RDONLY);
	ssize_t got = read(zero, pages, IN_KERNEL * PAGE);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return got == IN_KERNEL * PAGE;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? (size_t)atol(argv[1]) : 1000, bytes = (count + IN_KERNEL) * PAGE;
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	madvise(pages, bytes, MADV_NOHUGEPAGE);
	touch(pages, count);
	return !touch_in_kernel(pages + count * PAGE);
}
