// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.intel_operands - the scoreboard of Intel's instructions, Xe-LP to Xe-HPC, against what
 * Intel's disassembler iga64 says of them: tests/gpu/intel_scoreboard.tsv, instructions of compiled kernels,
 * and of the same with other scoreboards. Lines: family, bytes, name, scoreboard.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/code/decode.h"
#include "timeline/code/gpu_isa.h"
#include "timeline/code/intel_word.h"

#ifndef EM_INTELGT
#define EM_INTELGT 205
#endif

static void add_counter(unsigned family, const char *word, struct gpu_set *uses)
{
	if (word[0] == 'A' || (word[0] == '@' && family == INTEL_GEN12))
		gpu_set_add(uses, GPU_COUNTER + GPU_COUNTER_IN_ORDER);
	if (word[0] == 'M')
		gpu_set_add(uses, GPU_COUNTER + GPU_COUNTER_MATH);
}

/* "A@1,$3", "$2.dst": what is set and waited for; *back: the distance that counts. */
static void expect(unsigned family, char *text, struct gpu_set *defines, struct gpu_set *uses, unsigned *back)
{
	char *save = NULL;

	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		unsigned number;
		char what[8] = "";

		if (sscanf(word, "$%u.%7s", &number, what) < 1) {
			struct gpu_set before = *uses;

			add_counter(family, word, uses);
			if (memcmp(&before, uses, sizeof before) != 0)
				*back = (unsigned)strtoul(strchr(word, '@') + 1, NULL, 10);
		} else if (!*what) {
			gpu_set_add(defines, GPU_TOKEN + number);
			gpu_set_add(defines, GPU_TOKEN + GPU_TOKENS + number);
		} else {
			gpu_set_add(uses, GPU_TOKEN + number + (strcmp(what, "src") == 0 ? GPU_TOKENS : 0));
		}
	}
}

static size_t bytes_take(const char *hex, uint8_t bytes[16])
{
	size_t count = 0;
	unsigned byte;

	while (count < 16 && sscanf(hex + 2 * count, "%2x", &byte) == 1)
		bytes[count++] = (uint8_t)byte;
	return count;
}

static void check(char *line)
{
	char *save = NULL, *family_text = strtok_r(line, "\t", &save), *hex = strtok_r(NULL, "\t", &save);
	char *name = strtok_r(NULL, "\t\n", &save), *board = strtok_r(NULL, "\n", &save), empty[] = "";
	unsigned family = (unsigned)strtoul(family_text, NULL, 10), back = 0, waits = 0;
	const struct gpu_isa *isa = gpu_isa_of(EM_INTELGT | family << 16);
	struct gpu_set defines = {{0}}, uses = {{0}};
	struct gpu_instruction in;
	struct instruction flow;
	struct decoder *decoder;
	uint8_t bytes[16];
	size_t size = bytes_take(hex, bytes);
	char whole[64];

	assert_non_null(isa);
	snprintf(whole, sizeof whole, "%s %.40s", name, board ? board : "");
	expect(family, board ? board : empty, &defines, &uses, &back);
	assert_int_equal(decoder_open(&decoder, isa->machine), 0);
	decoder_next(decoder, bytes, size, 0, &flow);
	decoder_close(decoder);
	assert_int_equal(flow.size, size);
	assert_true(isa->instruction(bytes, size, &in));
	if (strncmp(in.name, name, strlen(in.name)) != 0)
		fail_msg("%u %s: read as %s", family, whole, in.name);
	for (unsigned c = 0; c < GPU_COUNTERS; c++) {
		if (in.counts >> c & 1)
			gpu_set_add(&defines, GPU_COUNTER + c);
		if (in.waits >> c & 1)
			waits = in.left[c] + 1u;
	}
	if (memcmp(&in.defines, &defines, sizeof defines) != 0 || memcmp(&in.uses, &uses, sizeof uses) != 0 ||
		waits != back)
		fail_msg("%u %s %s: sets or waits differ", family, hex, whole);
}

static void test_scoreboard(void **state)
{
	FILE *file = fopen(GPU_BINARIES "/intel_scoreboard.tsv", "r");
	char line[256];
	unsigned lines = 0;

	(void)state;
	assert_non_null(file);
	for (; fgets(line, sizeof line, file); lines++)
		check(line);
	fclose(file);
	assert_true(lines > 500);
}

/* What counts, and kinds: send of a load is under way by its token alone. */
static void test_kinds(void **state)
{
	/* send.ugm load, send.slm store, mov, math, sync.bar of Xe-HPC */
	static const uint8_t load[] = {0x31, 0xc7, 0x00, 0x80, 0x00, 0x00, 0x0c, 0x23, 0x14, 0x1a, 0x00, 0xfb,
		0x00, 0x00, 0x10, 0x00};
	static const uint8_t barrier[] = {0x01, 0x00, 0xe0, 0xac, 0, 0, 0, 0};
	struct gpu_instruction in;

	(void)state;
	assert_true(gpu_isa_xe_hpc.instruction(load, sizeof load, &in));
	assert_int_equal(in.kind, GPU_KIND_LOAD);
	assert_int_equal(in.space, GPU_SPACE_GLOBAL);
	assert_int_equal(in.counts, 0);
	assert_true(gpu_set_has(&in.defines, GPU_TOKEN + 7));
	assert_true(gpu_isa_xe_hpc.instruction(barrier, sizeof barrier, &in));
	assert_int_equal(in.kind, GPU_KIND_BARRIER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_scoreboard), cmocka_unit_test(test_kinds)};

	return cmocka_run_group_tests_name("timeline_intel_operands", tests, NULL, NULL);
}
