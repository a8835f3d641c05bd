/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_otf2.c - libFuzzer: archives of OTF2, hpct-import --from otf2. libotf2 itself forgets memory of
 * archives that it cannot open; what it asks for at once has an end here, as on any machine.
 */
#include "tests/fuzz/directory_fuzz.h"

static const char *const names[] = {
	"traces.otf2", "traces.def", "traces/0.def", "traces/0.evt", "traces/1.def", "traces/1.evt"};

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2\n";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=4096";
}

DIRECTORY_FUZZ(format_otf2, names, "traces");
