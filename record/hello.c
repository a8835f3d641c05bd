/* SPDX-License-Identifier: Apache-2.0 */
/* hello.c - see hello.h. */
#include "record/hello.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROL_BYTES 256
#define DESCRIPTORS 2

bool hello_peer_is_us(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == geteuid() || !peer.uid);
}

/* Descriptors of a message; more than are wanted are closed. */
static unsigned rights_take(struct msghdr *message, int fds[DESCRIPTORS])
{
	unsigned count = 0;

	for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
		size_t given = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < given; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
			if (count < DESCRIPTORS)
				fds[count++] = fd;
			else
				close(fd);
		}
	}
	return count;
}

enum hello_result hello_read(int connection, int *memory, int *pidfd)
{
	struct event_hello hello = {0};
	_Alignas(struct cmsghdr) char control[CONTROL_BYTES];
	struct iovec data = {&hello, sizeof(hello)};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fds[DESCRIPTORS];
	unsigned count;
	ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	bool is_ours;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? HELLO_LATER : HELLO_BAD;
	count = rights_take(&message, fds);
	is_ours = got == sizeof(hello) && hello.magic == EVENT_MAGIC && hello.version == EVENT_VERSION;
	if (is_ours && hello.kind == EVENT_HELLO_PROCESS && count == DESCRIPTORS) {
		*memory = fds[0];
		*pidfd = fds[1];
		return HELLO_PROCESS;
	}
	while (count)
		close(fds[--count]);
	return is_ours && hello.kind == EVENT_HELLO_LAUNCHER ? HELLO_LAUNCHER : HELLO_BAD;
}
