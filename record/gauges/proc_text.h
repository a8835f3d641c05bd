/* SPDX-License-Identifier: Apache-2.0 */
/* proc_text.h - files of /proc and /sys that are read again and again: kept open, read whole, numbers taken
 * out. */
#ifndef RECORD_PROC_TEXT_H
#define RECORD_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROC_TEXT_PATH 512u

/* A file that stays open; all-zero is not opened yet. */
struct proc_file {
	int fd; /* plus 1; 0: not opened; -1: cannot be */
};

/* The file's text into `text` (NUL-terminated), opened on first use and then kept. False: it cannot be read,
 * and is not tried again. */
bool proc_file_read(struct proc_file *file, const char *root, const char *path, char *text, size_t room);
void proc_file_close(struct proc_file *file);
/* The same without keeping it open. */
bool proc_text_read(const char *root, const char *path, char *text, size_t room);
/* The only number of a small file. */
bool proc_number_read(const char *root, const char *path, uint64_t *number);

/* The number behind `label` at a line's begin, which may be the text's; false: none. */
bool proc_text_number(const char *text, const char *label, uint64_t *number);
/* The next number at or after *at, which then stands behind it; false: none in this line. */
bool proc_text_next(const char **at, uint64_t *number);

#endif
