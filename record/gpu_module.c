/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_module.c - see gpu_module.h. Nothing is believed of the memory but its seals: it stays as it is. */
#include "record/gpu_module.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_WRITE)
#define MODULE_BYTES_MAX ((off_t)256 << 20)

void gpu_module_take(struct store_writer *writer, int memory, uint64_t hash)
{
	int seals = fcntl(memory, F_GET_SEALS);
	struct stat status;
	void *image;

	if (seals >= 0 && (seals & SEALS) == SEALS && !fstat(memory, &status) && status.st_size > 0 &&
		status.st_size <= MODULE_BYTES_MAX) {
		size_t bytes = (size_t)status.st_size;

		image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, memory, 0);
		if (image != MAP_FAILED) {
			store_writer_blob(writer, hash, image, bytes);
			munmap(image, bytes);
		}
	}
	close(memory);
}
