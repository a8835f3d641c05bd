// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_dwarf_package - hostile .dwp files: whatever the index says, what is shown lies in the file,
 * and nothing stays behind. Ids are those at the places of the index where tables begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "timeline/debug/dwp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("fuzz", MFD_CLOEXEC);
	struct dwp *package;
	char path[64];

	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	package = dwp_open(path);
	for (size_t at = 0; package && at + 8 <= size && at < 65536; at += 8) {
		uint64_t id;

		memcpy(&id, data + at, sizeof id);
		dwp_show(package, id, at % 16 ? "a/b/c.dwo" : "c.dwo");
		dwp_hide(package);
	}
	dwp_close(package);
	close(file);
	return 0;
}
