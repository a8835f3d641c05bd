/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cxx_name.h - a function's name as demanglers print it, taken apart: qualified parts, each with its
 * template arguments. Return type and parameters are left out. Pure functions of text.
 *
 *   void a::b<int>::c<char, 4>(long) const   ->   a | b <int> | c <char, 4>
 */
#ifndef TUI_CXX_NAME_H
#define TUI_CXX_NAME_H

#include <stddef.h>

#define CXX_NAME_PARTS 48
#define CXX_NAME_BYTES 2048 /* of a name that is tidied, with its NUL */

/* `text` up to its template arguments, `arguments` with their brackets; NULL: it has none. */
struct cxx_name_part {
	const char *text, *arguments;
	size_t text_bytes, arguments_bytes;
};

struct cxx_name {
	struct cxx_name_part part[CXX_NAME_PARTS];
	size_t count; /* at least one */
};

/* Takes away, in place, what compilers add to a name and a reader does not need: hashes, the signature of a
 * lambda. `room` are the bytes there are at `name`, at most CXX_NAME_BYTES. */
void cxx_name_tidy(char *name, size_t room);

/* The parts point into `name`. A placeholder (<unknown>) or a name that is not C++ is one part; those beyond
 * CXX_NAME_PARTS are left out but for the last. */
void cxx_name_parse(struct cxx_name *parts, const char *name);
/* The part with which the own name begins: constructors and destructors keep their class. */
size_t cxx_name_own(const struct cxx_name *parts);
/* Bytes of the first of a part's arguments, which begins behind the bracket. */
size_t cxx_name_first_argument(const struct cxx_name_part *part);

#endif
