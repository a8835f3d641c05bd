/* SPDX-License-Identifier: Apache-2.0 */
/* filesystem.c - see filesystem.h. */
#include "store/base/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE_BYTES 8192u
#define PROBE_ROUNDS 16
#define PROBE_SECONDS 5 /* a lock manager that does not answer */

/* LMDB maps files and locks them: remote file systems give neither reliably. */
static const struct file_system {
	uint32_t type;
	const char *name;
	bool is_remote;
} file_systems[] = {
	{0x6969, "NFS", true},
	{0x0bd00bd0, "Lustre", true},
	{0x47504653, "GPFS", true},
	{0x19830326, "BeeGFS", true},
	{0xff534d42, "CIFS", true},
	{0xfe534d42, "SMB2", true},
	{0x517b, "SMB", true},
	{0x5346414f, "AFS", true},
	{0x00c36400, "Ceph", true},
	{0xaad7aaea, "PanFS", true},
	{0x7461636f, "OCFS2", true},
	{0x01161970, "GFS2", true},
	{0x20030528, "OrangeFS", true},
	{0x01021997, "9P", true},
	{0x65735546, "FUSE", true},
	{0xef53, "ext4", false},
	{0x58465342, "XFS", false},
	{0x9123683e, "Btrfs", false},
	{0x01021994, "tmpfs", false},
	{0x794c7630, "overlayfs", false},
	{0x2fc12fc1, "ZFS", false},
};

static const char *name_of(const struct statfs *facts, bool *is_remote)
{
	*is_remote = false;
	for (size_t i = 0; i < sizeof file_systems / sizeof *file_systems; i++)
		if (file_systems[i].type == (uint32_t)facts->f_type) {
			*is_remote = file_systems[i].is_remote;
			return file_systems[i].name;
		}
	return "";
}

const char *store_filesystem(const char *path, bool *is_remote)
{
	struct statfs facts;

	*is_remote = false;
	return statfs(path, &facts) ? NULL : name_of(&facts, is_remote);
}

const char *store_filesystem_of(int fd, bool *is_remote)
{
	struct statfs facts;

	*is_remote = false;
	return fstatfs(fd, &facts) ? NULL : name_of(&facts, is_remote);
}

/* ---- the probe: two processes take turns, each with a map and a descriptor of its own ---- */

struct probe {
	int fd;
	volatile uint8_t *map;
	int other; /* socket to it */
};

static bool probe_open(struct probe *probe, const char *path)
{
	void *map;

	probe->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (probe->fd < 0 || ftruncate(probe->fd, PROBE_BYTES))
		return false;
	map = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, probe->fd, 0);
	probe->map = map == MAP_FAILED ? NULL : map;
	return probe->map;
}

static bool pass(const struct probe *probe, bool is_sound)
{
	char word = is_sound ? 'y' : 'n';

	return send(probe->other, &word, 1, MSG_NOSIGNAL) == 1 && is_sound;
}

static bool wait_turn(const struct probe *probe)
{
	char word = 0;

	return read(probe->other, &word, 1) == 1 && word == 'y';
}

/* As the writer: what is written shows in its own map, and in the other's. */
static bool write_round(const struct probe *probe, uint8_t value)
{
	uint8_t page[PROBE_BYTES / 2];

	memset(page, value, sizeof page);
	if (pwrite(probe->fd, page, sizeof page, 0) != (ssize_t)sizeof page)
		return false;
	return probe->map[0] == value && probe->map[sizeof page - 1] == value;
}

/* As a reader: sees it, by map and by read, and says so in the half that is its own. */
static bool read_round(const struct probe *probe, uint8_t value)
{
	uint8_t byte = 0;

	if (probe->map[100] != value || pread(probe->fd, &byte, 1, 200) != 1 || byte != value)
		return false;
	probe->map[PROBE_BYTES - 1] = value;
	return true;
}

static bool is_locked_by_other(const struct probe *probe)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(probe->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool be_reader(const char *path, struct probe *probe)
{
	bool is_sound = wait_turn(probe) && probe_open(probe, path) && is_locked_by_other(probe);

	is_sound = pass(probe, is_sound);
	for (int i = 1; i <= PROBE_ROUNDS && is_sound; i++)
		is_sound = wait_turn(probe) && pass(probe, read_round(probe, (uint8_t)i));
	return is_sound;
}

static bool be_writer(const char *path, struct probe *probe)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	bool is_sound = probe_open(probe, path) && fcntl(probe->fd, F_SETLK, &lock) == 0;

	is_sound = pass(probe, is_sound) && wait_turn(probe);
	for (int i = 1; i <= PROBE_ROUNDS && is_sound; i++)
		is_sound = pass(probe, write_round(probe, (uint8_t)i)) && wait_turn(probe) &&
			   probe->map[PROBE_BYTES - 1] == (uint8_t)i;
	return is_sound;
}

/* In a separate process: a lock manager that does not answer blocks only that. */
static pid_t role_start(
	const char *path, const int pair[2], int own, bool (*be)(const char *, struct probe *))
{
	struct probe probe = {.fd = -1, .other = pair[own]};
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGALRM, SIG_DFL);
	alarm(PROBE_SECONDS);
	close(pair[!own]);
	_exit(!be(path, &probe));
}

static bool role_end(pid_t pid)
{
	pid_t ended = -1;
	int status = 0;

	if (pid > 0)
		do
			ended = waitpid(pid, &status, 0);
		while (ended < 0 && errno == EINTR);
	return ended > 0 && status == 0;
}

static bool probe_with(const char *path, int pair[2])
{
	pid_t reader = role_start(path, pair, 1, be_reader);
	pid_t writer = role_start(path, pair, 0, be_writer);
	bool is_sound;

	close(pair[0]);
	close(pair[1]);
	is_sound = role_end(writer);
	return role_end(reader) && is_sound;
}

bool store_filesystem_is_coherent(const char *directory)
{
	char path[PATH_MAX];
	bool is_sound;
	int pair[2];

	if ((size_t)snprintf(path, sizeof path, "%s/.hpct-probe.%d", directory, (int)getpid()) >=
			sizeof path ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	is_sound = probe_with(path, pair);
	unlink(path);
	return is_sound;
}
