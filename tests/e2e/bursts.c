/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bursts.c - is calm for almost a second, then reads a few bytes 300 times every 20 ms for two fifths of a
 * second; three times. Prints how many reads there were. With an argument it reads twice as often, each time
 * in a range of hpct.h's, once there was one.
 */
#include "record/program/hpct.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TIMES 3
#define BURSTS 20
#define READS 300

int main(int argc, char **argv)
{
	int file = open("/proc/self/exe", O_RDONLY), reads = 0;
	char bytes[16];

	if (argc > 1)
		hpct_range_begin(argv[1]);
	if (argc > 1)
		hpct_range_end();
	for (int burst = 0; burst < TIMES * BURSTS; burst++) {
		usleep(burst % BURSTS ? 20000 : 800000);
		for (int i = 0; i < (argc > 1 ? 2 : 1) * READS; i++) {
			if (argc > 1)
				hpct_range_begin(argv[1]);
			reads += pread(file, bytes, sizeof(bytes), 0) == sizeof(bytes);
			if (argc > 1)
				hpct_range_end();
		}
	}
	printf("%d\n", reads);
	return 0;
}
