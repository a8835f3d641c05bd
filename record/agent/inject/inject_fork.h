/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_fork.h - the agent's thread and forks of the program. A fork child has the loader's lock as it was
 * at the fork: if the agent's thread had it, nobody gives it back there. So forks wait for that thread, and
 * it for them.
 *
 *   agent's thread   inject_fork_enter - looks at the loader's lists - inject_fork_leave
 *   fork             waits until nobody is between the two, 20 ms at most
 */
#ifndef RECORD_AGENT_INJECT_FORK_H
#define RECORD_AGENT_INJECT_FORK_H

/* Once per process; allocates. */
void inject_fork_init(void);

/* From the agent's thread only; waits for forks. */
void inject_fork_enter(void);
void inject_fork_leave(void);

#endif
