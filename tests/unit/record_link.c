/* SPDX-License-Identifier: Apache-2.0 */
/* record_link.c - what hpct-link adds, and where; which commands are linkers; what notes are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <unistd.h>

#include "record/launch/link.h"

static char directory[64], agent[128];

static int set_up(void **state)
{
	char path[160];

	(void)state;
	strcpy(directory, "/tmp/hpct-link.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(agent, sizeof(agent), "%s/hpct-agent.so", directory);
	snprintf(path, sizeof(path), "%s/libhpct-agent.a", directory);
	fclose(fopen(path, "w"));
	return 0;
}

static int tear_down(void **state)
{
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s/libhpct-agent.a", directory);
	unlink(path);
	return rmdir(directory);
}

static void test_linkers_are_known_by_name(void **state)
{
	(void)state;
	assert_true(link_is_linker("ld"));
	assert_true(link_is_linker("/usr/bin/ld.bfd"));
	assert_true(link_is_linker("aarch64-linux-gnu-ld"));
	assert_true(link_is_linker("x86_64-linux-gnu-ld.gold"));
	assert_false(link_is_linker("gcc"));
	assert_false(link_is_linker("build"));
	assert_false(link_is_linker("/opt/ld/gcc"));
	assert_false(link_is_linker("d"));
	assert_false(link_is_linker(""));
}

static void test_output(void **state)
{
	(void)state;
	assert_string_equal(link_output((char *[]){"gcc", "a.c", NULL}), "a.out");
	assert_string_equal(link_output((char *[]){"gcc", "-o", "x", "a.c", NULL}), "x");
	assert_string_equal(link_output((char *[]){"ld", "a.o", "-oy", NULL}), "y");
	assert_string_equal(link_output((char *[]){"ld", "--output=z", NULL}), "z");
	assert_string_equal(link_output((char *[]){"gcc", "-o", NULL}), "a.out");
}

static size_t place_of(char **words, const char *wanted)
{
	for (size_t i = 0; words[i]; i++)
		if (!strcmp(words[i], wanted))
			return i;
	return SIZE_MAX;
}

/* A compiler's libraries come behind the agent, a linker's where they are. Each word that was given is there.
 */
static void test_command(void **state)
{
	char *command[] = {"gcc", "-static", "a.o", NULL}, archive[160];
	struct error error;
	char **words = link_command(command, agent, false, false, &error);
	size_t at;

	(void)state;
	snprintf(archive, sizeof(archive), "%s/libhpct-agent.a", directory);
	assert_non_null(words);
	assert_string_equal(words[0], "gcc");
	assert_string_equal(words[2], "a.o");
	at = place_of(words, archive);
	assert_true(at > 3 && at != SIZE_MAX);
	assert_string_equal(words[at - 1], "-Xlinker");
	assert_true(place_of(words, "-Wl,--wrap=read") < at);
	assert_int_equal(place_of(words, "-Wl,--wrap=malloc"), SIZE_MAX);
	free(words);

	command[0] = "ld";
	words = link_command(command, agent, false, true, &error);
	assert_non_null(words);
	at = place_of(words, "a.o");
	assert_true(place_of(words, archive) < at);
	assert_true(place_of(words, "--wrap=read") < at);
	assert_null(words[at + 1]);
	free(words);
	assert_null(link_command(command, agent, true, true, &error)); /* no such archive */
	assert_non_null(strstr(error.text, "memleak"));
}

static int file_of(const void *bytes, size_t size)
{
	FILE *file = tmpfile();

	fwrite(bytes, 1, size, file);
	fflush(file);
	return fileno(file); /* closed as the test ends */
}

/* Notes of others ahead of ours, lengths that lead out of the file. */
static void test_notes(void **state)
{
	struct {
		Elf64_Ehdr elf;
		Elf64_Phdr segment;
		struct {
			Elf64_Nhdr head;
			char name[4], data[20];
		} other;
		struct elf_note_record note;
	} file = {.elf = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
			  .e_type = ET_EXEC,
			  .e_entry = 1,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1},
		.segment = {.p_type = PT_NOTE,
			.p_align = 4,
			.p_filesz = sizeof(file.other) + sizeof(file.note)},
		.other = {.head = {4, 20, NT_GNU_BUILD_ID}, .name = "GNU"},
		.note = {sizeof(ELF_NOTE_NAME), sizeof(struct elf_note), ELF_NOTE_TYPE, ELF_NOTE_NAME,
			{7, 3}}};
	struct elf_note inside;

	(void)state;
	file.segment.p_offset = offsetof(__typeof__(file), other);
	assert_int_equal(link_look(file_of(&file, sizeof(file)), &inside), LINK_WITH_AGENT);
	assert_int_equal(inside.version, 7);
	assert_int_equal(inside.flags, 3);
	assert_int_equal(link_look(file_of(&file, sizeof(file) - 1), &inside), LINK_WITHOUT_AGENT);
	file.other.head.n_descsz = UINT32_MAX - 8;
	assert_int_equal(link_look(file_of(&file, sizeof(file)), &inside), LINK_WITHOUT_AGENT);
	file.other.head.n_descsz = 20;
	file.note.name[0] = 'H';
	assert_int_equal(link_look(file_of(&file, sizeof(file)), &inside), LINK_WITHOUT_AGENT);
	file.segment.p_type = PT_INTERP;
	assert_int_equal(link_look(file_of(&file, sizeof(file)), &inside), LINK_DYNAMIC);
	file.elf.e_type = ET_REL;
	assert_int_equal(link_look(file_of(&file, sizeof(file)), &inside), LINK_NO_PROGRAM);
	assert_int_equal(link_look(file_of("#!", 2), &inside), LINK_NO_PROGRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linkers_are_known_by_name),
		cmocka_unit_test(test_output),
		cmocka_unit_test_setup_teardown(test_command, set_up, tear_down),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
