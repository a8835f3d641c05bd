/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - text without what is private in it: names of hosts and users, directories, addresses of servers.
 * A path outside the system's own directories becomes .../NAME, the home directory ~, the current one ".",
 * this host HOST, this user USER, a URL SCHEME://... . It shortens too much rather than too little: each word
 * with a slash counts as a path.
 */
#ifndef RECORD_REDACT_H
#define RECORD_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "store/base/bytes.h"

#define REDACT_WORDS 64u

/* All-zero knows no names. */
struct redact {
	struct redact_word {
		char *from;
		const char *to; /* static */
	} words[REDACT_WORDS];	/* whole words; the first that fits counts */
	unsigned count;
	bool failed; /* a name was not taken: the text must not be given away */
};

/* `from`, of `size` bytes, is to read as `to`: a longer one before a shorter one. Passed over: "" and "/",
 * and what is public: root, localhost. */
void redact_add(struct redact *redact, const char *from, size_t size, const char *to);
void redact_fini(struct redact *redact);

/* Appends text, redacted. Returns 0, or -ERROR_IO without memory and when a name was not taken. */
int redact_text(const struct redact *redact, const char *text, size_t size, struct store_bytes *out);

#endif
