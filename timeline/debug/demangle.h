/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - a linker's spelling of a function to the one people know: C++, Rust, Fortran.
 */
#ifndef TIMELINE_DEMANGLE_H
#define TIMELINE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Longest result, its NUL included. A symbol that would need more stays as it is. */
#define DEMANGLE_MAX 16384u

/*
 * Writes the qualified name with template arguments, without parameters, return type and the suffixes that
 * compilers add to copies of a function (.constprop.0, .isra.1, .part.2, .cold, .lto_priv.3, .llvm.4);
 * Fortran's __m_MOD_f becomes m::f, and a Rust hash goes. An outlined body keeps its mark (._omp_fn.0), since
 * it is another function. True when `symbol` was a mangled name; otherwise `name` holds the symbol without
 * suffixes. Takes any bytes; never allocates in proportion to what a hostile symbol expands to. Any thread.
 */
bool demangle_symbol(const char *symbol, char *name, size_t name_bytes);

#endif
