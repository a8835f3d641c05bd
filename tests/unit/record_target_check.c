/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_target_check.c - what a program is before it is started: crafted ELF headers and scripts, and the
 * exit codes and sentences for what cannot run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/launch/target_check.h"
#include "tests/unit/seed.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define MACHINE EM_AARCH64
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

static char directory[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/hpct-target.XXXXXX");
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

static void file_write(const char *path, const void *bytes, size_t size, mode_t mode)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void script_write(const char *path, const char *text)
{
	file_write(path, text, strlen(text), 0755);
}

/* An ELF file whose program headers lie at `headers_at` and whose interpreter's name at `name_at`. */
struct elf_plan {
	uint8_t elf_class;
	uint16_t machine;
	const char *interpreter; /* NULL: none */
	size_t headers_at, name_at;
};

static const struct elf_plan plain = {ELFCLASS64, MACHINE, LOADER, 64, 256};

static void elf_write(const char *path, struct elf_plan plan, mode_t mode)
{
	static unsigned char file[65536];
	Elf64_Ehdr *elf = (void *)file;
	Elf64_Phdr *segment = (void *)(file + plan.headers_at);

	memset(file, 0, sizeof(file));
	memcpy(elf->e_ident, ELFMAG, SELFMAG);
	elf->e_ident[EI_CLASS] = plan.elf_class;
	elf->e_ident[EI_DATA] = ELFDATA2LSB;
	elf->e_type = ET_DYN;
	elf->e_machine = plan.machine;
	elf->e_phoff = plan.headers_at;
	elf->e_phentsize = sizeof(*segment);
	elf->e_phnum = 2;
	segment[0].p_type = PT_LOAD;
	segment[1].p_type = plan.interpreter ? PT_INTERP : PT_NOTE;
	segment[1].p_offset = plan.name_at;
	if (plan.interpreter) {
		segment[1].p_filesz = strlen(plan.interpreter) + 1;
		strcpy((char *)file + plan.name_at, plan.interpreter);
	}
	file_write(path, file, sizeof(file), mode);
}

static struct target_check found(const char *program)
{
	struct target_check target;
	struct error error = {0};
	int rc = target_check(&target, program, &error);

	if (rc)
		fail_msg("%s: %d %s", program, rc, error.text);
	return target;
}

/* `word` stands in the reason; NULL: it can be measured. */
static void expect_reason(const char *program, const char *word, bool breaks_preload)
{
	struct target_check target = found(program);

	if (!word)
		assert_null(target.unmeasurable);
	else if (!target.unmeasurable || !strstr(target.unmeasurable, word))
		fail_msg("%s: '%s' is not said in '%s'", program, word,
			target.unmeasurable ? target.unmeasurable : "(measurable)");
	assert_int_equal(target.breaks_preload, breaks_preload);
}

static void expect_refusal(const char *program, int code)
{
	struct target_check target;
	struct error error = {0};

	assert_int_equal(target_check(&target, program, &error), code);
	assert_string_not_equal(error.text, "");
}

static void test_dynamic_programs_are_measured(void **state)
{
	struct elf_plan plan = plain;

	(void)state;
	elf_write("dynamic", plan, 0755);
	expect_reason("./dynamic", NULL, false);
	/* Tools that patch binaries move both behind the code. */
	plan.headers_at = 40000;
	plan.name_at = 50000;
	elf_write("patched", plan, 0755);
	expect_reason("./patched", NULL, false);
	expect_reason("/bin/sh", NULL, false);
	plan = plain;
	plan.interpreter = "/nix/store/glibc-2.38/lib/"
			   "ld-linux-x86-64.so.2";
	elf_write("elsewhere", plan, 0755);
	expect_reason("./elsewhere", NULL, false);
}

static void test_others_are_not(void **state)
{
	struct elf_plan plan = plain;

	(void)state;
	plan.interpreter = NULL;
	elf_write("static", plan, 0755);
	expect_reason("./static", "static", false);
	plan.interpreter = "/lib/ld-musl-x86_64.so.1";
	elf_write("musl", plan, 0755);
	expect_reason("./musl", "musl", true);
	plan.interpreter = "/system/bin/linker64";
	elf_write("bionic", plan, 0755);
	expect_reason("./bionic", "glibc", true);
	plan = plain;
	plan.elf_class = ELFCLASS32;
	elf_write("old", plan, 0755);
	expect_reason("./old", "32-bit", true);
	plan = plain;
	plan.machine = EM_RISCV;
	elf_write("riscv", plan, 0755);
	expect_reason("./riscv", "processor", true);
}

static void test_privileged_programs_are_not(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* giving a file to another user takes root */
	elf_write("setuid", plain, 0755);
	assert_int_equal(chown("setuid", 1, 1), 0);
	assert_int_equal(chmod("setuid", 04755), 0);
	expect_reason("./setuid", "privileges", false);
	assert_int_equal(chmod("setuid", 02755), 0);
	expect_reason("./setuid", "privileges", false);
	/* One's own is no gain. */
	assert_int_equal(chown("setuid", 0, 0), 0);
	assert_int_equal(chmod("setuid", 06755), 0);
	expect_reason("./setuid", NULL, false);
}

static void test_a_script_is_its_interpreter(void **state)
{
	struct elf_plan plan = plain;
	char text[128];

	(void)state;
	script_write("one", "#!/bin/sh -e\nexit 0\n");
	expect_reason("./one", NULL, false);
	assert_string_equal(found("./one").binary, "/bin/sh");
	snprintf(text, sizeof(text), "#! %s/one\n", directory);
	script_write("two", text);
	expect_reason("./two", NULL, false);
	assert_string_equal(found("./two").binary, "/bin/sh");
	plan.interpreter = NULL;
	elf_write("static", plan, 0755);
	snprintf(text, sizeof(text), "#!%s/static", directory);
	script_write("three", text);
	expect_reason("./three", "static", false);
	/* It never ends, and the kernel will say so. */
	snprintf(text, sizeof(text), "#!%s/self\n", directory);
	script_write("self", text);
	found("./self");
	script_write("words", "echo no interpreter is named\n");
	expect_reason("./words", NULL, false);
	script_write("empty", "");
	found("./empty");
	script_write("bare", "#!");
	found("./bare");
}

static void test_damaged_headers_are_survived(void **state)
{
	static unsigned char file[512];
	Elf64_Ehdr *elf = (void *)file;

	(void)state;
	srand((unsigned)seed_take(__func__, 7));
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(file); i++)
			file[i] = (unsigned char)rand();
		memcpy(elf->e_ident, ELFMAG, SELFMAG);
		elf->e_ident[EI_CLASS] = ELFCLASS64;
		elf->e_machine = MACHINE;
		if (round % 2)
			elf->e_phoff = (uint64_t)rand() % 600;
		if (round % 3 == 0)
			((Elf64_Phdr *)(file + 64))->p_type = PT_INTERP;
		file_write("random", file, (size_t)rand() % sizeof(file), 0755);
		found("./random");
	}
}

static void test_what_cannot_run_is_refused(void **state)
{
	(void)state;
	expect_refusal("./missing", 127);
	expect_refusal("no-program-of-this-name", 127);
	expect_refusal("", 127);
	assert_int_equal(mkdir("folder", 0755), 0);
	expect_refusal("./folder", 126);
	file_write("text", "text", 4, 0644);
	expect_refusal("./text", 126);
	expect_refusal("./text/below", 127);
}

static void test_the_path_is_searched_as_a_shell_does(void **state)
{
	char path[256];
	const char *before = getenv("PATH");
	char *kept = strdup(before ? before : "");

	(void)state;
	assert_int_equal(mkdir("a", 0755), 0);
	assert_int_equal(mkdir("b", 0755), 0);
	assert_int_equal(mkdir("a/tool", 0755), 0); /* a directory is passed over */
	elf_write("b/tool", plain, 0755);
	file_write("a/plain", "x", 1, 0644);
	elf_write("here", plain, 0755);
	snprintf(path, sizeof(path), "/nonexistent:%s/a::%s/b", directory, directory);
	setenv("PATH", path, 1);
	snprintf(path, sizeof(path), "%s/b/tool", directory);
	assert_string_equal(found("tool").path, path);
	assert_null(found("here").unmeasurable); /* the empty element */
	expect_refusal("plain", 126);
	expect_refusal("absent", 127);
	setenv("PATH", kept, 1);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dynamic_programs_are_measured, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others_are_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_privileged_programs_are_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_script_is_its_interpreter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_headers_are_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_cannot_run_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_path_is_searched_as_a_shell_does, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
