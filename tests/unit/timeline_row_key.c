/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_row_key.c - which function of a path is a script's. The others of these keys are held by the
 * statistics. */
#include "tests/unit/timeline_small_run.h"

#include "timeline/run/row_key.h"

static void test_scripts(void **unused)
{
	static const struct {
		const char *path, *script, *at_depth_2;
		bool has;
	} cases[] = {
		{"main;eval", "eval", "eval", false},
		{"main;py::f:/x/y.py;eval;malloc", "py::f:/x/y.py", "py::f:/x/y.py", true},
		{"main;py::f:y.py;eval;py::g:z.py;eval", "py::g:z.py", "py::f:y.py", true},
		{"main;eval;py::g:z.py;eval", "py::g:z.py", "eval", true},
		{"main;py::buffer;free", "free", "py::buffer", false}, /* C++ has such a namespace, too */
	};
	struct small_run small;

	(void)unused;
	small_begin(&small);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		small_path(small.writer, cases[i].path);
	small_cpu(small.writer, 0, 0, 100);
	small_ready(&small);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t context = 0;

		for (uint32_t c = 1; c < run_context_count(small.run) && !context; c++) {
			struct store_bytes path = {0};

			assert_true(row_key_put(&path, small.run, c, ROW_KEY_PATH, UINT32_MAX));
			if (path.size == strlen(cases[i].path) &&
				!memcmp(path.data, cases[i].path, path.size))
				context = c;
			store_bytes_fini(&path);
		}
		assert_int_not_equal(context, 0);
		assert_int_equal(row_key_has_script(small.run, context), cases[i].has);
		for (int cut = 0; cut < 2; cut++) {
			const char *wanted = cut ? cases[i].at_depth_2 : cases[i].script;
			struct store_bytes key = {0};

			assert_true(
				row_key_put(&key, small.run, context, ROW_KEY_SCRIPT, cut ? 2 : UINT32_MAX));
			assert_int_equal(key.size, strlen(wanted));
			assert_memory_equal(key.data, wanted, key.size);
			store_bytes_fini(&key);
		}
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_scripts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
