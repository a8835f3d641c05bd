/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_title.h - names our helper processes for `ps` and `pkill -f`. They are forks of hpct-record, whose
 * command line contains the program's name: `pkill NAME` must reach the program, not the recorder.
 */
#ifndef RECORD_PROCESS_TITLE_H
#define RECORD_PROCESS_TITLE_H

/* Call once, before the others, with main's argv. */
void process_title_init(char **argv);
/* Names the calling process `name`, truncated to the space of argv. Overwrites argv. */
void process_title_set(const char *name);
/* Names it as the program: argv from `word` on. */
void process_title_keep(const char *word);

#endif
