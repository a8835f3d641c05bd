/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.h - a finished store, or a moment of one that is written, as a smaller file for keeping
 * (archive_pages.h). Every value is the same byte for byte; readers take both alike, writers do not go on
 * with an archive.
 */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include "store/base/error.h"

#define STORE_ARCHIVE_SUFFIX ".mdz"
#define STORE_ARCHIVE_MAKING                                                           \
	".tmp" /* behind the archive's name: what it is made of, as large as the store \
		*/

/* Reads and checks all of the store `from` and writes it to `to`, which must not be there; for the while,
 * STORE_ARCHIVE_MAKING and its lock lie beside it. ERROR_RUN: it is damaged. */
int store_archive(const char *from, const char *to, struct error *error);

/* The last commit of a store of our own, finished or not, as the store `to`, whole or not at all and in place
 * of what is there. For the process that writes it, and for its children. */
int store_copy(const char *from, const char *to, struct error *error);

#endif
