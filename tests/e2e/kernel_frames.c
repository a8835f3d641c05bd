/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_frames.c - for e2e.record.kernel.sh: spends its time in known parts of the kernel, and waits where
 * no wrapper of the agent's stands: in system calls of its own, and for pages of a file (argv[2]).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define BLOCK (1 << 20)
#define FAULTS (64 << 20)

static char block[BLOCK];

static NOINLINE int reads_zeros(int file)
{
	int times = 0;

	while (times < 9000 && syscall(SYS_read, file, block, sizeof(block)) == sizeof(block))
		times++;
	return times;
}

static NOINLINE void touches_pages(void)
{
	for (int i = 0; i < 8; i++) {
		char *pages = mmap(NULL, FAULTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			return;
		madvise(pages, FAULTS, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < FAULTS; at += 4096)
			pages[at] = 1;
		munmap(pages, FAULTS);
	}
}

static NOINLINE int sleeps(void)
{
	struct timespec time = {0, 20000000};
	int times = 0;

	while (times < 5 && !syscall(SYS_nanosleep, &time, NULL))
		times++;
	return times;
}

static NOINLINE long faults(const char *path)
{
	int file = open(path, O_RDONLY);
	const char *pages;
	long sum = 0;

	if (file < 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
		return -1;
	pages = mmap(NULL, BLOCK, PROT_READ, MAP_PRIVATE, file, 0);
	if (pages == MAP_FAILED)
		return -1;
	madvise((void *)pages, BLOCK, MADV_RANDOM);
	for (size_t at = 0; at < BLOCK; at += 4096)
		sum += pages[at];
	return sum;
}

int main(int argc, char **argv)
{
	int zero = open("/dev/zero", O_RDONLY);

	if (argc > 1 && !strcmp(argv[1], "works")) {
		printf("%d\n", reads_zeros(zero));
		touches_pages();
	} else if (argc > 2) {
		printf("%d %ld\n", sleeps(), faults(argv[2]));
	}
	return 0;
}
