/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.c - see handshake.h. */
#include "record/base/handshake.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS (2 + EVENT_SWITCHES_MAX)

bool hello_peer_is_us(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == geteuid() || !peer.uid);
}

/* The pid in our own namespace of who connected. */
static uint32_t peer_pid(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : (uint32_t)peer.pid;
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

static void descriptors_close(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

/* What came with it is not all that was sent: there was no room in our table of descriptors. A part of the
 * rings would tell of a part of the switches. */
static enum hello_result remains_take(
	struct hello *hello, const struct event_hello *said, const int *fds, unsigned count)
{
	if (said->kind != EVENT_HELLO_PROCESS || count < 2) {
		descriptors_close(fds, count);
		*hello = (struct hello){
			.pid = said->pid, .is_of_switches = said->kind == EVENT_HELLO_SWITCHES};
		return HELLO_CUT;
	}
	descriptors_close(fds + 2, count - 2);
	*hello =
		(struct hello){.pid = said->pid, .memory = fds[0], .pidfd = fds[1], .is_without_rings = true};
	return HELLO_PROCESS;
}

/* Which kind it is, its descriptors sorted into `hello`. */
static enum hello_result descriptors_take(
	struct hello *hello, const struct event_hello *said, const int *fds, unsigned count)
{
	unsigned first = 0;

	*hello = (struct hello){.pid = said->pid,
		.tid = said->tid,
		.switch_bytes = said->switch_bytes,
		.word = said->word,
		.memory = -1,
		.pidfd = -1};
	if (said->kind == EVENT_HELLO_LAUNCHER && !count)
		return HELLO_LAUNCHER;
	if (said->kind == EVENT_HELLO_GPU_MODULE && count == 1) {
		hello->memory = fds[0];
		return HELLO_GPU_MODULE;
	}
	if (said->kind == EVENT_HELLO_PROCESS && count >= 2) {
		hello->memory = fds[0];
		hello->pidfd = fds[1];
		first = 2;
	} else if ((said->kind != EVENT_HELLO_SWITCHES && said->kind != EVENT_HELLO_KEEP) || count != 1) {
		descriptors_close(fds, count);
		return HELLO_BAD;
	}
	hello->event_count = count - first;
	memcpy(hello->events, fds + first, hello->event_count * sizeof(*fds));
	return first ? HELLO_PROCESS : said->kind == EVENT_HELLO_KEEP ? HELLO_KEEP : HELLO_SWITCHES;
}

enum hello_result hello_read(int connection, struct hello *hello)
{
	enum hello_result result;
	struct event_hello said = {0};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	struct iovec data = {&said, sizeof(said)};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fds[DESCRIPTORS];
	unsigned count;
	ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? HELLO_LATER : HELLO_BAD;
	count = rights_take(&message, fds);
	if (got != sizeof(said) || said.magic != EVENT_MAGIC || said.version != EVENT_VERSION) {
		descriptors_close(fds, count);
		return HELLO_BAD;
	}
	result = message.msg_flags & MSG_CTRUNC ? remains_take(hello, &said, fds, count)
						: descriptors_take(hello, &said, fds, count);
	hello->host_pid = peer_pid(connection);
	return result;
}

void hello_refuse(enum hello_result result, struct hello *hello)
{
	if (result == HELLO_PROCESS || result == HELLO_GPU_MODULE)
		close(hello->memory);
	if (result == HELLO_PROCESS)
		close(hello->pidfd);
	if (result == HELLO_PROCESS || result == HELLO_SWITCHES || result == HELLO_KEEP)
		descriptors_close(hello->events, hello->event_count);
}
