/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_disk.c - preloaded: what waits for the disk takes 200 ms longer.
 */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

static int slowly(const char *name, int fd)
{
	const struct timespec pause = {0, 200000000};
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);

	nanosleep(&pause, NULL);
	return real ? real(fd) : -1;
}

int fdatasync(int fd)
{
	return slowly("fdatasync", fd);
}

int fsync(int fd)
{
	return slowly("fsync", fd);
}
