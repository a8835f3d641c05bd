/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - demangles function names: C++, Rust, Fortran.
 */
#ifndef TIMELINE_DEMANGLE_H
#define TIMELINE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Longest result, with its NUL. A symbol that would need more stays mangled. */
#define DEMANGLE_MAX 16384u

/*
 * Writes the qualified name with template arguments, without parameters, return type and the suffixes of
 * compiler-made copies (.constprop.0, .isra.1, .part.2, .cold, .lto_priv.3, .llvm.4); Fortran's __m_MOD_f
 * becomes m::f, and a Rust hash is removed. An outlined body keeps its suffix (._omp_fn.0), because it is
 * another function. True when `symbol` was a mangled name; otherwise `name` is the symbol without suffixes.
 * Takes any bytes; memory is bounded for hostile symbols. Thread-safe.
 */
bool demangle_symbol(const char *symbol, char *name, size_t name_bytes);

#endif
