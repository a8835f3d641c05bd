/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_shell_word.c - any text, as a word of a command line, is that text again to a shell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/seed.h"
#include "timeline/base/shell_word.h"

#define ROUNDS 60
#define WORD_BYTES 600

/* What bash takes a word for; it gets nothing else to run. */
static void assert_is_to_bash(const char *word, const char *text)
{
	char command[WORD_BYTES + 32], got[256] = "";
	FILE *shell;
	int pipes[2];
	pid_t child;

	snprintf(command, sizeof(command), "printf %%s %s", word);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		execlp("bash", "bash", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	shell = fdopen(pipes[0], "r");
	assert_non_null(shell);
	got[fread(got, 1, sizeof(got) - 1, shell)] = '\0';
	fclose(shell);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_string_equal(got, text);
}

static void assert_shown(const char *word)
{
	for (; *word; word++)
		assert_true((unsigned char)*word >= 0x20 && *word != 0x7f);
}

static void test_forms(void **unused)
{
	char word[64];

	(void)unused;
	assert_string_equal(shell_word(word, sizeof(word), "runs/a.hpct"), "runs/a.hpct");
	assert_string_equal(shell_word(word, sizeof(word), ""), "''");
	assert_string_equal(shell_word(word, sizeof(word), "f<int>(float*)"), "'f<int>(float*)'");
	assert_string_equal(shell_word(word, sizeof(word), "a'; reboot; '"), "'a'\\''; reboot; '\\'''");
	assert_string_equal(shell_word(word, sizeof(word), "a\n'$x\\"), "$'a\\012\\'$x\\\\'");
	assert_string_equal(shell_word(word, sizeof(word), "gr\xc3\xbc\xc3\x9f"), "'gr\xc3\xbc\xc3\x9f'");
	assert_string_equal(shell_word(word, sizeof(word),
				    "\xc2\x9b"
				    "1m"),
		"$'\\302\\2331m'");
}

/* Cut between characters, and the quote is closed. */
static void test_cut(void **unused)
{
	char word[8];

	(void)unused;
	assert_string_equal(shell_word(word, sizeof(word), "aaaaaaaaa"), "'aaaaa'");
	assert_string_equal(shell_word(word, sizeof(word), "a'''''"), "'a'\\'''");
	assert_string_equal(shell_word(word, sizeof(word), "\n\n\n"), "$'\\012'");
}

/* Of the bytes that shells and terminals know, and of any. */
static void test_random(void **unused)
{
	static const char special[] = "'\"\\$`!*?[]{}()<>|&;#~= \t\n\r\x1b\x7f\x9b"
				      "ax0";
	uint64_t seed = seed_take("unit.timeline.shell_word", 11);

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		char text[64], word[WORD_BYTES];
		size_t length = seed_next(&seed) % (sizeof(text) - 1);

		for (size_t i = 0; i < length; i++)
			text[i] = (char)(seed_next(&seed) % 3
						 ? special[seed_next(&seed) % (sizeof(special) - 1)]
						 : (char)(1 + seed_next(&seed) % 255));
		text[length] = '\0';
		shell_word(word, sizeof(word), text);
		assert_shown(word);
		assert_is_to_bash(word, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
