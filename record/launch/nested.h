/* SPDX-License-Identifier: Apache-2.0 */
/* nested.h - hpct-record inside a recording: the inner one takes over. */
#ifndef RECORD_NESTED_H
#define RECORD_NESTED_H

/* If this process carries the agent of another recording, executes it again without the agent, with the
 * same arguments, so that only the inner hpct-record measures the programs it starts. Returns if there is
 * no agent or exec fails. Call first in main. */
void nested_leave(char **argv);

#endif
