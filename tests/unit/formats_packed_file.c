/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_packed_file.c - a packed file is one in whatever pieces it comes, and is not waited for before it
 * is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/base/packed_file.h"

static const uint8_t packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xb4, 0x4e,
	0x52, 0x30, 0xe6, 0x02, 0x00, 0x8d, 0x01, 0x47, 0x19, 0x06, 0x00, 0x00, 0x00};
static const char text[] = "a;b 3\n";

/* Each read of one end gives what one write to the other was. */
static void make_pieces(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
}

static void put(int fd, const void *bytes, size_t size)
{
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
}

static void byte_by_byte_is_unpacked(void **state)
{
	char got[64] = "";
	struct packed_file *file;
	struct error error;
	FILE *stream;
	int ends[2];

	(void)state;
	make_pieces(ends);
	for (size_t i = 0; i < sizeof packed; i++)
		put(ends[1], &packed[i], 1);
	close(ends[1]);
	file = packed_file_open(ends[0], &stream);
	assert_non_null(file);
	assert_int_equal(fread(got, 1, sizeof got, stream), strlen(text));
	assert_string_equal(got, text);
	assert_int_equal(packed_file_close(file, "it", &error), 0);
}

/* The writer's end stays open: who waited for more than there is would wait for ever. */
static void first_bytes_are_there_at_once(void **state)
{
	char got[64] = "";
	struct packed_file *file;
	struct error error;
	FILE *stream;
	int ends[2];

	(void)state;
	make_pieces(ends);
	put(ends[1], text, strlen(text));
	file = packed_file_open(ends[0], &stream);
	assert_non_null(file);
	assert_non_null(fgets(got, sizeof got, stream));
	assert_string_equal(got, text);
	assert_int_equal(packed_file_close(file, "it", &error), 0);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(byte_by_byte_is_unpacked), cmocka_unit_test(first_bytes_are_there_at_once)};

	return cmocka_run_group_tests_name("formats.packed_file", tests, NULL, NULL);
}
