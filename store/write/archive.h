/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive.h - compresses a finished store, or a snapshot of a live one, into a smaller file for keeping
 * (archive_pages.h). Every value is the same byte for byte; readers accept both, writers do not extend an
 * archive.
 */
#ifndef STORE_ARCHIVE_H
#define STORE_ARCHIVE_H

#include "store/base/error.h"

#define STORE_ARCHIVE_SUFFIX ".mdz"
#define STORE_ARCHIVE_MAKING \
	".tmp" /* suffix of the temporary copy that the archive is made from, as large as the store */

/* Reads and checks the whole store `from` and writes it to `to`, which must not exist; meanwhile
 * STORE_ARCHIVE_MAKING and its lock file are beside it. ERROR_RUN: damaged. */
int store_archive(const char *from, const char *to, struct error *error);

/* Copies the last commit of a store of our own, finished or not, to `to`, replacing what is there, or not at
 * all. For the process that writes it, and its children. */
int store_copy(const char *from, const char *to, struct error *error);

#endif
