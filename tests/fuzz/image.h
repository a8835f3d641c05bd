/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - whole stores with some bytes that are anybody's, for targets that read files: the stores are kept
 * in memory, and an input says which one and what is changed in it.
 *
 *   input | store u8 | changes: | place u24 | value u8 | ...        the place counts from the file's begin,
 * or, with its top bit, in 256 bytes from the last one's
 */
#ifndef TESTS_FUZZ_IMAGE_H
#define TESTS_FUZZ_IMAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_CHANGE_BYTES 4

struct image {
	uint8_t *bytes;
	size_t size;
};

/* A file's bytes, for ever; what cannot be read ends the target. */
static inline struct image image_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct image image;
	struct stat facts;

	if (fd < 0 || fstat(fd, &facts))
		abort();
	image.size = (size_t)facts.st_size;
	image.bytes = malloc(image.size);
	if (!image.bytes || read(fd, image.bytes, image.size) != (ssize_t)image.size)
		abort();
	close(fd);
	return image;
}

static inline void image_change(uint8_t *bytes, size_t size, const uint8_t *changes, size_t changes_size)
{
	size_t place = 0;

	for (; changes_size >= IMAGE_CHANGE_BYTES;
		changes += IMAGE_CHANGE_BYTES, changes_size -= IMAGE_CHANGE_BYTES) {
		size_t to = changes[0] | (size_t)changes[1] << 8 | (size_t)(changes[2] & 0x7f) << 16;

		place = (changes[2] & 0x80 ? place + (to & 255) : to) % size;
		bytes[place] = changes[3];
	}
}

/* The file `fd` becomes the image that the input names, changed. False: the input names nothing. */
static inline bool image_put(
	int fd, const struct image *images, unsigned count, const uint8_t *data, size_t size)
{
	const struct image *image;
	uint8_t *map;

	if (size < 1 + IMAGE_CHANGE_BYTES)
		return false;
	image = &images[data[0] % count];
	if (ftruncate(fd, (off_t)image->size))
		abort();
	map = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	memcpy(map, image->bytes, image->size);
	image_change(map, image->size, data + 1, size - 1);
	munmap(map, image->size);
	return true;
}

#endif
