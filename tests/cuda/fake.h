/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - what the program of e2e.gpu.cuda and its CUPTI say to each other besides CUPTI's own functions. */
#ifndef TESTS_CUDA_FAKE_H
#define TESTS_CUDA_FAKE_H

#include <stdlib.h>
#include <string.h>

/* The number behind a word of FAKE_CUPTI, 1 where it has none; without the word `otherwise`. */
static inline long word(const char *key, long otherwise)
{
	const char *text = getenv("FAKE_CUPTI"), *at = text ? strstr(text, key) : NULL;

	if (!at)
		return otherwise;
	at += strlen(key);
	return *at == '=' ? strtol(at + 1, NULL, 0) : 1;
}

/* A driver call of that name, from its begin to its return; a launch leaves the record of a kernel. */
typedef void fake_cupti_call(const char *name, const char *kernel);

/* Samples of the GPU's counters that were read so far; ULONG_MAX once sampling was refused. */
typedef unsigned long fake_cupti_samples(void);

#endif
