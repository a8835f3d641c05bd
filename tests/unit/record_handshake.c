/* SPDX-License-Identifier: Apache-2.0 */
/* record_handshake.c - what a message says of whom when its descriptors could not be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/base/handshake.h"

static void send_with_descriptor(int to, uint32_t kind)
{
	struct event_handshake handshake = {EVENT_MAGIC, EVENT_VERSION, kind, 4711, 65536, 4712, 0};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec data = {&handshake, sizeof(handshake)};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &to, sizeof(to));
	assert_int_equal(sendmsg(to, &message, MSG_NOSIGNAL), sizeof(handshake));
}

/* Reads a message of this kind when no more descriptors may be opened. */
static enum handshake_result read_cut(uint32_t kind, struct handshake *handshake)
{
	enum handshake_result result;
	struct rlimit had, none;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	send_with_descriptor(ends[0], kind);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	none = (struct rlimit){(rlim_t)ends[1] + 1, had.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	result = handshake_read(ends[1], handshake);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	close(ends[0]);
	close(ends[1]);
	return result;
}

static void cut(void **state)
{
	static const uint32_t kinds[] = {
		EVENT_HANDSHAKE_PROCESS, EVENT_HANDSHAKE_SWITCHES, EVENT_HANDSHAKE_KEEP};
	struct handshake handshake;

	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		memset(&handshake, 0, sizeof(handshake));
		assert_int_equal(read_cut(kinds[i], &handshake), HANDSHAKE_CUT);
		assert_int_equal(handshake.pid, 4711);
		assert_int_equal(handshake.is_of_switches, kinds[i] == EVENT_HANDSHAKE_SWITCHES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cut)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
