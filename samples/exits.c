/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exits.c - ends in the way that it is told. Arguments: HOW [NUMBER] [CPU seconds before, default 0.05].
 *
 *   return N   exit N   _exit N   quick N   with exit code N
 *   signal N   abort                        by a signal
 *   thread N   exit(N) in a second thread while main waits
 *   last N     main ends by pthread_exit, a second thread calls exit(N)
 *
 * What the trace must show: the CPU seconds in main;spend however the program ended, and hpct-record
 * must end in the very same way.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

APART static void spend(double seconds)
{
	BURN(seconds * 1e9);
}

static void *exit_from_thread(void *code)
{
	struct timespec pause = {0, 20000000};

	nanosleep(&pause, NULL);
	exit((int)(intptr_t)code);
}

static int second_thread(int code, int main_ends)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exit_from_thread, (void *)(intptr_t)code) != 0)
		return 1;
	if (main_ends)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int number = argc > 2 ? atoi(argv[2]) : 0;

	spend(argc > 3 ? atof(argv[3]) : 0.05);
	if (strcmp(how, "exit") == 0)
		exit(number);
	if (strcmp(how, "_exit") == 0)
		_exit(number);
	if (strcmp(how, "quick") == 0)
		quick_exit(number);
	if (strcmp(how, "signal") == 0)
		raise(number);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "thread") == 0)
		return second_thread(number, 0);
	if (strcmp(how, "last") == 0)
		return second_thread(number, 1);
	return number;
}
