/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_function.c - cuts a demangled name to the part that is equal in all builds and all instances of a
 * template. One pass, with no grammar beyond brackets.
 */
#include "timeline/run/run_function.h"

#include <stdbool.h>
#include <string.h>

#include "store/base/hash.h"

#define KEY_BYTES 1024u /* longer names differ early enough */

struct cutter {
	const char *name;
	size_t size, at;
	char *key;
	size_t used, capacity;
};

static void put(struct cutter *c, size_t count)
{
	for (; count && c->at < c->size; count--, c->at++)
		if (c->used < c->capacity)
			c->key[c->used++] = c->name[c->at];
}

static bool next_is(const struct cutter *c, const char *word)
{
	size_t size = strlen(word);

	return size <= c->size - c->at && !memcmp(c->name + c->at, word, size);
}

static bool is_word(char b)
{
	return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '_';
}

/* "operator<<" and its like: the brackets are the name. */
static bool put_operator(struct cutter *c)
{
	static const char *const symbols[] = {
		"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"};

	if (!next_is(c, "operator") || (c->at && is_word(c->name[c->at - 1])))
		return false;
	put(c, strlen("operator"));
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		if (next_is(c, symbols[i])) {
			put(c, strlen(symbols[i]));
			break;
		}
	return true;
}

/* From an opening bracket past the one that closes it. */
static void skip_brackets(struct cutter *c, char open, char close)
{
	size_t depth = 0;

	for (; c->at < c->size; c->at++) {
		char b = c->name[c->at];

		if (b == open)
			depth++;
		if (b == close && !(c->at && c->name[c->at - 1] == '-') && !--depth) {
			c->at++;
			return;
		}
	}
}

/* "{lambda(int)#1}": kept as it is. */
static void put_braces(struct cutter *c)
{
	size_t from = c->at, to;

	skip_brackets(c, '{', '}');
	to = c->at;
	c->at = from;
	put(c, to - from);
}

/* A '<' that begins a part of the name is no template argument: <program root>, <T as Trait>::f. */
static bool begins_part(const struct cutter *c)
{
	return !c->at || (c->at >= 2 && c->name[c->at - 1] == ':' && c->name[c->at - 2] == ':');
}

static bool at_clone_suffix(const struct cutter *c)
{
	static const char *const suffixes[] = {
		".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", " [clone "};

	if (c->name[c->at] != '.' && c->name[c->at] != ' ') /* asked of each byte */
		return false;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (c->at && next_is(c, suffixes[i]))
			return true;
	return false;
}

/* Rust ends names in "::h" and 16 hexadecimal digits. */
static size_t without_hash(const char *name, size_t size)
{
	static const char digits[16] = "0123456789abcdef";
	const size_t hash = 3 + sizeof digits;

	if (size <= hash || memcmp(name + size - hash, "::h", 3) != 0)
		return size;
	for (size_t i = size - 16; i < size; i++)
		if (!memchr(digits, name[i], sizeof digits))
			return size;
	return size - hash;
}

size_t run_function_key(const char *name, size_t name_bytes, char *key, size_t key_bytes)
{
	struct cutter c = {name, without_hash(name, name_bytes), 0, key, 0, key_bytes};

	while (c.at < c.size && !at_clone_suffix(&c)) {
		char b = name[c.at];

		if (b == 'o' && put_operator(&c))
			continue;
		if (b == '{')
			put_braces(&c);
		else if (b == '<' && begins_part(&c))
			put(&c, 1);
		else if (b == '<')
			skip_brackets(&c, '<', '>');
		else if (b == '(' && next_is(&c, "(anonymous namespace)"))
			put(&c, strlen("(anonymous namespace)"));
		else if (b == '(' && c.at)
			break;
		else
			put(&c, 1);
	}
	while (c.used && key[c.used - 1] == ' ')
		c.used--;
	return c.used;
}

uint64_t run_function_hash(const char *name, size_t name_bytes)
{
	char key[KEY_BYTES];

	return store_hash64(key, run_function_key(name, name_bytes, key, sizeof key), 0);
}
