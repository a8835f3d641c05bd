/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - how every fallible function of hpct reports an error: it returns 0 or the negative code and
 * stores one sentence for the user (what, where, what to do). Only `main` prints it and exits with the code.
 */
#ifndef STORE_ERROR_H
#define STORE_ERROR_H

/* The exit codes of the readers (design: exit codes). */
enum error_code {
	ERROR_NONE = 0,
	ERROR_GATE = 1,	 /* a gate was hit */
	ERROR_USAGE = 2, /* wrong usage */
	ERROR_EMPTY = 3, /* no stream matched, or no monitored time in the window */
	ERROR_RUN = 4,	 /* the run is missing, damaged or too new */
	ERROR_IO = 5	 /* I/O or memory failure */
};

struct error {
	int code;
	char text[1024];
};

/* Fills `error` (which may be NULL) and returns -code. The text is cut to fit; control bytes
 * in it are replaced, since names from traced programs may be quoted. */
int error_set(struct error *error, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* error_set(ERROR_IO) for a failed allocation. */
int error_memory(struct error *error);

/* error_set(ERROR_IO) for an answer that could not be written completely to its file, pipe or terminal. */
int error_unwritten(struct error *error);

/* Advice for a place named with -o that cannot be created for `reason` (an errno): what to do, as words that
 * follow the reason in a sentence. */
const char *error_place(int reason);

/* The same for a run that cannot grow; "" without advice. */
const char *error_growth(int reason);

#ifdef __clang_analyzer__
/* clang-tidy sees one file at a time: this states what both return. */
static inline int error_code_of(int said, enum error_code code)
{
	(void)said;
	return -(int)code;
}
#define error_set(error, code, ...) error_code_of((error_set)(error, code, __VA_ARGS__), code)
#define error_memory(error) error_code_of((error_memory)(error), ERROR_IO)
#define error_unwritten(error) error_code_of((error_unwritten)(error), ERROR_IO)
#endif

/* Prints "PROGRAM: TEXT" on stderr; returns the exit code. For `main` alone. */
int error_report(const struct error *error, const char *program);

#endif
