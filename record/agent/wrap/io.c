/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - see io.h. */
#include "record/agent/wrap/io.h"

#include <string.h>

#include "record/agent/process/environment.h"
#include "record/agent/sample/start_stop.h"

/* Without libc's internal prefixes. */
void io_attributes_write(char to[IO_ATTRIBUTES_BYTES], const char *name, int fd)
{
	const char *checked = strstr(name, "_chk");

	name += strspn(name, "_");
	strcpy(to, "call=");
	strncat(to, name, checked ? (size_t)(checked - name) : strlen(name));
	if (fd < 0)
		return;
	strcat(to, ",fd=");
	environment_decimal(to + strlen(to), (unsigned long)fd);
}

static bool is_ours(uintptr_t caller)
{
	return caller >= process.shared->hidden_begin && caller < process.shared->hidden_end;
}

void io_end(const struct wait *wait, const void *function, const char *name, int fd,
	enum tally_metric direction, ssize_t bytes, void *caller)
{
	char attributes[IO_ATTRIBUTES_BYTES];
	struct wait_call call = {.operation = STORE_OP_IO,
		.bytes = bytes > 0 ? (uint64_t)bytes : 0,
		.attributes = attributes,
		.tally = bytes > 0 ? direction : TALLY_NONE};

	if (!wait->thread || start_stop_is_off() || is_ours((uintptr_t)caller)) {
		wait_end(wait, function);
		return;
	}
	io_attributes_write(attributes, name, fd);
	wait_end_call(wait, function, &call);
}
