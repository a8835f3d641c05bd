/* SPDX-License-Identifier: Apache-2.0 */
/* record_redact.c - what hpct-doctor --report leaves of names and paths. */
#include "record/doctor/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect(const struct redact *redact, const char *text, const char *want)
{
	struct store_bytes out = {0};

	assert_int_equal(redact_text(redact, text, strlen(text), &out), 0);
	store_bytes_put(&out, "", 1);
	assert_string_equal((char *)out.data, want);
	store_bytes_fini(&out);
}

static int somebody(void **state)
{
	static struct redact redact;

	redact_add(&redact, "/home/anna/My Secret", strlen("/home/anna/My Secret"), ".");
	redact_add(&redact, "/home/anna", strlen("/home/anna"), "~");
	redact_add(&redact, "node17.site.org", strlen("node17.site.org"), "HOST");
	redact_add(&redact, "node17", strlen("node17"), "HOST");
	redact_add(&redact, "anna", strlen("anna"), "USER");
	*state = &redact;
	return 0;
}

static int nobody(void **state)
{
	redact_fini(*state);
	return 0;
}

static void test_names(void **state)
{
	struct redact *redact = *state;

	expect(redact, "node17 node17.site.org: anna's", "HOST HOST: USER's");
	expect(redact, "store node17-0a1b.mdb", "store HOST-0a1b.mdb");
	expect(redact, "hannah node171 x_anna anna_x", "hannah node171 x_anna anna_x");
	expect(redact, "user=anna,host=node17", "user=USER,host=HOST");
}

static void test_paths(void **state)
{
	struct redact *redact = *state;

	expect(redact, "/home/anna", "~");
	expect(redact, "/home/anna/a.out", "~/a.out");
	expect(redact, "/home/anna/project/x/a.out: no", "~/.../a.out: no");
	expect(redact, "'/home/anna/My Secret/run.hpct'", "'./run.hpct'");
	expect(redact, "/home/annabel/x/y", ".../y");
	expect(redact, "/home/carl", "...");
	expect(redact, "/scratch/carl/code/sim.x --in", ".../sim.x --in");
	expect(redact, "LD_PRELOAD=/opt/a/b.so:/gpfs/u/c.so", "LD_PRELOAD=.../b.so:.../c.so");
	expect(redact, "project/plan/run.hpct/", ".../run.hpct");
	expect(redact, "/work/node17/anna", ".../USER");
	expect(redact, "/dev/shm/carl/x", ".../x");
}

static void test_public(void **state)
{
	struct redact *redact = *state;

	expect(redact, "/usr/lib/x.so /proc/sys/kernel/x /dev/nvidia0 /etc/a/b",
		"/usr/lib/x.so /proc/sys/kernel/x /dev/nvidia0 /etc/a/b");
	expect(redact, "1/10 of /tmp, / and /dev/shm", "1/10 of /tmp, / and /dev/shm");
	expect(redact, "no slash here: 5.4.0-1\n\tx\n", "no slash here: 5.4.0-1\n\tx\n");
	expect(redact, "/usr/share/anna/x", "/usr/share/USER/x");
	expect(redact, "/proc/sys/node17/x, Debian GNU/Linux", "/proc/sys/node17/x, Debian GNU/Linux");
}

static void test_servers(void **state)
{
	struct redact *redact = *state;

	expect(redact, "at https://files.site.org/x?y=1 too", "at https://... too");
	expect(redact, "see http://u:p@h/, and", "see http://... and");
}

/* Names that everybody has say nothing, and to replace them would hide what is meant. */
static void test_common(void **state)
{
	struct redact redact = {.count = 0};

	(void)state;
	redact_add(&redact, "root", strlen("root"), "USER");
	redact_add(&redact, "/", strlen("/"), "~");
	redact_add(&redact, "", strlen(""), "HOST");
	redact_add(&redact, "localhost", strlen("localhost"), "HOST");
	assert_int_equal(redact.count, 0);
	expect(&redact, "root / localhost", "root / localhost");
	expect(&redact, "", "");
}

/* A text is not given away with a name that could not be taken. */
static void test_full(void **state)
{
	struct redact redact = {.count = 0};
	struct store_bytes out = {0};

	(void)state;
	for (unsigned i = 0; i <= REDACT_WORDS; i++) {
		assert_int_equal(redact_text(&redact, "x", 1, &out), 0);
		redact_add(&redact, "name", 4, "NAME");
	}
	assert_int_not_equal(redact_text(&redact, "x", 1, &out), 0);
	store_bytes_fini(&out);
	redact_fini(&redact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_public), cmocka_unit_test(test_servers), cmocka_unit_test(test_common),
		cmocka_unit_test(test_full)};

	return cmocka_run_group_tests(tests, somebody, nobody);
}
