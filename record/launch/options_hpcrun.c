/* SPDX-License-Identifier: Apache-2.0 */
/* options_hpcrun.c - see options_hpcrun.h. */
#include "record/launch/options_hpcrun.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *options_hpcrun_long(char *word)
{
	/* Not const: getopt takes its words as argv has them. */
	static struct {
		const char *letters;
		char name[20];
	} words[] = {{"-mp", "--memleak-prob"}, {"-ms", "--memsize"}, {"-lm", "--low-memsize"},
		{"-ck", "--control-knob"}, {"-dd", "--dynamic-debug"}, {"-ds", "--delay-sampling"},
		{"-fp", "--process-fraction"}};

	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].letters))
			return words[i].name;
	return word;
}

#define MEMORY \
	" has no effect: the rings of hpct have one size each, and what does not fit is counted as lost"
#define KNOB                                                                                                \
	" has no effect: hpct sizes its buffers and GPU threads itself; man hpct-record lists what can be " \
	"set"
#define DEBUG " has no effect: hpct-record has no debug output; hpct-doctor says what can be measured here"
#define WAIT " has no effect: attach with gdb -p; hpct leaves a debugged program's signals alone"
#define AUDITOR " has no effect: hpct reads the loader's own list of modules and never uses LD_AUDIT"
#define REWRITING " has no effect: hpct uses no LD_AUDIT and rewrites no table of the program"
#define NAMESPACE " has no effect: hpct leaves dlmopen alone"

static const char *const sentences[OPTIONS_HPCRUN_COUNT] = {
	[OPTIONS_HPCRUN_MEMSIZE] = "--memsize" MEMORY,
	[OPTIONS_HPCRUN_LOW_MEMSIZE] = "--low-memsize" MEMORY,
	[OPTIONS_HPCRUN_CONTROL_KNOB] = "--control-knob" KNOB,
	[OPTIONS_HPCRUN_DYNAMIC_DEBUG] = "--dynamic-debug" DEBUG,
	[OPTIONS_HPCRUN_DEBUG] = "--debug" WAIT,
	[OPTIONS_HPCRUN_DISABLE_AUDITOR] = "--disable-auditor" AUDITOR,
	[OPTIONS_HPCRUN_ENABLE_AUDITOR] = "--enable-auditor" AUDITOR,
	[OPTIONS_HPCRUN_DISABLE_AUDITOR_GOT_REWRITING] = "--disable-auditor-got-rewriting" REWRITING,
	[OPTIONS_HPCRUN_NAMESPACE_SINGLE] = "--namespace-single" NAMESPACE,
	[OPTIONS_HPCRUN_NAMESPACE_MULTIPLE] = "--namespace-multiple" NAMESPACE,
};

const char *options_hpcrun_sentence(enum options_hpcrun option)
{
	return sentences[option];
}

const char *options_hpcrun_variable(unsigned *at)
{
	static const struct {
		const char *name, *sentence;
	} variables[] = {{"HPCRUN_MEMSIZE", "HPCRUN_MEMSIZE" MEMORY},
		{"HPCRUN_LOW_MEMSIZE", "HPCRUN_LOW_MEMSIZE" MEMORY},
		{"HPCRUN_CONTROL_KNOBS", "HPCRUN_CONTROL_KNOBS" KNOB},
		{"HPCRUN_DEBUG_FLAGS", "HPCRUN_DEBUG_FLAGS" DEBUG}, {"HPCRUN_WAIT", "HPCRUN_WAIT" WAIT},
		{"HPCRUN_AUDIT_FAKE_AUDITOR", "HPCRUN_AUDIT_FAKE_AUDITOR" AUDITOR},
		{"HPCRUN_AUDIT_DISABLE_PLT_CALL_OPT", "HPCRUN_AUDIT_DISABLE_PLT_CALL_OPT" REWRITING}};

	while (*at < sizeof(variables) / sizeof(variables[0])) {
		unsigned i = (*at)++;
		const char *value = getenv(variables[i].name);

		if (value && *value)
			return variables[i].sentence;
	}
	return NULL;
}

const char options_hpcrun_controlled[] =
	"@0: no timer; from a debugger, call hpct_start() and hpct_stop() where SIGPROF was raised";

bool options_hpcrun_is_controlled(const char *event)
{
	return !strcasecmp(event, "REALTIME@0");
}
