/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c - demangles with libiberty under a size limit: it prints piecewise into a buffer, and a longjmp
 * aborts a name that grows beyond the limit (a few bytes of input can stand for gigabytes).
 */
#include "timeline/debug/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Longest symbol given to the demangler. Above libiberty's own limit of about 1024 bytes its recursion limit
 * must be lifted; at this length the recursion still takes less than 2 MiB of stack. */
#define SYMBOL_MAX 8192u
#define SYMBOL_LIMITED_MAX 1000u

struct output {
	char *bytes;
	size_t size, capacity;
	jmp_buf *full;
};

static void output_add(const char *bytes, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size >= output->capacity - output->size)
		longjmp(*output->full, 1);
	memcpy(output->bytes + output->size, bytes, size);
	output->size += size;
}

static bool demangle_limited(const char *symbol, bool rust, struct output *output)
{
	const int options = DMGL_ANSI | (strlen(symbol) > SYMBOL_LIMITED_MAX ? DMGL_NO_RECURSE_LIMIT : 0);
	jmp_buf full;
	int done;

	output->full = &full;
	output->size = 0;
	if (_setjmp(full)) {
		output->full = NULL;
		return false;
	}
	if (rust)
		done = rust_demangle_callback(symbol, options, output_add, output);
	else
		done = cplus_demangle_v3_callback(symbol, options, output_add, output);
	output->bytes[output->size] = '\0';
	output->full = NULL;
	return done && output->size > 0;
}

/* Compilers' marks on a copy or a piece of a function. Without the number that follows most, a name is a
 * function's: Go's runtime.clone. */
static const struct {
	const char *text;
	bool has_number;
} clone_marks[] = {{"constprop", true}, {"isra", true}, {"part", true}, {"cold", false}, {"lto_priv", true},
	{"llvm", true}, {"clone", true}, {"localalias", false}};

static bool suffix_is_clone(const char *part, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < sizeof clone_marks / sizeof *clone_marks; i++)
		if (strlen(clone_marks[i].text) == size && !memcmp(part, clone_marks[i].text, size))
			return !clone_marks[i].has_number ||
			       (part[size] == '.' && isdigit((unsigned char)part[size + 1]));
	while (digits < size && isdigit((unsigned char)part[digits]))
		digits++;
	return size > 0 && digits == size;
}

/* Splits SYMBOL[.suffix]... : copies the bare symbol to `bare`, the suffixes that stay to `kept`. The number
 * after a mark goes or stays with its mark; so does a number alone (Fortran's inner procedures): it goes. */
static bool symbol_split(const char *symbol, char *bare, size_t bare_bytes, char *kept, size_t kept_bytes)
{
	const char *dot = strchr(symbol[0] ? symbol + 1 : symbol, '.');
	size_t size = dot ? (size_t)(dot - symbol) : strlen(symbol), kept_size = 0;
	bool keeps = false;

	if (size >= bare_bytes)
		return false;
	memcpy(bare, symbol, size);
	bare[size] = '\0';
	while (dot) {
		const char *part = dot + 1, *next = strchr(part, '.');
		size_t part_size = next ? (size_t)(next - part) : strlen(part);
		bool number = part_size > 0 && strspn(part, "0123456789") >= part_size;

		keeps = number ? keeps : !suffix_is_clone(part, part_size);
		if (keeps) {
			if (part_size + 2 > kept_bytes - kept_size)
				return false;
			memcpy(kept + kept_size, dot, part_size + 1);
			kept_size += part_size + 1;
		}
		dot = next;
	}
	kept[kept_size] = '\0';
	return true;
}

/* __MODULE_MOD_PROCEDURE, as gfortran writes it. */
static bool demangle_fortran(const char *symbol, struct output *output)
{
	const char *mark = strstr(symbol, "_MOD_");
	size_t module, procedure;

	if (strncmp(symbol, "__", 2) || !mark || mark <= symbol + 2 || !mark[5])
		return false;
	module = (size_t)(mark - symbol) - 2;
	procedure = strlen(mark + 5);
	if (module + 2 + procedure >= output->capacity)
		return false;
	memcpy(output->bytes, symbol + 2, module);
	memcpy(output->bytes + module, "::", 2);
	memcpy(output->bytes + module + 2, mark + 5, procedure + 1);
	output->size = module + 2 + procedure;
	return true;
}

static bool demangle_bare(const char *bare, struct output *output)
{
	if (!strncmp(bare, "_Z", 2))
		return demangle_limited(bare, false, output);
	return demangle_fortran(bare, output);
}

static void name_copy(char *name, size_t name_bytes, const char *text)
{
	size_t size = strnlen(text, name_bytes - 1);

	memcpy(name, text, size);
	name[size] = '\0';
}

bool demangle_symbol(const char *symbol, char *name, size_t name_bytes)
{
	char bare[SYMBOL_MAX], kept[256];
	struct output output = {name, 0, name_bytes, NULL};
	size_t kept_size;
	bool mangled;

	/* Rust's own demangler knows the dots inside its names and the suffixes after them. */
	if ((!strncmp(symbol, "_R", 2) || !strncmp(symbol, "_ZN", 3)) && strlen(symbol) < SYMBOL_MAX &&
		demangle_limited(symbol, true, &output))
		return true;
	if (!symbol_split(symbol, bare, sizeof bare, kept, sizeof kept)) {
		name_copy(name, name_bytes, symbol);
		return false;
	}
	mangled = demangle_bare(bare, &output);
	if (!mangled) {
		name_copy(name, name_bytes, bare);
		output.size = strlen(name);
	}
	kept_size = strlen(kept);
	if (kept_size < name_bytes - output.size)
		memcpy(name + output.size, kept, kept_size + 1);
	return mangled;
}
