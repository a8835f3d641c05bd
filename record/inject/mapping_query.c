/* SPDX-License-Identifier: Apache-2.0 */
/* mapping_query.c - see mapping_query.h. */
#include "record/inject/mapping_query.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <string.h>
#include <sys/ioctl.h>

/* The kernel's struct procmap_query, which older headers do not have. */
struct question {
	uint64_t size, flags, address;
	uint64_t begin, end, access, page_bytes, offset, inode;
	uint32_t major, minor, name_bytes, id_bytes;
	uint64_t name, id;
};
_Static_assert(sizeof(struct question) == 104, "as the kernel has it");

#define QUERY _IOWR('f', 17, struct question)
#define ACCESS_ANY 7u /* to read, to write, to execute */
#define ACCESS_EXECUTE 4u
#define FIRST_STACK "[stack]"

int mapping_query(int maps, uint64_t address, struct mapping_query *found)
{
	char name[64] = "";
	struct question question = {.size = sizeof(question),
		.address = address,
		.name_bytes = sizeof(name),
		.name = (uint64_t)(uintptr_t)name};
	int result = ioctl(maps, QUERY, &question);

	if (result && errno == ENAMETOOLONG) { /* of a file */
		question.name_bytes = 0;
		question.name = 0;
		result = ioctl(maps, QUERY, &question);
	}
	if (result)
		return errno;
	*found = (struct mapping_query){.begin = question.begin,
		.end = question.end,
		.identity = {.inode = question.inode, .major = question.major, .minor = question.minor},
		.is_closed = !(question.access & ACCESS_ANY),
		.is_executable = question.access & ACCESS_EXECUTE,
		.is_first_stack = !strcmp(name, FIRST_STACK)};
	return 0;
}
