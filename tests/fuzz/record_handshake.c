/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_handshake.c - libFuzzer: the first message of a caller, with any bytes and any number of
 * descriptors, and with no room for these in the collector's table. Of those that came none is lost.
 *
 *   u8 descriptors | u8 room for so many, 255: for all | message
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/base/handshake.h"

#define DESCRIPTORS_MAX 100u
#define MESSAGE_MAX 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int lowest_free(void)
{
	int fd = dup(0);

	if (fd >= 0)
		close(fd);
	return fd;
}

static void message_send(int to, unsigned count, const uint8_t *bytes, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = {0};
	struct iovec data = {(void *)bytes, size};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *rights = (void *)control;

	if (count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		*rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		for (unsigned i = 0; i < count; i++)
			memcpy(CMSG_DATA(rights) + i * sizeof to, &to, sizeof to);
	}
	if (sendmsg(to, &message, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
}

/* With room for so many descriptors more. */
static enum handshake_result read_with(int from, struct handshake *handshake, unsigned room, int first)
{
	struct rlimit had, few;
	enum handshake_result result;

	if (getrlimit(RLIMIT_NOFILE, &had))
		abort();
	few = (struct rlimit){(rlim_t)first + room, had.rlim_max};
	if (room < 255 && setrlimit(RLIMIT_NOFILE, &few))
		abort();
	result = handshake_read(from, handshake);
	if (setrlimit(RLIMIT_NOFILE, &had))
		abort();
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum handshake_result result;
	struct handshake handshake;
	int ends[2], first;

	if (size < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return 0;
	first = lowest_free();
	message_send(ends[0], data[0] % (DESCRIPTORS_MAX + 1), data + 2,
		size - 2 < MESSAGE_MAX ? size - 2 : MESSAGE_MAX);
	result = read_with(ends[1], &handshake, data[1], first);
	if (result != HANDSHAKE_LATER && result != HANDSHAKE_BAD && handshake.host_pid != (uint32_t)getpid())
		abort();
	if (result > HANDSHAKE_CUT)
		handshake_refuse(result, &handshake);
	if (lowest_free() != first)
		abort();
	close(ends[0]);
	close(ends[1]);
	return 0;
}
