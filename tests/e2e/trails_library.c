/* SPDX-License-Identifier: Apache-2.0 */
/* trails_library.c - two libraries alike to the byte but for the name of a function: see trails.c. */

static __attribute__((noinline, noclone, noipa)) void NAME(void (*back)(const char *))
{
	back(TEXT " near");
	__asm__ volatile("");
}

__attribute__((visibility("default"))) void call(void (*back)(const char *));

void call(void (*back)(const char *))
{
	NAME(back);
	__asm__ volatile("");
}
