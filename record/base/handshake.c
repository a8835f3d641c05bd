/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.c - see handshake.h. */
#include "record/base/handshake.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS (2 + EVENT_SWITCHES_MAX)

bool handshake_peer_is_us(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (peer.uid == geteuid() || !peer.uid);
}

/* The peer's pid in our namespace. */
static uint32_t peer_pid(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : (uint32_t)peer.pid;
}

/* Takes the descriptors of a message; closes those beyond DESCRIPTORS. */
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

/* Some descriptors did not arrive, because our table was full. An incomplete set of rings would show an
 * incomplete set of switches, so drop all rings. */
static enum handshake_result remains_take(
	struct handshake *handshake, const struct event_handshake *said, const int *fds, unsigned count)
{
	if ((said->kind != EVENT_HANDSHAKE_PROCESS && said->kind != EVENT_HANDSHAKE_INJECTED) || count < 2) {
		descriptors_close(fds, count);
		*handshake = (struct handshake){
			.pid = said->pid, .is_of_switches = said->kind == EVENT_HANDSHAKE_SWITCHES};
		return HANDSHAKE_CUT;
	}
	descriptors_close(fds + 2, count - 2);
	*handshake = (struct handshake){
		.pid = said->pid, .memory = fds[0], .pidfd = fds[1], .is_without_rings = true};
	return HANDSHAKE_PROCESS;
}

/* Determines the kind of message and sorts its descriptors into `handshake`. */
static enum handshake_result descriptors_take(
	struct handshake *handshake, const struct event_handshake *said, const int *fds, unsigned count)
{
	unsigned first = 0;

	*handshake = (struct handshake){.pid = said->pid,
		.tid = said->tid,
		.switch_bytes = said->switch_bytes,
		.word = said->word,
		.memory = -1,
		.pidfd = -1};
	if (said->kind == EVENT_HANDSHAKE_LAUNCHER && !count)
		return HANDSHAKE_LAUNCHER;
	if (said->kind == EVENT_HANDSHAKE_CONTROL && !count)
		return HANDSHAKE_CONTROL;
	if (said->kind == EVENT_HANDSHAKE_GPU_MODULE && count == 1) {
		handshake->memory = fds[0];
		return HANDSHAKE_GPU_MODULE;
	}
	handshake->is_outside = said->kind == EVENT_HANDSHAKE_OUTSIDE && count == 2;
	handshake->is_injected = said->kind == EVENT_HANDSHAKE_INJECTED && count == 2;
	if ((said->kind == EVENT_HANDSHAKE_PROCESS && count >= 2) || handshake->is_outside ||
		handshake->is_injected) {
		handshake->memory = fds[0];
		handshake->pidfd = fds[1];
		first = 2;
	} else if ((said->kind != EVENT_HANDSHAKE_SWITCHES && said->kind != EVENT_HANDSHAKE_KEEP) ||
		   count != 1) {
		descriptors_close(fds, count);
		return HANDSHAKE_BAD;
	}
	handshake->event_count = count - first;
	memcpy(handshake->events, fds + first, handshake->event_count * sizeof(*fds));
	return first				    ? HANDSHAKE_PROCESS
	       : said->kind == EVENT_HANDSHAKE_KEEP ? HANDSHAKE_KEEP
						    : HANDSHAKE_SWITCHES;
}

enum handshake_result handshake_read(int connection, struct handshake *handshake)
{
	enum handshake_result result;
	struct event_handshake said = {0};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	struct iovec data = {&said, sizeof(said)};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fds[DESCRIPTORS];
	unsigned count;
	ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? HANDSHAKE_LATER : HANDSHAKE_BAD;
	count = rights_take(&message, fds);
	if (got != sizeof(said) || said.magic != EVENT_MAGIC || said.version != EVENT_VERSION) {
		descriptors_close(fds, count);
		return HANDSHAKE_BAD;
	}
	result = message.msg_flags & MSG_CTRUNC ? remains_take(handshake, &said, fds, count)
						: descriptors_take(handshake, &said, fds, count);
	handshake->host_pid = handshake->is_outside ? said.pid : peer_pid(connection);
	return result;
}

void handshake_refuse(enum handshake_result result, struct handshake *handshake)
{
	if (result == HANDSHAKE_PROCESS || result == HANDSHAKE_GPU_MODULE)
		close(handshake->memory);
	if (result == HANDSHAKE_PROCESS)
		close(handshake->pidfd);
	if (result == HANDSHAKE_PROCESS || result == HANDSHAKE_SWITCHES || result == HANDSHAKE_KEEP)
		descriptors_close(handshake->events, handshake->event_count);
}
