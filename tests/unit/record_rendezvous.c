/* SPDX-License-Identifier: Apache-2.0 */
/* record_rendezvous.c - the place where a collector met its programs is cleared when that was killed,
 * whatever of it the kernel closes last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/base/rendezvous.h"

static int listener_make(struct rendezvous *rendezvous)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(rendezvous->place, "/tmp/hpct-host.XXXXXX");
	assert_non_null(mkdtemp(rendezvous->place));
	snprintf(rendezvous->socket, sizeof rendezvous->socket, "%.90s/s", rendezvous->place);
	snprintf(address.sun_path, sizeof address.sun_path, "%.90s/s", rendezvous->place);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 8), 0);
	return listener;
}

static bool is_there(const struct rendezvous *rendezvous)
{
	return access(rendezvous->place, F_OK) == 0;
}

/* It listens until somebody has looked whether it does. */
static void test_the_listener_goes_last(void **state)
{
	struct rendezvous rendezvous = {0};
	int listener = listener_make(&rendezvous);
	pid_t collector = fork();

	(void)state;
	if (!collector) {
		struct pollfd asked = {listener, POLLIN, 0};

		poll(&asked, 1, -1);
		_exit(0);
	}
	close(listener);
	rendezvous_clear(&rendezvous);
	assert_false(is_there(&rendezvous));
	assert_int_equal(waitpid(collector, NULL, 0), collector);
}

static void test_who_listens_keeps_it(void **state)
{
	struct rendezvous rendezvous = {0};
	int listener = listener_make(&rendezvous);

	(void)state;
	rendezvous_clear(&rendezvous);
	assert_true(is_there(&rendezvous));
	close(listener);
	rendezvous_clear(&rendezvous);
	assert_false(is_there(&rendezvous));
}

/* A stopped collector whose queue is full: a caller gives up. */
static void test_a_full_queue_is_not_waited_for(void **state)
{
	struct rendezvous rendezvous = {0};
	int listener = listener_make(&rendezvous), calls[16], count = 0;

	(void)state;
	do
		calls[count] = rendezvous_call(rendezvous.socket, 0, 0);
	while (calls[count] >= 0 && ++count < 16);
	assert_in_range(count, 8, 15);
	while (count)
		close(calls[--count]);
	close(listener);
	rendezvous_clear(&rendezvous);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_listener_goes_last),
		cmocka_unit_test(test_who_listens_keeps_it),
		cmocka_unit_test(test_a_full_queue_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
