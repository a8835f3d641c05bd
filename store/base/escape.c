/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.c - the escapes in every field that a reader prints and hpct-import reads. The inverse is strict,
 * so that a damaged file is reported, not guessed at.
 */
#include "store/base/escape.h"

#include "store/base/utf8.h"

/* The letter behind a control byte's backslash; 0: \xHH. */
static char escape_letter(unsigned char c)
{
	switch (c) {
	case '\t':
		return 't';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	default:
		return 0;
	}
}

static void put_control(struct store_bytes *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char letter = escape_letter(c);

	if (letter)
		store_bytes_put(out, (char[2]){'\\', letter}, 2);
	else
		store_bytes_put(out, (char[4]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
}

/* Steps over what is no control character of one byte: a letter, a whole character, a byte that is none. */
static size_t plain_length(const unsigned char *at, size_t size)
{
	size_t length = at[0] < 0x80 ? 1 : store_utf8_length(at, size);

	return length ? length : 1;
}

/* How many printable bytes of ASCII stand at the begin, none of them special: most texts have no others. */
static size_t ascii_length(const unsigned char *at, size_t size, const char special[3])
{
	size_t i = 0;

	while (i < size && at[i] >= 0x20 && at[i] < 0x7f && at[i] != (unsigned char)special[0] &&
		at[i] != (unsigned char)special[1] && at[i] != (unsigned char)special[2])
		i++;
	return i;
}

/* Stretches without anything special are copied at once. A backslash protects the `special` bytes, up to the
 * first that is 0. */
static void put_escaped(struct store_bytes *out, const char *bytes, size_t size, const char special[3])
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t done = 0, i = 0;

	while ((i += ascii_length(at + i, size - i, special)) < size) {
		size_t control = store_utf8_control_length(at + i, size - i);
		bool protect = !control &&
			       (bytes[i] == special[0] || bytes[i] == special[1] || bytes[i] == special[2]);

		if (!control && !protect) {
			i += plain_length(at + i, size - i);
			continue;
		}
		store_bytes_put(out, bytes + done, i - done);
		if (protect)
			store_bytes_put(out, (char[2]){'\\', bytes[i]}, 2);
		for (size_t c = 0; c < control; c++)
			put_control(out, at[i + c]);
		done = i += protect ? 1 : control;
	}
	store_bytes_put(out, bytes + done, size - done);
}

void escape_field(struct store_bytes *out, const char *bytes, size_t size)
{
	put_escaped(out, bytes, size, (const char[3]){'\\'});
}

void escape_frame(struct store_bytes *out, const char *bytes, size_t size)
{
	put_escaped(out, bytes, size, (const char[3]){'\\', ';'});
}

void escape_attribute(struct store_bytes *out, const char *bytes, size_t size)
{
	put_escaped(out, bytes, size, (const char[3]){'\\', ',', '='});
}

void escape_composed(struct store_bytes *out, const char *bytes, size_t size)
{
	put_escaped(out, bytes, size, (const char[3]){0});
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes the escape at `at` (behind its backslash); bytes taken, 0 when it is none. */
static size_t undo_one(const char *at, size_t size, char *out)
{
	int high, low;

	if (size == 0)
		return 0;
	switch (at[0]) {
	case 't':
		*out = '\t';
		return 1;
	case 'n':
		*out = '\n';
		return 1;
	case 'r':
		*out = '\r';
		return 1;
	case '\\':
	case ';':
	case ',':
	case '=':
		*out = at[0];
		return 1;
	case 'x':
		high = size < 3 ? -1 : hex_digit(at[1]);
		low = size < 3 ? -1 : hex_digit(at[2]);
		if (high < 0 || low < 0)
			return 0;
		*out = (char)(high * 16 + low);
		return 3;
	default:
		return 0;
	}
}

/* The control character that stands behind the backslash as escape_composed() writes it, of *count bytes; how
 * long it stands there, 0: none does. */
static size_t undo_control(const char *at, size_t size, char out[2], size_t *count)
{
	struct store_bytes escape = {0};
	size_t taken = undo_one(at, size, out), more = 0;
	bool is_right;

	if (taken == 0)
		return 0;
	if ((unsigned char)out[0] == 0xc2 && size > taken && at[taken] == '\\')
		more = undo_one(at + taken + 1, size - taken - 1, out + 1);
	taken += more ? more + 1 : 0;
	*count = more ? 2 : 1;
	escape_composed(&escape, out, *count);
	is_right = !escape.failed && escape.size == taken + 1 && memcmp(escape.data + 1, at, taken) == 0;
	store_bytes_fini(&escape);
	return is_right ? taken : 0;
}

void escape_composed_undo(struct store_bytes *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool is_escape = text[i] == '\\' && i + 1 < size;
		size_t taken, count;
		char bytes[2];

		taken = is_escape ? undo_control(text + i + 1, size - i - 1, bytes, &count) : 0;
		if (taken > 0) {
			store_bytes_put(out, bytes, count);
			i += taken;
			continue;
		}
		/* another escape is kept with what it protects */
		store_bytes_put(out, text + i, 1 + is_escape);
		i += is_escape;
	}
}

bool escape_undo(struct store_bytes *out, const char *field, size_t size)
{
	size_t i = 0;

	while (i < size) {
		const char *backslash = memchr(field + i, '\\', size - i);
		size_t end = backslash ? (size_t)(backslash - field) : size, taken;
		char c;

		store_bytes_put(out, field + i, end - i);
		if (end == size)
			break;
		taken = undo_one(field + end + 1, size - end - 1, &c);
		if (taken == 0)
			return false;
		store_bytes_put(out, &c, 1);
		i = end + 1 + taken;
	}
	return true;
}

static const char *xml_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	default:
		return NULL;
	}
}

/* U+FFFE and U+FFFF, which XML does not take. */
static bool is_noncharacter(const unsigned char *at, size_t length)
{
	return length == 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

void escape_xml(struct store_bytes *out, const char *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;

	for (size_t i = 0; i < size;) {
		size_t length = store_utf8_length(at + i, size - i);
		const char *entity = xml_entity(bytes[i]);

		if (!length || store_utf8_control_length(at + i, size - i) || is_noncharacter(at + i, length))
			store_bytes_put(out, "?", 1);
		else if (entity)
			store_bytes_put(out, entity, strlen(entity));
		else
			store_bytes_put(out, bytes + i, length);
		i += length ? length : 1;
	}
}
