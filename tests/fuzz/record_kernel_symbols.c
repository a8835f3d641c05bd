/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_kernel_symbols.c - libFuzzer: the kernel's functions as the user's cache has them, with bytes that
 * are anybody's (image.h), checksums counting as right: what is found lies in the file, and is a string.
 */
#include <stdbool.h>
#include <stdio.h>

#include "record/kernel/kernel_symbols.h"
#include "tests/fuzz/image.h"

#define SYMBOLS 2000u
#define SPAN (SYMBOLS * 48u)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t build_id[] = {1, 2, 3, 4, 5, 6, 7, 8};
static char directory[] = "/tmp/hpct-fuzz.XXXXXX";
static struct image image;
static int target = -1;

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		_exit(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct kernel_symbols made = {.span = SPAN};
	char path[80], name[64];

	(void)argc, (void)argv;
	if (!mkdtemp(directory) || setenv("XDG_CACHE_HOME", directory, 1))
		abort();
	for (uint32_t i = 0; i < SYMBOLS; i++)
		kernel_symbols_add(&made, i * 48 - i % 5 * 16, name,
			(size_t)snprintf(name, sizeof name, "__do_sys_%u_%.*s", i, (int)(i % 40),
				"of_a_driver_with_quite_long_names_of_its_functions"));
	kernel_symbols_sort(&made);
	kernel_symbols_save(&made, build_id, sizeof build_id);
	kernel_symbols_fini(&made);
	snprintf(path, sizeof path, "%s/hpct/kernel/0102030405060708", directory);
	image = image_of(path);
	target = open(path, O_RDWR | O_CLOEXEC);
	atexit(clean);
	return target < 0;
}

static void find(struct kernel_symbols *symbols, uint32_t at)
{
	uint32_t begin = 0;
	const char *name;

	if (!kernel_symbols_fetch(symbols, at))
		return;
	name = kernel_symbols_find(symbols, at, &begin);
	if (name && (begin > at || strlen(name) > image.size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_symbols symbols = {0};

	if (!image_put(target, &image, 1, data, size))
		return 0;
	if (!kernel_symbols_load(&symbols, build_id, sizeof build_id))
		return 0;
	for (uint32_t at = 0; at < SPAN; at += 1021)
		find(&symbols, at);
	find(&symbols, UINT32_MAX);
	kernel_symbols_fini(&symbols);
	return 0;
}
