/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaks.c - allocates and frees by known bytes. hpct-record -e MEMLEAK must show, by the path that allocated:
 *
 *   function      allocated                        freed            by
 *   lose          100 x 1000                       -
 *   keep_half     200 x 64, calloc                 100 x 64         main
 *   grow          10 + 20 + ... + 1000 (realloc)   all but 1000     itself; 1000 are lost
 *   hand_over     50 x 300, aligned                50 x 300         another thread
 *   work          4 threads x 30 x 111             4 x 29 x 111     the threads
 *   child         77 in a child of fork            -                its own process
 *
 * A first argument multiplies how often lose is called; with a second one it ends by SIGKILL. It prints the
 * bytes that it has lost.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static void *volatile kept; /* so that nothing is optimized away */

APART static void lose(int times)
{
	for (int i = 0; i < times; i++)
		kept = malloc(1000);
	__asm__ volatile("");
}

APART static void *keep_half(void)
{
	void *block = calloc(8, 8);

	__asm__ volatile("" : "+r"(block));
	return block;
}

APART static void grow(void)
{
	char *block = NULL;

	for (int i = 10; i <= 1000; i += 10) {
		block = realloc(block, (size_t)i);
		kept = block;
	}
	__asm__ volatile("");
}

APART static void *hand_over(int i)
{
	void *block = NULL;

	if (i % 2)
		block = aligned_alloc(64, 300);
	else if (posix_memalign(&block, 128, 300))
		block = NULL;
	__asm__ volatile("" : "+r"(block));
	return (size_t)block % 64 ? NULL : block;
}

static void *blocks[50];

static void *free_all(void *nothing)
{
	for (int i = 0; i < 50; i++)
		free(blocks[i]);
	return nothing;
}

APART static void *work(void *nothing)
{
	void *mine[30];

	for (int i = 0; i < 30; i++)
		mine[i] = malloc(111);
	for (int i = 1; i < 30; i++)
		free(mine[i]);
	return nothing;
}

APART static void child(void)
{
	kept = malloc(77);
	free(blocks[49]); /* the parent's */
	_exit(0);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	void *halves[200];
	pthread_t thread[4];

	for (int i = 0; i < times; i++)
		lose(100);
	for (int i = 0; i < 200; i++)
		halves[i] = keep_half();
	for (int i = 0; i < 200; i += 2)
		free(halves[i]);
	grow();
	for (int i = 0; i < 50; i++)
		blocks[i] = hand_over(i);
	if (!fork())
		child();
	wait(NULL);
	pthread_create(&thread[0], NULL, free_all, NULL);
	pthread_join(thread[0], NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", times * 100 * 1000 + 100 * 64 + 1000 + 4 * 111);
	fflush(stdout);
	if (argc > 2)
		raise(SIGKILL);
	return 0;
}
