/* SPDX-License-Identifier: Apache-2.0 */
/* capstone.c - see capstone.h. */
#include "timeline/code/capstone.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef HPCT_OPENS_NOTHING

/* Of 8 MB, so that hpct-names alone is linked with it: what it found while recording the run keeps. */
#pragma weak cs_open
#pragma weak cs_close
#pragma weak cs_option
#pragma weak cs_malloc
#pragma weak cs_free
#pragma weak cs_disasm_iter
#pragma weak cs_regs_access

const struct capstone *capstone_load(void)
{
	static const struct capstone linked = {
		cs_open, cs_close, cs_option, cs_malloc, cs_free, cs_disasm_iter, cs_regs_access};

	return cs_open ? &linked : NULL;
}

#else

#define TEXT_OF(word) #word
#define LIBRARY(major) "libcapstone.so." TEXT_OF(major)

static struct capstone capstone;

static const struct {
	const char *name;
	void **place;
} functions[] = {
	{"cs_open", (void **)&capstone.open},
	{"cs_close", (void **)&capstone.close},
	{"cs_option", (void **)&capstone.option},
	{"cs_malloc", (void **)&capstone.malloc},
	{"cs_free", (void **)&capstone.free},
	{"cs_disasm_iter", (void **)&capstone.disasm_iter},
	{"cs_regs_access", (void **)&capstone.regs_access},
};

const struct capstone *capstone_load(void)
{
	static bool is_tried, is_here;
	void *library;

	if (is_tried)
		return is_here ? &capstone : NULL;
	is_tried = true;
	library = dlopen(LIBRARY(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
	is_here = library != NULL;
	for (size_t i = 0; is_here && i < sizeof functions / sizeof *functions; i++) {
		*functions[i].place = dlsym(library, functions[i].name);
		is_here = *functions[i].place != NULL;
	}
	return is_here ? &capstone : NULL;
}

#endif
