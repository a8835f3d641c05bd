/* SPDX-License-Identifier: Apache-2.0 */
/* page_python.c - see page_text.h. A page can name lines of Python only if the interpreter was told to name
 * its functions; the hint says how. */
#include <string.h>

#include "blame/page/page_text.h"
#include "store/base/path.h"

#define LOOKED_AT 65536 /* contexts, the earliest: a program that runs Python for long does so there, too */
#define SEEN_LEAST 100	/* a hundredth of the checked ones: not just one script of a build */
#define INTERPRETER "_PyEval_EvalFrameDefault"
#define NAMED "py::"

static bool is_interpreter(const char *module)
{
	const char *base = path_base(module);

	return strncmp(base, "python", 6) == 0 || strncmp(base, "libpython", 9) == 0;
}

/* The name of its own frame, where that may be the interpreter's or a Python function's: those have no file
 * (generated, imported). Avoids other names, which are slow to find. NULL: neither. */
static const char *name_of(const struct run *run, uint32_t context)
{
	const char *module = "";
	uint64_t offset;
	uint32_t scope;

	if (run_context_place(run, context, &module, &offset) && module[0] == '/' && !is_interpreter(module))
		return NULL;
	scope = run_context(run, context)->scope;
	return scope == UINT32_MAX ? NULL : run_function(run, run_scope(run, scope)->function)->name;
}

size_t page_hint_python(const struct run *run, struct page_hint *hint)
{
	uint32_t count = run_context_count(run), seen = 0;

	if (count > LOOKED_AT)
		count = LOOKED_AT;
	for (uint32_t i = 1; i < count; i++) {
		const char *name = name_of(run, i);

		if (name && strncmp(name, NAMED, strlen(NAMED)) == 0)
			return 0;
		seen += name && strncmp(name, INTERPRETER, strlen(INTERPRETER)) == 0;
	}
	if (!seen || seen < count / SEEN_LEAST)
		return 0;
	*hint = (struct page_hint){"hpct-record ... python3 -X perf ...",
		"names Python's functions in call paths (Python 3.12 and later)"};
	return 1;
}
