/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous.c - see rendezvous.h. */
#include "record/base/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"
#include "store/base/hash.h"
#include "store/ring/handshake.h"

#define CLEAR_TRIES 100
#define CLEAR_AGAIN_NS 10000000
#define HASH_LETTERS 16
#define JOIN_S 30 /* a launcher joins a collector that may be busy with thousands of processes */
#define CALL_S 2

static void place_remove(const char *place)
{
	char left[128];

	if ((size_t)snprintf(left, sizeof(left), "%s/" RENDEZVOUS_INJECT, place) < sizeof(left))
		unlink(left);
	rmdir(place);
}

static int base_check(const char *path, struct error *error)
{
	struct stat status;

	if (mkdir(path, 0700) && errno != EEXIST)
		return error_set(
			error, ERROR_IO, "cannot make the private directory %s: %s", path, strerror(errno));
	if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
		(status.st_mode & 077))
		return error_set(error, ERROR_IO,
			"%s is not a directory that only you can access; remove it, or set XDG_RUNTIME_DIR",
			path);
	return 0;
}

static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};

/* In a container all of them may be missing or read-only: then the error names the first. */
static const char *place_find(void)
{
	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!access(places[i], W_OK | X_OK))
			return places[i];
	return places[0];
}

static int base_find(struct rendezvous *rendezvous, struct error *error)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/' && strlen(runtime) < 60 && !strpbrk(runtime, " :") &&
		!access(runtime, W_OK | X_OK)) {
		snprintf(rendezvous->base, sizeof(rendezvous->base), "%s/hpct", runtime);
		if (!base_check(rendezvous->base, error))
			return 0;
	}
	snprintf(rendezvous->base, sizeof(rendezvous->base), "%s/hpct-%u", place_find(), (unsigned)geteuid());
	return base_check(rendezvous->base, error);
}

static uint64_t hash_texts(const char *a, const char *b)
{
	struct store_hash hash = store_hash128(a, strlen(a) + 1);

	return hash.low ^ store_hash128(b, strlen(b) + 1).high;
}

/* The link is not removed: programs that outlive the collector must still find the agent in LD_PRELOAD. */
static int link_make(const char *link, const char *to, struct error *error)
{
	char now[4096];
	ssize_t length = readlink(link, now, sizeof(now) - 1);

	if (length > 0 && (size_t)length == strlen(to) && !memcmp(now, to, (size_t)length))
		return 0;
	if (length >= 0)
		unlink(link);
	if (symlink(to, link) && errno != EEXIST)
		return error_set(error, ERROR_IO, "cannot make the link %s: %s", link, strerror(errno));
	return 0;
}

/* Under its own path programs find it that have another /tmp. Only beside this one lie MPI's names. */
static bool is_good_path(const char *agent)
{
	const char *base = strrchr(agent, '/');

	return agent[0] == '/' && strlen(agent) < RENDEZVOUS_PATH_MAX && !strpbrk(agent, " :") &&
	       !strcmp(base + 1, "hpct-agent.so");
}

/* MPI's names lie beside the agent, there and here. */
static int agent_link(struct rendezvous *rendezvous, const char *agent, struct error *error)
{
	char names[4096], link[RENDEZVOUS_PATH_MAX + 8];
	int result;

	if (is_good_path(agent)) {
		snprintf(rendezvous->agent, sizeof(rendezvous->agent), "%s", agent);
		return 0;
	}
	snprintf(rendezvous->agent, sizeof(rendezvous->agent), "%.60s/agent-%016lx.so", rendezvous->base,
		(unsigned long)hash_texts(agent, "agent"));
	result = link_make(rendezvous->agent, agent, error);
	if (result || !environment_mpi_path(link, sizeof(link), rendezvous->agent))
		return result;
	if ((size_t)snprintf(names, sizeof(names), "%.*s/hpct-agent-mpi.so",
		    (int)(strrchr(agent, '/') - agent), agent) >= sizeof(names))
		return 0;
	return link_make(link, names, error);
}

static const char *descriptors_advice(int reason)
{
	return reason == EMFILE || reason == ENFILE ? error_place(reason) : "";
}

static int place_lock(struct rendezvous *rendezvous, struct error *error)
{
	for (int tries = 0; tries < 100; tries++) {
		struct stat held, there;

		if (mkdir(rendezvous->place, 0700) && errno != EEXIST)
			break;
		rendezvous->lock = open(rendezvous->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (rendezvous->lock < 0)
			continue;
		if (flock(rendezvous->lock, LOCK_EX))
			break;
		/* The previous collector may have removed it while we waited for the lock. */
		if (!fstat(rendezvous->lock, &held) && !stat(rendezvous->place, &there) &&
			held.st_ino == there.st_ino)
			return 0;
		close(rendezvous->lock);
		rendezvous->lock = -1;
	}
	error_set(error, ERROR_IO, "cannot make the private directory %s: %s%s", rendezvous->place,
		strerror(errno), descriptors_advice(errno));
	rmdir(rendezvous->place); /* made, but not opened? */
	return -ERROR_IO;
}

static void address_set(struct sockaddr_un *address, const char *path)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	strncpy(address->sun_path, path, sizeof(address->sun_path) - 1);
}

/* A collector that stands still (stopped, a debugger's) accepts nothing; once its queue is full, a connection
 * waits. -1: errno. */
static int socket_connect(const char *path, time_t patience_s)
{
	const struct timeval patience = {.tv_sec = patience_s};
	struct sockaddr_un address;
	int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	address_set(&address, path);
	if (connection < 0)
		return -1;
	setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(connection, (struct sockaddr *)&address, sizeof(address))) {
		int why = errno == EAGAIN ? ETIMEDOUT : errno;

		close(connection);
		errno = why;
		return -1;
	}
	return connection;
}

/* Best effort: without it, programs with another /tmp are unmonitored. */
static int abstract_bind(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path));
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path + 1, path, strlen(path));
	if (listener >= 0 && (bind(listener, (struct sockaddr *)&address, bytes) ||
				     listen(listener, RENDEZVOUS_BACKLOG))) {
		close(listener);
		return -1;
	}
	return listener;
}

static int listener_bind(struct rendezvous *rendezvous, struct error *error)
{
	struct sockaddr_un address;

	unlink(rendezvous->socket);
	address_set(&address, rendezvous->socket);
	rendezvous->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (rendezvous->listener < 0 ||
		bind(rendezvous->listener, (struct sockaddr *)&address, sizeof(address)) ||
		chmod(rendezvous->socket, 0600) || listen(rendezvous->listener, RENDEZVOUS_BACKLOG))
		return error_set(error, ERROR_IO, "cannot listen at %s: %s%s", rendezvous->socket,
			strerror(errno), descriptors_advice(errno));
	rendezvous->abstract_listener = abstract_bind(rendezvous->socket);
	return 0;
}

/* A filter may refuse the calls that tell threads and processes apart, or block signals. */
static int sandbox_check(struct error *error)
{
	if (process_is_permitted())
		return 0;
	return error_set(error, ERROR_IO,
		"a seccomp filter refuses getpid or rt_sigprocmask, without which samples do not find "
		"their threads; permit them");
}

/* The collector watches processes through pidfds; an agent has no alternative. */
static int pidfd_check(struct error *error)
{
	int pidfd = (int)syscall(SYS_pidfd_open, process_number(), 0);

	if (pidfd >= 0)
		close(pidfd);
	if (pidfd >= 0 || errno != ENOSYS)
		return 0;
	return error_set(error, ERROR_IO,
		"the kernel refuses pidfd_open; hpct needs Linux 5.3 or newer, and a seccomp filter that "
		"permits it");
}

int rendezvous_open(struct rendezvous *rendezvous, const char *launch, const char *run, const char *agent,
	struct error *error)
{
	int result;

	*rendezvous =
		(struct rendezvous){.lock = -1, .listener = -1, .abstract_listener = -1, .connection = -1};
	result = sandbox_check(error);
	if (!result)
		result = pidfd_check(error);
	if (!result)
		result = base_find(rendezvous, error);
	if (!result)
		result = agent_link(rendezvous, agent, error);
	if (result)
		return result;
	snprintf(rendezvous->place, sizeof(rendezvous->place), "%.60s/%016lx", rendezvous->base,
		(unsigned long)hash_texts(launch, run));
	snprintf(rendezvous->socket, sizeof(rendezvous->socket), "%.90s/s", rendezvous->place);
	result = place_lock(rendezvous, error);
	if (result)
		return result;
	rendezvous->connection = socket_connect(rendezvous->socket, JOIN_S);
	if (rendezvous->connection < 0 && errno != ENOENT &&
		errno != ECONNREFUSED) /* a collector may exist */
		return error_set(error, ERROR_IO, "cannot reach the collector at %s: %s%s",
			rendezvous->socket, strerror(errno), descriptors_advice(errno));
	return rendezvous->connection >= 0 ? 0 : listener_bind(rendezvous, error);
}

static int handshake_send(int connection, uint32_t kind, uint64_t word)
{
	struct event_handshake handshake = {
		EVENT_MAGIC, EVENT_VERSION, kind, (uint32_t)process_number(), .word = word};

	return send(connection, &handshake, sizeof(handshake), MSG_NOSIGNAL) == sizeof(handshake) ? 0 : -1;
}

int rendezvous_connect(struct rendezvous *rendezvous, struct error *error)
{
	if (rendezvous->connection < 0)
		rendezvous->connection = socket_connect(rendezvous->socket, JOIN_S);
	if (rendezvous->connection < 0 || handshake_send(rendezvous->connection, EVENT_HANDSHAKE_LAUNCHER, 0))
		return error_set(error, ERROR_IO, "cannot reach the collector at %s: %s%s",
			rendezvous->socket, strerror(errno), descriptors_advice(errno));
	if (rendezvous->listener >= 0)
		close(rendezvous->listener);
	rendezvous->listener = -1;
	if (rendezvous->abstract_listener >= 0)
		close(rendezvous->abstract_listener);
	rendezvous->abstract_listener = -1;
	close(rendezvous->lock);
	rendezvous->lock = -1;
	return 0;
}

void rendezvous_leave(struct rendezvous *rendezvous)
{
	int *descriptors[] = {&rendezvous->lock, &rendezvous->listener, &rendezvous->abstract_listener,
		&rendezvous->connection};

	for (unsigned i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		if (*descriptors[i] >= 0)
			close(*descriptors[i]);
		*descriptors[i] = -1;
	}
}

void rendezvous_give_up(struct rendezvous *rendezvous)
{
	if (rendezvous->listener >= 0)
		unlink(rendezvous->socket);
	if (rendezvous->lock >= 0 && rendezvous->connection < 0) /* the directory is ours alone */
		rmdir(rendezvous->place);
	rendezvous_leave(rendezvous);
}

/* True if nothing listens at the socket: its collector was killed. A full queue (EAGAIN) has a listener. */
static bool is_deserted(const char *socket_path)
{
	struct sockaddr_un address;
	int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is_refused;

	address_set(&address, socket_path);
	is_refused = connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof(address)) &&
		     (errno == ECONNREFUSED || errno == ENOENT);
	if (connection >= 0)
		close(connection);
	return is_refused;
}

/* We hold the lock of the directory, so no new collector can start there meanwhile. False: a collector
 * listens there. */
static bool place_clear(const char *place, const char *socket_path)
{
	int lock = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool is_ours, is_free;

	if (lock < 0)
		return true;
	is_ours = !flock(lock, LOCK_EX | LOCK_NB);
	is_free = is_ours && is_deserted(socket_path);
	if (is_free) {
		unlink(socket_path);
		place_remove(place);
	}
	close(lock);
	return is_free || !is_ours;
}

/* When a collector is killed, the kernel may close our connection first and its listener later. */
void rendezvous_clear(const struct rendezvous *rendezvous)
{
	const struct timespec moment = {.tv_nsec = CLEAR_AGAIN_NS};

	for (int tries = 0; tries < CLEAR_TRIES && !place_clear(rendezvous->place, rendezvous->socket);
		tries++)
		nanosleep(&moment, NULL);
}

/* True for the name of a HASH/ directory. */
static bool is_place(const char *name)
{
	return strlen(name) == HASH_LETTERS && strspn(name, "0123456789abcdef") == HASH_LETTERS;
}

int rendezvous_call(const char *socket, uint32_t kind, uint64_t word)
{
	int connection = socket_connect(socket, CALL_S);

	if (connection < 0 || !handshake_send(connection, kind, word))
		return connection;
	close(connection);
	return -1;
}

/* False: `take` wants no more. A directory that others may write to is not asked. */
static bool base_each(const char *path, bool (*take)(void *, const char *), void *context)
{
	char socket_path[RENDEZVOUS_PATH_MAX];
	bool goes_on = true;
	struct stat status;
	struct dirent *entry;
	DIR *base;

	if (lstat(path, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
		(status.st_mode & 077))
		return true;
	base = opendir(path);
	while (base && goes_on && (entry = readdir(base))) {
		if (!is_place(entry->d_name))
			continue;
		snprintf(socket_path, sizeof(socket_path), "%.60s/%.*s/s", path, HASH_LETTERS, entry->d_name);
		goes_on = take(context, socket_path);
	}
	if (base)
		closedir(base);
	return goes_on;
}

/* Who asks may have another environment than who records. */
void rendezvous_each(bool (*take)(void *, const char *), void *context)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char own[64], path[RENDEZVOUS_PATH_MAX];
	bool goes_on = true;

	snprintf(own, sizeof(own), "/run/user/%u", (unsigned)geteuid());
	snprintf(path, sizeof(path), "%.60s/hpct", own);
	goes_on = base_each(path, take, context);
	if (goes_on && runtime && strlen(runtime) < 60 && strcmp(runtime, own) != 0) {
		snprintf(path, sizeof(path), "%.60s/hpct", runtime);
		goes_on = base_each(path, take, context);
	}
	for (unsigned i = 0; goes_on && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/hpct-%u", places[i], (unsigned)geteuid());
		goes_on = base_each(path, take, context);
	}
}

void rendezvous_sweep(const struct rendezvous *rendezvous)
{
	char place[RENDEZVOUS_PATH_MAX], socket_path[RENDEZVOUS_PATH_MAX];
	DIR *base = opendir(rendezvous->base);
	struct dirent *entry;

	while (base && (entry = readdir(base))) {
		if (!is_place(entry->d_name))
			continue;
		snprintf(place, sizeof(place), "%.60s/%.*s", rendezvous->base, HASH_LETTERS, entry->d_name);
		snprintf(socket_path, sizeof(socket_path), "%.90s/s", place);
		if (strcmp(place, rendezvous->place) != 0)
			place_clear(place, socket_path);
	}
	if (base)
		closedir(base);
}

int rendezvous_accept(int listener, int abstract_listener, int flags)
{
	int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | flags);

	return connection < 0 && abstract_listener >= 0
		       ? accept4(abstract_listener, NULL, NULL, SOCK_CLOEXEC | flags)
		       : connection;
}

bool rendezvous_close(const char *place, const char *socket, int listener, int abstract_listener)
{
	struct pollfd waiting[] = {{listener, POLLIN, 0}, {abstract_listener, POLLIN, 0}};
	int lock = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB)) {
		close(lock);
		return false;
	}
	if (poll(waiting, 2, 0) > 0) {
		if (lock >= 0)
			close(lock);
		return false;
	}
	unlink(socket);
	place_remove(place);
	if (lock >= 0)
		close(lock);
	return true;
}

int rendezvous_send(int connection, const struct rendezvous_message *message)
{
	return send(connection, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*message)
		       ? 0
		       : -1;
}
