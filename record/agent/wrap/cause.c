/* SPDX-License-Identifier: Apache-2.0 */
/* cause.c - see cause.h. Asks the kernel what a descriptor is only where something is published. */
#include "record/agent/wrap/cause.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/environment.h"
#include "record/agent/sample/start_stop.h"

#define DESCRIPTORS 1024

/* By descriptor. Children by fork have their parent's, as its descriptors. */
static struct descriptor {
	_Atomic uint64_t written_ns;
	_Atomic uint64_t peer;	 /* inode of a socket pair's other end */
	_Atomic uint64_t itself; /* inode of this end: a check, numbers are reused */
	_Atomic uint32_t maker;	 /* of an eventfd: the process that made it */
} descriptors[DESCRIPTORS];

/* Without libc, whose fstat is of 2.33; the kernel's struct is the same. */
static bool ask(int fd, struct stat *stat)
{
	return !atomic_load_explicit(&process.asks_no_descriptors, memory_order_relaxed) &&
	       !syscall(SYS_fstat, fd, stat);
}

static void put(char *to, const char *key, unsigned long number)
{
	strcat(to, key);
	environment_decimal(to + strlen(to), number);
}

/* "pread64" of "__pread64_chk". */
static void put_call(char *to, const char *name)
{
	const char *checked = strstr(name, "_chk");

	strcpy(to, "call=");
	name += strspn(name, "_");
	strncat(to, name, checked ? (size_t)(checked - name) : strlen(name));
}

/* ---- what a descriptor is ---- */

/* One direction of a connection: both of its ends find the same number. */
static unsigned long direction(const struct sockaddr_storage *from, const struct sockaddr_storage *to)
{
	const struct sockaddr_storage *ends[2] = {from, to};
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int end = 0; end < 2; end++) {
		const struct sockaddr_in *four = (const void *)ends[end];
		const struct sockaddr_in6 *six = (const void *)ends[end];
		bool is_four = ends[end]->ss_family == AF_INET;
		const unsigned char *address =
			is_four ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr;

		for (size_t i = 0; i < (is_four ? 4u : 16u); i++)
			hash = (hash ^ address[i]) * UINT64_C(0x100000001b3);
		hash = (hash ^ (is_four ? four->sin_port : six->sin6_port)) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* Unix sockets with names do not tell their other end, but its process. */
static void put_socket(char *to, int fd, uint64_t inode, const char *key, bool is_read)
{
	struct descriptor *known = fd < DESCRIPTORS ? &descriptors[fd] : NULL;
	struct sockaddr_storage own = {0}, other = {0};
	socklen_t own_bytes = sizeof own, other_bytes = sizeof other, bytes = sizeof(struct ucred);
	struct ucred peer = {0};

	if (getsockname(fd, (void *)&own, &own_bytes) || getpeername(fd, (void *)&other, &other_bytes))
		return;
	strcat(to, key);
	if (own.ss_family == AF_INET || own.ss_family == AF_INET6) {
		put(to, "inet:", is_read ? direction(&other, &own) : direction(&own, &other));
	} else if (known && known->itself == inode) {
		put(to, "socket:", is_read ? inode : known->peer);
	} else if (own.ss_family == AF_UNIX && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) {
		strcat(to, "unix");
		put(to, ",peer=", (unsigned long)peer.pid);
	}
}

/* ",from=pipe:4711" or ",wakes=pipe:4711" after "pipe"; NULL: no such thing. */
static const char *put_thing(char *to, int fd, const char *key, bool is_read)
{
	char path[40] = "/proc/self/fd/", link[40] = "";
	struct stat stat;

	if (!ask(fd, &stat))
		return NULL;
	switch (stat.st_mode & S_IFMT) {
	case S_IFIFO:
		strcat(strcat(to, key), "pipe:");
		environment_decimal(to + strlen(to), stat.st_ino);
		return "pipe";
	case S_IFSOCK:
		put_socket(to, fd, stat.st_ino, key, is_read);
		return "socket";
	case S_IFREG:
	case S_IFBLK:
		return "disk";
	case 0:
		break;
	default:
		return NULL;
	}
	environment_decimal(path + strlen(path), (unsigned long)fd);
	if (syscall(SYS_readlinkat, AT_FDCWD, path, link, sizeof link - 1) < 0)
		return NULL;
	if (!strcmp(link, "anon_inode:[timerfd]"))
		return "timer";
	if (!strcmp(link, "anon_inode:[signalfd]") && is_read) {
		put(strcat(to, key), "signal:", (unsigned long)process_pid());
		return "signal";
	}
	if (strcmp(link, "anon_inode:[eventfd]") || fd >= DESCRIPTORS)
		return NULL;
	strcat(to, key);
	put(to, "eventfd:", descriptors[fd].maker ? descriptors[fd].maker : (unsigned)process_pid());
	put(to, ".", (unsigned long)fd);
	return "eventfd";
}

OWN bool cause_of_read(char to[128], int fd)
{
	char thing[100] = "";
	const char *cause = fd >= 0 ? put_thing(thing, fd, ",from=", true) : NULL;

	to[0] = 0;
	if (cause)
		strcat(strcat(strcpy(to, "cause="), cause), thing);
	return cause != NULL;
}

/* ---- descriptors ---- */

/* The poll before was for this one. */
static void publish_polled(struct thread *t, const char *cause)
{
	struct wait wait = {.thread = t, .begin_ns = t->polled_begin_ns};
	uint64_t end_ns = t->polled_end_ns;
	char text[192];
	struct wait_call call = {.name = "wait", .attributes = text, .is_later = true, .may_drop = true};

	t->polled_end_ns = 0;
	put_call(text, t->polled_name);
	strcat(strcat(text, ","), cause);
	wait_publish(&wait, end_ns, NULL, &call);
}

OWN void cause_read(const struct wait *wait, uint64_t end_ns, const void *function, const char *name, int fd)
{
	char text[192], cause[128];
	struct wait_call call = {.name = "wait", .attributes = text, .may_drop = true};
	int error = errno;
	bool is_known = !start_stop_is_off() && cause_of_read(cause, fd);

	if (wait->thread->polled_end_ns && is_known)
		publish_polled(wait->thread, cause);
	wait->thread->polled_end_ns = 0;
	is_known = is_known && end_ns - wait->begin_ns > WAIT_LEAST_NS;
	if (is_known) {
		put_call(text, name);
		strcat(strcat(text, ","), cause);
	}
	wait_end_at(wait, end_ns, function, is_known ? &call : NULL);
	errno = error;
}

bool cause_write_is_due(int fd, uint64_t begin_ns, uint64_t end_ns)
{
	_Atomic uint64_t *written = (unsigned)fd < DESCRIPTORS ? &descriptors[fd].written_ns : NULL;
	uint64_t before_ns;

	if (!written)
		return false;
	before_ns = atomic_load_explicit(written, memory_order_relaxed);
	atomic_store_explicit(written, end_ns, memory_order_relaxed);
	return begin_ns > before_ns + WAIT_LEAST_NS;
}

OWN void cause_write(const struct wait *wait, uint64_t end_ns, const void *function, const char *name, int fd,
	bool is_done)
{
	char text[192], thing[100] = "";
	struct wait_call call = {.name = "wait", .attributes = text, .may_drop = true};
	int error = errno;
	bool is_long = end_ns - wait->begin_ns > WAIT_LEAST_NS;
	const char *cause = fd < 0 || start_stop_is_off() ? NULL : put_thing(thing, fd, ",wakes=", false);

	if (cause && (is_long || (is_done && thing[0]))) {
		put_call(text, name);
		call.name = is_long ? "wait" : "wake";
		if (is_long)
			strcat(strcat(text, ",cause="), cause);
		if (is_done)
			strcat(text, thing);
		wait_end_at(wait, end_ns, function, &call);
	} else {
		wait_end_at(wait, end_ns, function, NULL);
	}
	errno = error;
}

OWN void cause_socketpair(const int ends[2])
{
	int error = errno;
	struct stat stats[2];

	if (ask(ends[0], &stats[0]) && ask(ends[1], &stats[1]))
		for (int end = 0; end < 2; end++)
			if (ends[end] < DESCRIPTORS) {
				descriptors[ends[end]].itself = stats[end].st_ino;
				descriptors[ends[end]].peer = stats[!end].st_ino;
			}
	errno = error;
}

void cause_eventfd(int fd)
{
	if ((unsigned)fd < DESCRIPTORS)
		descriptors[fd].maker = (uint32_t)process_pid();
}

/* ---- others ---- */

static bool is_published(const struct wait *wait, uint64_t *end_ns)
{
	struct thread *t = wait->thread;

	if (!t || t != thread_self())
		return false;
	*end_ns = process_now_ns();
	return *end_ns - wait->begin_ns > WAIT_LEAST_NS && !start_stop_is_off();
}

OWN void cause_end(const struct wait *wait, const void *function, const char *name, const char *cause,
	const char *key, unsigned long number)
{
	char text[128];
	struct wait_call call = {.name = "wait", .attributes = text, .may_drop = true};
	uint64_t end_ns;

	if (!cause || !is_published(wait, &end_ns)) {
		wait_end(wait, function);
		return;
	}
	put_call(text, name);
	strcat(strcat(text, ",cause="), cause);
	if (key)
		put(text, key, number);
	wait_end_at(wait, end_ns, function, &call);
}

OWN void cause_end_at(const struct wait *wait, const void *function, const char *name, const char *cause,
	const void *object, bool is_over)
{
	char text[128];
	struct wait_call call = {.name = "wait", .attributes = text, .may_drop = true};
	uint64_t end_ns;

	if (is_over) {
		cause_end(wait, function, name, "timer", NULL, 0);
		return;
	}
	if (!is_published(wait, &end_ns)) {
		wait_end(wait, function);
		return;
	}
	put_call(text, name);
	strcat(strcat(strcat(text, ",cause="), cause), ",from=");
	environment_hexadecimal(text + strlen(text), (uintptr_t)object);
	wait_end_at(wait, end_ns, function, &call);
}

OWN void cause_end_poll(const struct wait *wait, const void *function, const char *name, long ready)
{
	struct thread *t = wait->thread;
	uint64_t end_ns;

	if (!ready) {
		cause_end(wait, function, name, "timer", NULL, 0);
		return;
	}
	if (is_published(wait, &end_ns) && ready > 0) {
		t->polled_begin_ns = wait->begin_ns;
		t->polled_end_ns = end_ns;
		t->polled_name = name;
	} else if (t) {
		t->polled_end_ns = 0;
	}
	wait_end(wait, function);
}

/* Whether one who has waited for long may be woken; notes it. */
static bool is_wake(struct thread *t, uint64_t begin_ns, const void *object, unsigned waiters)
{
	bool is_again = waiters == 1 && t->woken == object && begin_ns - t->woken_ns <= WAIT_LEAST_NS;

	t->woken = waiters == 1 ? object : NULL;
	t->woken_ns = begin_ns;
	return !is_again;
}

static void publish_wake(const struct wait *wait, const void *function, const char *text)
{
	struct wait_call call = {.name = "wake", .attributes = text, .is_later = true, .may_drop = true};

	wait_publish(wait, process_now_ns(), function, &call);
}

OWN void cause_signal(uint64_t begin_ns, const void *function, const char *name, int pid)
{
	struct wait wait = {.thread = sigaltstack_is_scarce() ? NULL : thread_self(), .begin_ns = begin_ns};
	int error = errno;
	char text[96];

	if (!wait.thread || start_stop_is_off())
		return;
	put_call(text, name);
	put(text, ",wakes=signal:", (unsigned long)pid);
	publish_wake(&wait, function, text);
	errno = error;
}

OWN void cause_wake(
	uint64_t begin_ns, const void *function, const char *name, const void *object, unsigned waiters)
{
	/* A handler may post a semaphore, on however small a stack. */
	struct wait wait = {.thread = sigaltstack_is_scarce() ? NULL : thread_self(), .begin_ns = begin_ns};
	char text[96];

	if (!wait.thread || !is_wake(wait.thread, begin_ns, object, waiters) || start_stop_is_off())
		return;
	put_call(text, name);
	strcat(text, ",wakes=");
	environment_hexadecimal(text + strlen(text), (uintptr_t)object);
	publish_wake(&wait, function, text);
}

unsigned long cause_thread_number(pthread_t thread)
{
	clockid_t clock;

	if (!REAL(pthread_getcpuclockid) || real.pthread_getcpuclockid(thread, &clock) || clock >= 0)
		return 0;
	clock = ~(clock >> 3);
	return (unsigned long)clock;
}
