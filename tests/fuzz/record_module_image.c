/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz record_module_image - a program that maps hostile headers where a module was: whatever they say, the
 * copy stays within its bounds, and what is compared with the module's build id is read safely.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/modules/build_id.h"
#include "record/modules/module_image.h"

#define ROOM_BYTES (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *room;
	struct stat status;
	int fd;

	if (!room)
		room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED || size > ROOM_BYTES)
		return 0;
	memset(room, 0, 4096);
	memcpy(room, data, size);
	fd = module_image_open((uint32_t)getpid(), (uintptr_t)room);
	if (fd < 0)
		return 0;
	if (fstat(fd, &status) || (uint64_t)status.st_blocks * 512 > MODULE_IMAGE_BYTES_MAX + (1u << 20))
		abort();
	build_id_is_of_file(fd, data, size < BUILD_ID_BYTES_MAX ? size : BUILD_ID_BYTES_MAX);
	module_image_finish(fd);
	module_image_close(fd);
	return 0;
}
