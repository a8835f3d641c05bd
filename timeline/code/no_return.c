/* SPDX-License-Identifier: Apache-2.0 */
/* no_return.c - see no_return.h. */
#include "timeline/code/no_return.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/debug/symbols.h"

static const char *const names[] = {"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail",
	"__assert", "__assert_perror_fail", "__stack_chk_fail", "__chk_fail", "__fortify_fail", "longjmp",
	"_longjmp", "siglongjmp", "__longjmp_chk", "pthread_exit", "err", "errx", "verr", "verrx",
	"__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid",
	"__cxa_throw_bad_array_new_length", "__cxa_throw_bad_array_length", "__cxa_pure_virtual",
	"__cxa_call_unexpected", "_Unwind_Resume", "__clang_call_terminate", "_ZSt9terminatev",
	"_gfortran_runtime_error", "_gfortran_runtime_error_at", "_gfortran_os_error",
	"_gfortran_os_error_at", "_gfortran_stop_string", "_gfortran_stop_numeric",
	"_gfortran_error_stop_string", "_gfortran_error_stop_numeric", "_gfortran_abort", "_gfortran_exit_i4",
	"_gfortran_exit_i8", "MPI_Abort"};
/* What Rust's panics are called however they are mangled. */
static const char *const panics[] = {"4core9panicking", "panic_bounds_check", "rust_panic", "unwrap_failed",
	"expect_failed", "handle_alloc_error", "begin_panic", "slice_start_index_len_fail",
	"slice_end_index_len_fail", "slice_index_order_fail"};

/* Libraries of C++ have some 100 000 names, none of which need be held to all of the above: mangled as Rust
 * does, of old they end in a hash. */
static bool is_rust(const char *name)
{
	return name[1] == 'R' || !strncmp(name, "__rust", 6) || strstr(name, "17h");
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name[0] == names[i][0] && name[1] == names[i][1] && !strcmp(name, names[i]))
			return true;
	if (name[0] != '_')
		return false;
	if (strstr(name, "__throw_")) /* C++'s std::__throw_... */
		return true;
	if (!is_rust(name))
		return false;
	for (size_t i = 0; i < sizeof panics / sizeof *panics; i++)
		if (strstr(name, panics[i]))
			return true;
	return false;
}

static bool place_add(struct no_return *known, uint64_t place)
{
	if (!array_widen(&known->places, &known->capacity, known->count, sizeof *known->places))
		return false;
	known->places[known->count++] = place;
	return true;
}

static bool add_symbols(struct no_return *known, const GElf_Shdr *header, Elf_Data *data)
{
	size_t count = header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF || !symbol.st_value)
			continue;
		name = elf_strptr(known->elf, header->sh_link, symbol.st_name);
		if (name && is_known(name) && !place_add(known, symbol.st_value))
			return false;
	}
	return true;
}

static bool add_pointers(struct no_return *known, const GElf_Shdr *header, Elf_Data *data)
{
	size_t count = header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	Elf_Scn *section = elf_getscn(known->elf, header->sh_link);
	Elf_Data *symbols = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr symbols_header;

	if (!symbols || !gelf_getshdr(section, &symbols_header))
		return true;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getrela(data, (int)i, &relocation) || !GELF_R_SYM(relocation.r_info) ||
			!gelf_getsym(symbols, (int)(GELF_R_SYM(relocation.r_info) & INT32_MAX), &symbol))
			continue;
		name = elf_strptr(known->elf, symbols_header.sh_link, symbol.st_name);
		if (name && is_known(name) && !place_add(known, relocation.r_offset))
			return false;
	}
	return true;
}

static int place_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

int no_return_init(struct no_return *known, Elf *elf, unsigned machine)
{
	Elf_Scn *section = NULL;
	bool ok = true;

	*known = (struct no_return){.elf = elf, .machine = machine};
	while (ok && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM &&
			!(header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(section, NULL);
		if (data && header.sh_type == SHT_RELA)
			ok = add_pointers(known, &header, data);
		else if (data)
			ok = add_symbols(known, &header, data);
	}
	if (known->count)
		qsort(known->places, known->count, sizeof *known->places, place_compare);
	return ok ? 0 : -1;
}

void no_return_fini(struct no_return *known)
{
	free(known->places);
	*known = (struct no_return){0};
}

/* ---- one call ---- */

static bool has(const struct no_return *known, uint64_t place)
{
	return place && known->count &&
	       bsearch(&place, known->places, known->count, sizeof place, place_compare);
}

/* The pointer that a PLT entry at `target` jumps through; 0: it is none. */
static uint64_t plt_slot(const struct no_return *known, uint64_t target)
{
	const uint8_t *code = elf_image(known->elf, target, 16);
	uint32_t words[2];
	size_t at = 0;
	int32_t operand;

	if (!code)
		return 0;
	if (known->machine == EM_AARCH64) { /* adrp x16, page; ldr x17, [x16, #offset] */
		int64_t pages;

		memcpy(words, code, sizeof words);
		if ((words[0] & 0x9f00001f) != 0x90000010 || (words[1] & 0xffc003ff) != 0xf9400211)
			return 0;
		pages = (int64_t)((words[0] >> 5 & 0x7ffff) << 2 | (words[0] >> 29 & 3));
		pages = (pages ^ 0x100000) - 0x100000;
		return (target & ~(uint64_t)0xfff) + (uint64_t)pages * 4096 + (words[1] >> 10 & 0xfff) * 8;
	}
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	at += code[at] == 0xf2;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&operand, code + at + 2, sizeof operand);
	return target + at + 6 + (uint64_t)(int64_t)operand;
}

bool no_return_comes_back(const struct no_return *known, uint64_t target, uint64_t slot)
{
	if (!known->count)
		return true;
	if (has(known, slot))
		return false;
	return !target || (!has(known, target) && !has(known, plt_slot(known, target)));
}
