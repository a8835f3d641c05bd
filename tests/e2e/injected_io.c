/* SPDX-License-Identifier: Apache-2.0 */
/*
 * injected_io - a program whose calls of IO an agent leads through itself and back, again and again, while it
 * checks what they give: bytes, errno, EINTR, a stream, a thread cancelled in read, one that leaves read by
 * longjmp, a fork child, a vfork child, a small alternate stack, a library that comes and goes. Each round of
 * counted_write moves 1000 bytes, of counted_read 100. It ends when SIGUSR1 has come, and prints in one line
 * what went wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static _Atomic unsigned long wrong[10], rounds[7];
static char bytes[1000];

enum {
	WRONG_RESULT,
	WRONG_ERROR,
	WRONG_STREAM,
	WRONG_CANCEL,
	WRONG_JUMP,
	WRONG_CHILD,
	WRONG_STACK,
	WRONG_LOAD
};

static void check(unsigned kind, int is_right)
{
	wrong[kind] += !is_right;
}

__attribute__((noinline)) static void counted_write(int file)
{
	check(WRONG_RESULT, write(file, bytes, sizeof(bytes)) == sizeof(bytes));
}

__attribute__((noinline)) static void counted_read(int file)
{
	char to[100];

	errno = 0;
	check(WRONG_RESULT, read(file, to, sizeof(to)) == sizeof(to) && errno == 0);
	check(WRONG_ERROR, read(-1, to, 1) == -1 && errno == EBADF);
}

static void *moves(void *own)
{
	int to = open("/dev/null", O_WRONLY | O_CLOEXEC), from = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (!is_over) {
		counted_write(to);
		counted_read(from);
		*(_Atomic unsigned long *)own += 1;
		if (rounds[0] % 64 == 0)
			usleep(500);
	}
	close(to);
	close(from);
	return own;
}

static void *streams(void *own)
{
	while (!is_over) {
		char line[64];
		FILE *file = tmpfile();

		check(WRONG_STREAM,
			file && fwrite("abc\ndef\n", 1, 8, file) == 8 && !fseek(file, 0, SEEK_SET));
		check(WRONG_STREAM, fgets(line, sizeof(line), file) == line && !strcmp(line, "abc\n"));
		check(WRONG_STREAM, fread(line, 1, 10, file) == 4 && feof(file));
		check(WRONG_STREAM, !fgets(line, sizeof(line), file));
		fclose(file);
		*(_Atomic unsigned long *)own += 1;
		usleep(300);
	}
	return own;
}

static void *waits_for_ever(void *pipe)
{
	char byte;

	check(WRONG_CANCEL, read(*(int *)pipe, &byte, 1) > 2);
	return pipe;
}

static void *cancels(void *own)
{
	while (!is_over) {
		int ends[2];
		pthread_t thread;
		void *result = NULL;

		check(WRONG_CANCEL, !pipe(ends) && !pthread_create(&thread, NULL, waits_for_ever, &ends[0]));
		usleep(700);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		check(WRONG_CANCEL, result == PTHREAD_CANCELED);
		close(ends[0]);
		close(ends[1]);
		*(_Atomic unsigned long *)own += 1;
	}
	return own;
}

static sigjmp_buf place;
static pthread_t jumper;

static void jump(int number)
{
	(void)number;
	if (pthread_equal(pthread_self(), jumper))
		siglongjmp(place, 1);
}

/* Another thread sends it SIGALRM while it reads, at any instruction. */
static void *jumps(void *own)
{
	int ends[2];

	check(WRONG_JUMP, !pipe(ends));
	while (!is_over) {
		volatile int has_read = 0;
		char byte;

		if (!sigsetjmp(place, 1)) {
			sigset_t one;

			sigemptyset(&one);
			sigaddset(&one, SIGALRM);
			pthread_sigmask(SIG_UNBLOCK, &one, NULL);
			has_read = read(ends[0], &byte, 1) > 0;
			has_read |= 2;
		}
		check(WRONG_JUMP, !has_read);
		*(_Atomic unsigned long *)own += 1;
	}
	return own;
}

static void *has_children(void *own)
{
	while (!is_over) {
		int ends[2], status = 0;
		char text[4] = "";
		pid_t child;

		check(WRONG_CHILD, !pipe(ends));
		child = fork();
		if (!child)
			_exit(write(ends[1], "abc", 3) == 3 ? 3 : 4);
		check(WRONG_CHILD, waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3 &&
					   read(ends[0], text, 3) == 3 && !strcmp(text, "abc"));
		child = vfork();
		if (!child)
			_exit(write(ends[1], "abcd", 4) == 4 ? 5 : 6);
		check(WRONG_CHILD, waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
		close(ends[0]);
		close(ends[1]);
		*(_Atomic unsigned long *)own += 1;
		usleep(1000);
	}
	return own;
}

static char small_stack[10240];
static volatile int handled, null_file;

static void writes_in_handler(int number)
{
	int error = errno;

	(void)number;
	check(WRONG_STACK, write(null_file, bytes, 7) == 7);
	handled++;
	errno = error;
}

static void *has_small_stack(void *own)
{
	stack_t stack = {.ss_sp = small_stack + 2048, .ss_size = sizeof(small_stack) - 2048};

	null_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	memset(small_stack, 0x5a, 2048);
	check(WRONG_STACK, !sigaltstack(&stack, NULL));
	while (!is_over) {
		int before = handled;

		pthread_kill(pthread_self(), SIGUSR2);
		check(WRONG_STACK, handled == before + 1);
		*(_Atomic unsigned long *)own += 1;
		usleep(200);
	}
	for (unsigned i = 0; i < 2048; i++)
		check(WRONG_STACK, small_stack[i] == 0x5a);
	return own;
}

/* libio_part.so reads 10 bytes of a file. */
static void *loads(void *own)
{
	int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (!is_over) {
		void *library = dlopen("./libio_part.so", RTLD_NOW | RTLD_LOCAL);
		long (*part)(int) = library ? (long (*)(int))dlsym(library, "io_part") : NULL;

		for (unsigned i = 0; part && i < 50; i++) {
			check(WRONG_LOAD, part(file) == 10);
			usleep(*(_Atomic unsigned long *)own % 2 ? 20000 : 10);
		}
		check(WRONG_LOAD, part && !dlclose(library));
		*(_Atomic unsigned long *)own += 1;
	}
	return own;
}

static void over(int number)
{
	(void)number;
	is_over = 1;
}

int main(void)
{
	static void *(*const kinds[])(void *) = {
		moves, streams, cancels, jumps, has_children, has_small_stack, loads};
	struct sigaction act = {.sa_handler = writes_in_handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	pthread_t threads[7];
	sigset_t blocked;
	unsigned idle = 0;

	sigaction(SIGUSR2, &act, NULL);
	act.sa_handler = jump;
	act.sa_flags = 0;
	sigaction(SIGALRM, &act, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	for (unsigned i = 0; i < 7; i++)
		pthread_create(&threads[i], NULL, kinds[i], (void *)&rounds[i]);
	jumper = threads[3];
	signal(SIGUSR1, over);
	sigdelset(&blocked, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	while (!is_over) {
		for (volatile unsigned i = 0; i < 50000; i++)
			;
		if (rounds[3])
			pthread_kill(jumper, SIGALRM);
	}
	for (unsigned i = 0; i < 7; i++) {
		if (i == 3)
			pthread_kill(jumper, SIGALRM);
		pthread_join(threads[i], NULL);
		idle += !rounds[i];
	}
	printf("result %lu error %lu stream %lu cancel %lu jump %lu child %lu stack %lu load %lu idle %u\n",
		wrong[0], wrong[1], wrong[2], wrong[3], wrong[4], wrong[5], wrong[6], wrong[7], idle);
	return 7;
}
