/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_send.c - messages to the collector: each takes one connection and one message, and never waits for
 * an answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/process/process.h"
#include "record/agent/process/switches.h"

/* A filter of system calls may end us at one that we do not need elsewhere. */
static bool is_filtered(void)
{
	char text[4096] = "";
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const char *line;

	if (fd < 0)
		return true;
	if (REAL(read)(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	line = strstr(text, "\nSeccomp:\t");
	return !line || line[sizeof("\nSeccomp:\t") - 1] != '0';
}

/* Where the socket's path leads nowhere, with a /tmp of the program's own, its abstract name may: but that
 * has no owner, and who listens there must be our user. */
static int collector_reach(int connection, struct sockaddr_un *address)
{
	struct sockaddr_un abstract = {.sun_family = AF_UNIX};
	size_t length = strnlen(address->sun_path, sizeof(address->sun_path) - 1);
	socklen_t name_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (!REAL(connect)(connection, (struct sockaddr *)address, sizeof(*address)))
		return 0;
	if (errno != ENOENT || length + 1 >= sizeof(abstract.sun_path) || is_filtered())
		return -1;
	memcpy(abstract.sun_path + 1, address->sun_path, length);
	if (REAL(connect)(connection, (struct sockaddr *)&abstract, name_bytes))
		return -1;
	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == geteuid() ? 0
													: -1;
}

/* One message with its descriptors; all that was ever said on its connection. */
static int message_send(
	uint32_t kind, const int *descriptors, unsigned count, uint32_t switch_bytes, uint64_t word)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct event_handshake handshake = {EVENT_MAGIC, EVENT_VERSION, kind, process.shared->pid,
		switch_bytes, (uint32_t)syscall(SYS_gettid), word};
	struct iovec data = {&handshake, sizeof(handshake)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE((2 + EVENT_SWITCHES_MAX) * sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int))};
	int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), result = -1;

	if (connection < 0)
		return -1;
	control.header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(count * sizeof(int))};
	memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
	memcpy(address.sun_path, process.settings.socket, sizeof(address.sun_path));
	if (!collector_reach(connection, &address) &&
		REAL(sendmsg)(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(handshake))
		result = 0;
	close(connection);
	return result;
}

/* If descriptors are short, the program is measured without switch records. */
static int send_with_switches(int memory, int pidfd)
{
	struct switches switches = {0};
	int descriptors[2 + EVENT_SWITCHES_MAX] = {memory, pidfd}, result = -1;

	if (process.settings.switches && !atomic_load(&process.is_parked) && !switches_open(&switches)) {
		memcpy(descriptors + 2, switches.events, switches.count * sizeof(int));
		result = message_send(EVENT_HANDSHAKE_PROCESS, descriptors, 2 + switches.count,
			switches.bytes, process_now_ns());
		switches_hand_over(&switches, result);
	}
	return result ? message_send(EVENT_HANDSHAKE_PROCESS, descriptors, 2, 0, 0) : 0;
}

int process_send_memory(int memory)
{
	int pidfd = (int)syscall(SYS_pidfd_open, process_number(), 0), result = -1;

	if (pidfd >= 0) {
		result = send_with_switches(memory, pidfd);
		close(pidfd);
	}
	return result;
}

int process_send_memory_injected(int memory, int end)
{
	return message_send(EVENT_HANDSHAKE_INJECTED, (const int[2]){memory, end}, 2, 0, process_now_ns());
}

int process_send_switches(int event, uint32_t bytes)
{
	return message_send(EVENT_HANDSHAKE_SWITCHES, &event, 1, bytes, process_now_ns());
}

int process_send_gpu_module(int memory, uint64_t hash)
{
	return message_send(EVENT_HANDSHAKE_GPU_MODULE, &memory, 1, 0, hash);
}

int process_send_kept(int event)
{
	return message_send(EVENT_HANDSHAKE_KEEP, &event, 1, 0, 0);
}
