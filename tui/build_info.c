/* SPDX-License-Identifier: Apache-2.0 */
/* build_info.c - see build_info.h. CMakeLists.txt says the options, build_commit.cmake the commit of each
 * build. */
#include "tui/build_info.h"

#include "store/file/file.h"
#include "tui/build_commit.h"
#include "tui/build_options.h"

#if defined(HPCT_OPENS_NOTHING)
#define C_LIBRARY "any C library"
#elif defined(HPCT_PORTABLE)
#define C_LIBRARY "glibc 2.28 and later"
#else
#define STRING_OF(word) #word
#define STRING(word) STRING_OF(word)
#define C_LIBRARY "glibc " STRING(__GLIBC__) "." STRING(__GLIBC_MINOR__)
#endif

static void line_put(FILE *out, const char *word, const char *text)
{
	fprintf(out, "%-9s %s\n", word, *text ? text : "-");
}

void build_info_print(FILE *out)
{
	line_put(out, "commit", HPCT_COMMIT);
	line_put(out, "built", BUILD_OPTIONS " for " C_LIBRARY);
	line_put(out, "with", BUILD_WITH);
	line_put(out, "without", BUILD_WITHOUT);
	fprintf(out, "%-9s writes runs of format %u.%u, reads %s to %u.%u\n", "formats", STORE_FORMAT_MAJOR,
		STORE_FORMAT_MINOR, STORE_FORMAT_OLDEST, STORE_FORMAT_MAJOR, STORE_FORMAT_MINOR);
}
