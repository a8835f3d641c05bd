// SPDX-License-Identifier: Apache-2.0
/*
 * unit.store.symbol_protocol - frames between the collector and hpct-names: what is put comes out again, and
 * no bytes whatever make the parsers read outside the frame or accept what breaks their promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/catalog/symbol_protocol.h"
#include "tests/unit/seed.h"

static struct names_scope scope_of(uint32_t kind, const char *name, uint32_t line)
{
	return (struct names_scope){.kind = kind,
		.line = line,
		.decl_line = line + 1,
		.start = 0x1234567890,
		.name = name,
		.linkage = "_Z",
		.file = "dir/file.c",
		.decl_file = "decl.h"};
}

static void assert_scope_equal(const struct names_scope *a, const struct names_scope *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->decl_line, b->decl_line);
	assert_int_equal(a->start, b->start);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->linkage, b->linkage);
	assert_string_equal(a->file, b->file);
	assert_string_equal(a->decl_file, b->decl_file);
}

static void test_request(void **state)
{
	const uint64_t offsets[] = {0, 1, UINT64_MAX, 0x401000};
	const struct symbol_request request = {
		.module = 7,
		.kind = 2,
		.build_id_bytes = 20,
		.build_id = {1, 2, 3, [19] = 0xff},
		.path = "/proc/12/fd/3",
		.real_path = "a\nb\x01\xff",
		.offsets = offsets,
		.offset_count = 4,
	};
	struct symbol_request back;
	struct store_bytes out = {0};
	uint64_t *copied;
	uint32_t type;

	(void)state;
	assert_int_equal(symbol_request_put(&out, &request, NULL), 0);
	assert_int_equal(symbol_frame_peek(out.data, out.size, &type, NULL), out.size);
	assert_int_equal(type, SYMBOL_REQUEST);
	assert_int_equal(symbol_frame_peek(out.data, out.size - 1, &type, NULL), 0);
	assert_int_equal(symbol_request_parse(out.data, out.size, &back, &copied, NULL), 0);
	assert_int_equal(back.module, 7);
	assert_int_equal(back.kind, 2);
	assert_int_equal(back.build_id_bytes, 20);
	assert_memory_equal(back.build_id, request.build_id, 20);
	assert_string_equal(back.path, request.path);
	assert_string_equal(back.real_path, request.real_path);
	assert_int_equal(back.offset_count, 4);
	assert_memory_equal(copied, offsets, sizeof offsets);
	free(copied);
	store_bytes_fini(&out);
}

static void put_sample(struct store_bytes *out, struct symbol_answer *answer)
{
	memset(answer, 0, sizeof *answer);
	answer->module = 3;
	answer->source = NAMES_FROM_DEBUG;
	answer->offset = 0xfffffffffffffff0;
	answer->stretch = (struct symbol_stretch){0xffffffffffffff00, 0xfffffffffffffff8};
	answer->scope_count = 2;
	answer->scopes[0] = scope_of(NAMES_FUNCTION, "solver::run<4>", 12);
	answer->scopes[1] = scope_of(NAMES_INLINE, "", 0);
	assert_int_equal(symbol_answer_put(out, answer, NULL), 0);
}

static void test_answer(void **state)
{
	struct symbol_answer *answer = malloc(sizeof *answer), *back = malloc(sizeof *back);
	struct store_bytes out = {0};

	(void)state;
	put_sample(&out, answer);
	assert_int_equal(symbol_answer_parse(out.data, out.size, back, NULL), 0);
	assert_int_equal(back->module, 3);
	assert_int_equal(back->source, NAMES_FROM_DEBUG);
	assert_int_equal(back->offset, answer->offset);
	assert_int_equal(back->stretch.begin, answer->stretch.begin);
	assert_int_equal(back->stretch.end, answer->stretch.end);
	assert_int_equal(back->scope_count, 2);
	assert_scope_equal(&back->scopes[0], &answer->scopes[0]);
	assert_scope_equal(&back->scopes[1], &answer->scopes[1]);
	store_bytes_fini(&out);
	free(answer);
	free(back);
}

/* The deepest chain of the longest texts is a frame that the other side takes. */
static void test_largest_answer(void **state)
{
	struct symbol_answer *answer = calloc(1, sizeof *answer), *back = malloc(sizeof *back);
	char *text = malloc(NAMES_TEXT_MAX + 100);
	struct store_bytes out = {0};
	uint32_t type;

	(void)state;
	memset(text, 'x', NAMES_TEXT_MAX + 99);
	text[NAMES_TEXT_MAX + 99] = '\0';
	answer->scope_count = NAMES_SCOPE_MAX;
	for (unsigned i = 0; i < NAMES_SCOPE_MAX; i++)
		answer->scopes[i] =
			(struct names_scope){.name = text, .linkage = text, .file = text, .decl_file = text};
	assert_int_equal(symbol_answer_put(&out, answer, NULL), 0);
	assert_int_equal(symbol_frame_peek(out.data, out.size, &type, NULL), out.size);
	assert_int_equal(symbol_answer_parse(out.data, out.size, back, NULL), 0);
	assert_int_equal(strlen(back->scopes[63].decl_file), NAMES_TEXT_MAX);
	store_bytes_fini(&out);
	free(text);
	free(answer);
	free(back);
}

/* What does not hold its own offset tells of that alone. */
static void test_stretch(void **state)
{
	static const struct symbol_stretch others[] = {{0, 0}, {101, 200}, {50, 100}, {200, 50}};
	struct symbol_answer *answer = calloc(1, sizeof *answer), *back = calloc(1, sizeof *back);

	(void)state;
	answer->offset = 100;
	answer->scope_count = 1;
	answer->scopes[0] = scope_of(NAMES_FUNCTION, "f", 1);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct store_bytes out = {0};

		answer->stretch = others[i];
		assert_int_equal(symbol_answer_put(&out, answer, NULL), 0);
		assert_int_equal(symbol_answer_parse_stretch(out.data, out.size, back, NULL), 0);
		assert_int_equal(back->offset, 100);
		assert_int_equal(back->stretch.begin, 100);
		assert_int_equal(back->stretch.end, 101);
		store_bytes_fini(&out);
	}
	free(answer);
	free(back);
}

/* What is asked for is answered, wherever it is: a question with an answer that cannot be read fails. */
static void test_last_address(void **state)
{
	struct symbol_answer *answer = calloc(1, sizeof *answer), *back = calloc(1, sizeof *back);
	struct store_bytes out = {0};

	(void)state;
	answer->offset = UINT64_MAX;
	answer->stretch = (struct symbol_stretch){UINT64_MAX, 0};
	answer->scope_count = 1;
	answer->scopes[0] = scope_of(NAMES_FUNCTION, "", 0);
	assert_int_equal(symbol_answer_put(&out, answer, NULL), 0);
	assert_int_equal(symbol_answer_parse(out.data, out.size, back, NULL), 0);
	assert_true(back->offset == UINT64_MAX);
	store_bytes_fini(&out);
	free(answer);
	free(back);
}

static void test_done(void **state)
{
	struct symbol_done done = {9, "no debug information"}, back;
	struct store_bytes out = {0};

	(void)state;
	assert_int_equal(symbol_done_put(&out, &done, NULL), 0);
	assert_int_equal(symbol_done_parse(out.data, out.size, &back, NULL), 0);
	assert_int_equal(back.module, 9);
	assert_string_equal(back.message, done.message);
	store_bytes_fini(&out);
}

/* What a parser accepts must be whole: every text ends inside the frame. */
static void check_accepted(const uint8_t *frame, size_t size, const struct symbol_answer *answer)
{
	const char *begin = (const char *)frame, *end = begin + size;

	assert_in_range(answer->scope_count, 1, NAMES_SCOPE_MAX);
	for (uint32_t i = 0; i < answer->scope_count; i++) {
		const char *name = answer->scopes[i].name;

		assert_true(name >= begin && name < end);
		assert_true(name + strlen(name) < end);
		assert_in_range(answer->scopes[i].kind, NAMES_FUNCTION, NAMES_LOOP);
	}
}

static void test_hostile(void **state)
{
	struct symbol_answer *answer = malloc(sizeof *answer);
	struct store_bytes out = {0};
	struct error error;
	unsigned accepted = 0;

	(void)state;
	put_sample(&out, answer);
	for (size_t size = 0; size < out.size; size++) {
		uint8_t *cut = malloc(size + 1); /* of its own, so that a sanitizer sees an overrun */

		memcpy(cut, out.data, size);
		assert_true(symbol_answer_parse(cut, size, answer, &error) < 0);
		free(cut);
	}
	store_bytes_put(&out, "", 1);
	out.data[0]++; /* one byte more than the answer needs */
	assert_true(symbol_answer_parse(out.data, out.size, answer, &error) < 0);
	out.data[0]--;
	out.size--;
	srand((unsigned)seed_take(__func__, 1));
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t *bad = malloc(out.size);

		memcpy(bad, out.data, out.size);
		for (unsigned flips = rand() % 3 + 1; flips; flips--)
			bad[8 + (unsigned)rand() % (out.size - 8)] = (uint8_t)rand();
		if (!symbol_answer_parse(bad, out.size, answer, &error)) {
			check_accepted(bad, out.size, answer);
			accepted++;
		}
		free(bad);
	}
	assert_true(accepted > 0); /* flips inside names are not damage */
	store_bytes_fini(&out);
	free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_largest_answer),
		cmocka_unit_test(test_stretch),
		cmocka_unit_test(test_last_address),
		cmocka_unit_test(test_done),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
