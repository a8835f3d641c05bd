/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_section.h - what each sample runs and reads. A program has used the caches for itself since the last
 * one: what a sample then costs is the pages that it touches, each a walk through page tables (two of them in
 * a virtual machine), and the lines. So they lie side by side; tests/bench/sample_pages.py counts them.
 */
#ifndef RECORD_AGENT_HOT_SECTION_H
#define RECORD_AGENT_HOT_SECTION_H

/* Functions. The linker puts this section of all files in one place. */
#define HOT __attribute__((hot))
#define HOT_SECTION ".text.hot"

/* Variables of the process. */
#define HOT_DATA __attribute__((section("hpct_hot")))

/* In a loop that moves a thing or two: the compiler makes no call of libc of it. */
static inline void hot_loop(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif
