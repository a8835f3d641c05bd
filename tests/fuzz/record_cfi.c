/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cfi.c - libFuzzer: unwind tables of a program, as the agent reads them in it and the collector
 * copied from it: .eh_frame_hdr and .eh_frame, any bytes. Rows are looked for where the tables say that
 * functions are, and applied.
 *
 *   u16 place of the header | image
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/agent/unwind/cfi.h"

#define BASE UINT64_C(0x100000000)
#define REACH (UINT64_C(1) << 31)
#define PLACES_MAX 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every word is there, and names another. */
static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	(void)context;
	memset(to, 0, bytes);
	memcpy(to, &address, bytes < sizeof address ? bytes : sizeof address);
	return 0;
}

static void look(const struct cfi_module *module, uint64_t pc)
{
	const struct cfi_memory memory = {.read = memory_read};
	static struct cfi_scratch scratch;
	struct arch_registers registers = {.known = UINT64_MAX};

	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		registers.value[i] = 4096 * i + 8;
	if (!cfi_row_find(module, pc, &scratch))
		cfi_row_apply(&scratch.row, &module->image, &memory, &registers);
}

/* The functions of the search table, or without one places all over. */
static void look_around(const struct cfi_module *module)
{
	for (uint32_t i = 0; i < PLACES_MAX; i++) {
		uint64_t pc = BASE + i * 61;
		int32_t distance;

		if (module->table && i >= module->table_count)
			break;
		if (module->table) {
			memcpy(&distance, module->image.bytes + (module->table + 8 * i - BASE),
				sizeof distance);
			pc = module->header + (uint64_t)(int64_t)distance;
			cfi_fde_address(module, pc);
		}
		look(module, pc);
		look(module, pc + 1);
		look(module, pc + 20);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_module module = {.begin = BASE - REACH, .end = BASE + REACH};
	uint8_t *bytes;
	uint16_t header;

	if (size < sizeof header + 1)
		return 0;
	memcpy(&header, data, sizeof header);
	size -= sizeof header;
	bytes = malloc(size); /* its end is watched */
	if (!bytes)
		return 0;
	memcpy(bytes, data + sizeof header, size);
	module.image = (struct cfi_image){bytes, BASE, BASE + size};
	if (!cfi_module_init(&module, BASE + header))
		look_around(&module);
	free(bytes);
	return 0;
}
