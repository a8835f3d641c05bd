/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_function.h - the key of a function, equal in every view, run and machine (screens: Context to colour):
 * its qualified name without template arguments, parameters, clone suffixes and hashes.
 */
#ifndef TIMELINE_RUN_FUNCTION_H
#define TIMELINE_RUN_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

/* Writes at most `key_bytes` bytes of the key, without a NUL; returns their number. Takes any bytes. */
size_t run_function_key(const char *name, size_t name_bytes, char *key, size_t key_bytes);
uint64_t run_function_hash(const char *name, size_t name_bytes);

#endif
