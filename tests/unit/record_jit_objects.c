/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_jit_objects.c - tests of record/modules/jit_objects.h and elf_symbols.h: this very process registers
 * objects for a debugger, and is read as another would be: found by its symbol, each object once, and nothing
 * of a damaged one.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/modules/elf_symbols.h"
#include "record/modules/jit_objects.h"

#define NAMES "\0first\0second\0data"

struct entry {
	struct entry *next, *previous;
	const void *object;
	uint64_t bytes;
};

/* Of the interface: its name and form are given. */
struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, NULL, NULL}; /* NOLINT(bugprone-reserved-identifier) */

/* An object with two functions and a variable. */
struct object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4]; /* none, code, symbols, their names */
	Elf64_Sym symbols[4];
	char names[sizeof(NAMES)];
};

static struct object objects[3];
static struct entry entries[3];
static struct jit_objects read_so_far;
static char got[512];

static void take(void *own, const struct jit_dump_code *code)
{
	size_t used = strlen(got);

	(void)own;
	snprintf(got + used, sizeof(got) - used, "%llx+%llx %.*s;", (unsigned long long)code->begin,
		(unsigned long long)code->size, (int)code->name_bytes, code->name);
}

static const char *look(void)
{
	got[0] = '\0';
	jit_objects_read(&read_so_far, (uint32_t)getpid(), 1, take, NULL);
	return got;
}

static Elf64_Sym symbol(uint32_t name, unsigned char type, uint16_t section, uint64_t value, uint64_t bytes)
{
	return (Elf64_Sym){.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = section,
		.st_value = value,
		.st_size = bytes};
}

static void object_make(struct object *to, uint64_t code)
{
	*to = (struct object){.names = NAMES};
	memcpy(to->header.e_ident, ELFMAG, SELFMAG);
	to->header.e_ident[EI_CLASS] = ELFCLASS64;
	to->header.e_ident[EI_DATA] = ELFDATA2LSB;
	to->header.e_type = ET_REL;
	to->header.e_shoff = offsetof(struct object, sections);
	to->header.e_shentsize = sizeof(Elf64_Shdr);
	to->header.e_shnum = 4;
	to->sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = code, .sh_size = 0x100};
	to->sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct object, symbols),
		.sh_size = sizeof(to->symbols),
		.sh_link = 3};
	to->sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct object, names),
		.sh_size = sizeof(to->names)};
	to->symbols[1] = symbol(1, STT_FUNC, 1, 0, 0x20);
	to->symbols[2] = symbol(7, STT_FUNC, 1, 0x20, 0x40);
	to->symbols[3] = symbol(14, STT_OBJECT, 1, 0x60, 8);
}

static void put(unsigned number, uint64_t code)
{
	struct entry *entry = &entries[number];

	object_make(&objects[number], code);
	*entry = (struct entry){.next = __jit_debug_descriptor.first,
		.object = &objects[number],
		.bytes = sizeof(struct object)};
	__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = entry;
}

static int set_up(void **state)
{
	(void)state;
	jit_objects_fini(&read_so_far);
	__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = NULL;
	return 0;
}

static void takes_each_object_once(void **state)
{
	(void)state;
	assert_string_equal(look(), "");
	assert_int_equal(read_so_far.descriptor_count, 1);
	assert_ptr_equal(read_so_far.descriptors[0].address, &__jit_debug_descriptor);
	put(0, 0x10000);
	put(1, 0x20000);
	assert_string_equal(look(), "20000+20 first;20020+40 second;10000+20 first;10020+40 second;");
	assert_string_equal(look(), "");
	put(2, 0x30000);
	assert_string_equal(look(), "30000+20 first;30020+40 second;");
	__jit_debug_descriptor.first = &entries[1]; /* unregistered */
	assert_string_equal(look(), "");
	put(2, 0x30000);
	memcpy(objects[2].names + 1, "third", 5); /* another one in the same place */
	__jit_debug_descriptor.relevant = NULL;
	assert_string_equal(look(), "30000+20 third;30020+40 second;");
}

static void survives_damage(void **state)
{
	(void)state;
	put(0, 0x10000);
	entries[0].next = (struct entry *)8; /* unreadable */
	assert_string_equal(look(), "10000+20 first;10020+40 second;");
	entries[0].next = &entries[0]; /* a ring */
	put(1, 0x20000);
	objects[1].sections[2].sh_size = UINT64_MAX;
	assert_string_equal(look(), "");
	put(1, 0x20000);
	objects[1].sections[2].sh_link = 9;
	assert_string_equal(look(), "");
	set_up(state);
	put(1, 0x20000);
	objects[1].symbols[1].st_name = 1000;
	objects[1].symbols[2].st_shndx = 999; /* its address is not known: as it says */
	assert_string_equal(look(), "20+40 second;");
	set_up(state);
	put(1, 0x20000);
	objects[1].header.e_shoff = UINT64_MAX - 8;
	assert_string_equal(look(), "");
	set_up(state);
	put(1, 0x20000);
	objects[1].sections[3].sh_offset = UINT64_MAX - 4;
	assert_string_equal(look(), "");
	set_up(state);
	put(1, 0x20000);
	entries[1].bytes = 80; /* cut short */
	assert_string_equal(look(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_each_object_once, set_up),
		cmocka_unit_test_setup(survives_damage, set_up),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	jit_objects_fini(&read_so_far);
	return failed;
}
