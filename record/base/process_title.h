/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_title.h - what `ps` and `pkill -f` find our helpers by. They are forks of hpct-record, whose
 * command line names the program: who signals all that is called so means the program, not who records it.
 */
#ifndef RECORD_PROCESS_TITLE_H
#define RECORD_PROCESS_TITLE_H

/* Once, ahead of the others: argv as main got it. */
void process_title_init(char **argv);
/* The calling process is called `name`, cut where there is less room. What argv held is gone. */
void process_title_set(const char *name);
/* It is called as the program is: argv from `word` on. */
void process_title_keep(const char *word);

#endif
