/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_image.h - what has to be known of a process before one of its threads can be made to load the agent:
 * where its loader's functions are, and whether a thread stands where it holds no lock of libc's.
 */
#ifndef RECORD_INJECT_IMAGE_H
#define RECORD_INJECT_IMAGE_H

#include "record/agent/unwind/unwind.h"
#include "record/modules/remote_unwind_modules.h"
#include "store/base/error.h"

#define INJECT_ALLOCATORS_MAX 512u

struct inject_range {
	uint64_t begin, end;
};

/* Addresses are those of the process. */
struct inject_image {
	uint32_t pid;
	uint64_t program; /* proc_read_program() */
	struct remote_unwind_modules modules;
	struct unwinder *unwinder;
	uint64_t load;	      /* dlopen */
	uint64_t restore;     /* the code that ends a signal handler: rt_sigreturn */
	int64_t error_offset; /* of errno, from the thread's pointer */
	uint64_t locks;	      /* the loader's two; 0: not known */
	bool has_allocator;   /* the program brings its own, which may have threads inside under any name */
	struct inject_range allocators[INJECT_ALLOCATORS_MAX];
	unsigned allocator_count;
	uint8_t stack[64 * 1024]; /* what was read of the stack that is walked */
};

/* 0, or ERROR_USAGE with the reason: it has no dynamic loader of GNU libc's, or one that is not known.
 * `name`: of the process, for the sentence. */
int inject_image_open(struct inject_image *image, uint32_t pid, const char *name, struct error *error);
void inject_image_close(struct inject_image *image);

/* The process executes another program than the one whose addresses these are. */
bool inject_image_is_stale(const struct inject_image *image);
/* With a thread stopped: the same, and with the same modules where its frames are, which inject_image_is_safe
 * has just walked; else they are read anew. 0, or an errno: ESTALE, or EAGAIN where only modules are new. */
int inject_image_verify(struct inject_image *image);

/* Nobody holds the loader's locks, as far as that can be told. */
bool inject_image_loader_is_free(const struct inject_image *image);

/* A stopped thread with these registers may call dlopen: no frame of its stack is in the loader or an
 * allocator; none is in libc, but those that began the stack and, if it is in a call of the kernel (`call`,
 * its number, else negative) that waits, those of that call. */
bool inject_image_is_safe(struct inject_image *image, const struct arch_registers *registers, long call);

/* Such a call. */
bool inject_image_waits(long call);

/* Address of a name that the library exports, which is mapped from that path; 0: none. */
uint64_t inject_image_find(struct inject_image *image, const char *path, const char *name);

#endif
