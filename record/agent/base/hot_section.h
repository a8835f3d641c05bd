/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_section.h - places the code and data that each sample uses side by side. Between samples the program
 * evicts them from the caches, so a sample costs the pages it touches, each a page table walk (two in a
 * virtual machine), and the cache lines. tests/bench/sample_pages.py counts them.
 */
#ifndef RECORD_AGENT_HOT_SECTION_H
#define RECORD_AGENT_HOT_SECTION_H

/* Functions. The linker collects this section of all files in one place. */
#define HOT __attribute__((hot))
#define HOT_SECTION ".text.hot"

/* Variables of the process. */
#define HOT_DATA __attribute__((section("hpct_hot")))

/* Put it into short copy loops, so that the compiler does not replace them by a call of libc. */
static inline void hot_loop(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif
