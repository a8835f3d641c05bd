/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_file.h - opens the file that a process has mapped as one of its modules: at its path as the process
 * sees it, or, where another file stands there by now or none, the mapping itself or a copy of it.
 */
#ifndef RECORD_MODULE_FILE_H
#define RECORD_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/modules/build_id.h"
#include "store/ring/ring.h"

/* What is known of a mapped module. */
struct module_file {
	uint32_t pid; /* as /proc here has it */
	const char *path;
	bool is_executable;
	uint64_t begin;		  /* where its first byte is mapped */
	struct build_id build_id; /* size 0: it has none */
	uint64_t content_hash;	  /* see store/ring/module_content.h; 0: none was taken */
};

/* A descriptor of it, the caller's. -1: neither a file that can be reached is the one that is mapped, nor can
 * the memory be read. */
int module_file_open(const struct module_file *file);
/* Closes it. */
void module_file_close(int fd);

/* The path says nothing elsewhere, being that of a descriptor (of a memfd, for one) or relative: what the
 * kernel calls the mapping, "/memfd:NAME" for a memfd. false: the path is good, or the mapping is gone. */
bool module_file_name(const struct module_file *file, char *name, size_t bytes);

#endif
