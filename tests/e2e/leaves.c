/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaves.c - a handler on a roomy alternate stack that is left by a jump, as runtimes leave it that make
 * exceptions of faults (Ada's), and then one on a stack that holds no second frame. It works, 300 ms after
 * the first and 30 ms inside the second, and prints how often it has left.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "samples/burn.h"

static sigjmp_buf landing;

static void leave(int number)
{
	(void)number;
	siglongjmp(landing, 1);
}

static void burn_there(int number)
{
	(void)number;
	BURN(30000000);
}

int main(void)
{
	static char roomy[65536], small[65536];
	struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t there = {.ss_sp = roomy, .ss_size = sizeof(roomy)};
	volatile int left = 0;

	if (sigaltstack(&there, NULL) || sigaction(SIGSEGV, &action, NULL))
		return 1;
	action.sa_handler = burn_there; /* installed while the stack is roomy */
	if (sigaction(SIGUSR1, &action, NULL))
		return 1;
	while (left < 100)
		if (!sigsetjmp(landing, 0))
			raise(SIGSEGV);
		else
			left++;
	BURN(300000000);
	there = (stack_t){.ss_sp = small, .ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024};
	if (sigaltstack(&there, NULL) || raise(SIGUSR1))
		return 1;
	printf("left: %d\n", left);
	return 0;
}
