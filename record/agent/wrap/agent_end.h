/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_end.h - writes the last record of a measured process: at exit, before an exec, and before a seccomp
 * filter that would kill it for a call of the agent. Any thread, also a signal handler that calls _exit.
 */
#ifndef RECORD_AGENT_AGENT_END_H
#define RECORD_AGENT_AGENT_END_H

/* Writes the last records of the calling thread and of the process; once, until agent_resume(). */
void agent_end(void);
/* The exec, or the filter, has failed: continues measuring. */
void agent_resume(void);
/* A process begins, also a fork child: resets the end. */
void agent_begins(void);
/* agent_end() in exit(): does not flush GPU runtimes, which may be torn down. */
void agent_exits(void);

#endif
