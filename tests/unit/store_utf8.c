/* SPDX-License-Identifier: Apache-2.0 */
/* store_utf8.c - names of any bytes on their way to a terminal: what it obeys is gone, characters are left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/base/error.h"
#include "store/base/utf8.h"

static void expect(const char *name, const char *wanted)
{
	struct error error;
	char text[64];

	strcpy(text, name);
	store_utf8_clean(text);
	assert_string_equal(text, wanted);
	error_set(&error, ERROR_RUN, "'%s'", name);
	snprintf(text, sizeof text, "'%s'", wanted);
	assert_string_equal(error.text, text);
}

static void characters_are_left(void **state)
{
	(void)state;
	expect("", "");
	expect("a b~", "a b~");
	expect("stra\xc3\x9f"
	       "e \xe2\x82\xac \xf0\x9f\x98\x80",
		"stra\xc3\x9f"
		"e \xe2\x82\xac \xf0\x9f\x98\x80");
	expect("\xc2\xa0", "\xc2\xa0");
	expect("caf\xe9", "caf\xe9"); /* of another set of characters */
}

static void controls_are_gone(void **state)
{
	(void)state;
	expect("a\x1b[2Jb\n\x7f", "a?[2Jb??");
	expect("\x9b"
	       "2J",
		"?2J");
	expect("\xc2\x9b"
	       "2J",
		"??2J");
	expect("\xc2", "\xc2");
	expect("\xe2\x82", "\xe2?");	  /* cut */
	expect("\xe0\x80\x9b", "\xe0??"); /* an overlong escape */
	expect("\xc3\x9f\x9f", "\xc3\x9f?");
}

/* A byte from 0x80 to 0x9f is left only as the second one of a character that is no control. */
static void pairs_of_bytes(void **state)
{
	(void)state;
	for (unsigned pair = 0x101; pair < 0x10000; pair++) {
		unsigned char text[3] = {(unsigned char)(pair >> 8), (unsigned char)pair, 0};
		bool is_one = text[0] >= 0xc3 && text[0] < 0xe0 && text[1] >= 0x80 && text[1] < 0xc0;

		if (!text[0] || !text[1])
			continue;
		store_utf8_clean((char *)text);
		for (unsigned i = 0; i < 2; i++) {
			assert_true(text[i] >= 0x20 && text[i] != 0x7f);
			assert_true(text[i] < 0x80 || text[i] > 0x9f || (i && is_one));
		}
		if (is_one)
			assert_int_equal(text[0] << 8 | text[1], pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_left),
		cmocka_unit_test(controls_are_gone),
		cmocka_unit_test(pairs_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
