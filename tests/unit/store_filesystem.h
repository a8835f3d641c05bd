/* SPDX-License-Identifier: Apache-2.0 */
/* store_filesystem.h - a path for one store at a time, in memory where that is: no test needs to wait for a
 * disk.
 */
#ifndef TESTS_UNIT_STORE_PLACE_H
#define TESTS_UNIT_STORE_PLACE_H

#include <stdio.h>
#include <unistd.h>

static char path[64], lock_path[72];

static int set_up(void **unused)
{
	(void)unused;
	snprintf(path, sizeof path, "%s/hpct-store-%d.mdb", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
		(int)getpid());
	snprintf(lock_path, sizeof lock_path, "%s-lock", path);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	unlink(path);
	unlink(lock_path);
	return 0;
}

#endif
