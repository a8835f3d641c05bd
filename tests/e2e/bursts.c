/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bursts.c - is calm for almost a second, then reads a few bytes 300 times every 20 ms for two fifths of a
 * second; three times. Prints how many reads there were.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TIMES 3
#define BURSTS 20
#define READS 300

int main(void)
{
	int file = open("/proc/self/exe", O_RDONLY), reads = 0;
	char bytes[16];

	for (int burst = 0; burst < TIMES * BURSTS; burst++) {
		usleep(burst % BURSTS ? 20000 : 800000);
		for (int i = 0; i < READS; i++)
			reads += pread(file, bytes, sizeof(bytes), 0) == sizeof(bytes);
	}
	printf("%d\n", reads);
	return 0;
}
