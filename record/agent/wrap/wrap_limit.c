/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_limit.c - limits that the program sets, and its memory locks, apply to the program's own memory and
 * not to the agent's (address_reserve.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/address_reserve.h"
#include "record/agent/process/process.h"

/* ---- limits ---- */

static bool is_limited(int resource)
{
	return (resource == RLIMIT_AS || resource == RLIMIT_DATA || resource == RLIMIT_RTTIME) &&
	       process_is_own();
}

/* If a thread has CPU timers, as ours do, the kernel checks this limit for it: at 0 it kills any thread,
 * real-time or not. With 1 us it kills only the threads it should, from their first tick on. A program
 * that is exec'd sees that 1. */
static int limit_rttime(const struct rlimit64 *new, struct rlimit64 *old)
{
	static _Atomic bool is_zero, is_most_zero;
	struct rlimit64 least;
	int result;

	if (new)
		least = (struct rlimit64){
			new->rlim_cur ? new->rlim_cur : 1, new->rlim_max ? new->rlim_max : 1};
	result = (int)syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, new ? &least : NULL, old);
	if (result)
		return result;
	if (old->rlim_cur == 1 && is_zero)
		old->rlim_cur = 0;
	if (old->rlim_max == 1 && is_most_zero)
		old->rlim_max = 0;
	if (new) {
		is_zero = !new->rlim_cur;
		is_most_zero = !new->rlim_max;
	}
	return 0;
}

static int limit(int resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	struct rlimit64 wanted, before;
	int result;

	if (new && !safe_read(&wanted, new, sizeof(wanted))) {
		errno = EFAULT;
		return -1;
	}
	result = resource == RLIMIT_RTTIME ? limit_rttime(new ? &wanted : NULL, &before)
					   : address_reserve_limit(resource, new ? &wanted : NULL, &before);
	if (!result && old && !syscall(SYS_prlimit64, 0, resource, NULL, old))
		*old = before; /* the call above has checked that it is writable */
	else if (old)
		result = -1;
	return result;
}

/* Both structures are the same on 64-bit systems. */
WRAPPER int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *new)
{
	if (!is_limited((int)resource))
		return REAL(setrlimit64)(resource, new);
	return limit((int)resource, new, NULL);
}

WRAPPER int setrlimit(__rlimit_resource_t resource, const struct rlimit *new)
{
	if (!is_limited((int)resource))
		return REAL(setrlimit)(resource, new);
	return limit((int)resource, (const struct rlimit64 *)new, NULL);
}

WRAPPER int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *old)
{
	if (!is_limited((int)resource))
		return REAL(getrlimit64)(resource, old);
	return limit((int)resource, NULL, old);
}

WRAPPER int getrlimit(__rlimit_resource_t resource, struct rlimit *old)
{
	if (!is_limited((int)resource))
		return REAL(getrlimit)(resource, old);
	return limit((int)resource, NULL, (struct rlimit64 *)old);
}

WRAPPER int prlimit64(
	pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	if (!is_limited((int)resource) || (pid && pid != process_pid()))
		return REAL(prlimit64)(pid, resource, new, old);
	return limit((int)resource, new, old);
}

WRAPPER int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new, struct rlimit *old)
{
	if (!is_limited((int)resource) || (pid && pid != process_pid()))
		return REAL(prlimit)(pid, resource, new, old);
	return limit((int)resource, (const struct rlimit64 *)new, (struct rlimit64 *)old);
}

/* ---- locked memory ---- */

/* Calls `each` for every mapping except ours. */
static void mappings(void (*each)(uint64_t begin, uint64_t end, int flags), int flags)
{
	char text[1024], line[64];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	while (fd >= 0 && (got = REAL(read)(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			char *end;
			uint64_t begin;

			if (text[i] != '\n') {
				if (length < sizeof(line) - 1)
					line[length++] = text[i];
				continue;
			}
			line[length] = '\0';
			length = 0;
			begin = strtoull(line, &end, 16);
			if (*end == '-' && !address_reserve_holds(begin))
				each(begin, strtoull(end + 1, NULL, 16), flags);
		}
	if (fd >= 0)
		close(fd);
}

/* Ignores errors, as for guard pages: the kernel's own walk ignores them, too. */
static void mapping_lock(uint64_t begin, uint64_t end, int flags)
{
	syscall(SYS_mlock2, begin, end - begin, flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0);
}

static bool is_within_limit(void)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	struct rlimit limit = {0};
	uint64_t bytes;

	if (fd >= 0 && REAL(read)(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	bytes = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	return text[0] && !REAL(getrlimit)(RLIMIT_MEMLOCK, &limit) &&
	       bytes - address_reserve_bytes() <= limit.rlim_cur;
}

/* A plain mlockall would populate the reserved ranges, too: so this calls it with MCL_ONFAULT, then locks
 * each of the program's mappings. */
static int current_lock(int flags)
{
	int error = errno;

	if (REAL(mlockall)(MCL_CURRENT | MCL_ONFAULT)) {
		if (errno != ENOMEM || !is_within_limit())
			return -1;
		errno = error;
	}
	mappings(mapping_lock, flags);
	address_reserve_unlock();
	errno = error;
	return 0;
}

WRAPPER int mlockall(int flags)
{
	int result = 0, later = flags & (MCL_FUTURE | MCL_ONFAULT);

	if (!process_is_own() || !(flags & (MCL_CURRENT | MCL_FUTURE)) ||
		(flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
		return REAL(mlockall)(flags);
	if (flags & MCL_CURRENT)
		result = current_lock(flags);
	if (!result && (flags & MCL_FUTURE))
		result = REAL(mlockall)(later);
	if (!result)
		address_reserve_locked(flags & MCL_FUTURE);
	return result;
}

WRAPPER int munlockall(void)
{
	int result = REAL(munlockall)();

	if (!result && process_is_own())
		address_reserve_locked(false);
	return result;
}
