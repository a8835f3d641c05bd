/* SPDX-License-Identifier: Apache-2.0 */
/* nested.h - hpct-record inside a recording: the inner one takes over. */
#ifndef RECORD_NESTED_H
#define RECORD_NESTED_H

/* If this process carries the agent of another recording, starts it once more without, with the same
 * arguments; the programs it starts are then recorded by it alone. Returns if there is none, or if that
 * fails. Call first. */
void nested_leave(char **argv);

#endif
