/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_end.h - the last record of a measured process: at its exit, ahead of an exec, and where a seccomp
 * filter would end it for a call of the agent's. From any thread, also in a signal handler that calls _exit.
 */
#ifndef RECORD_AGENT_AGENT_END_H
#define RECORD_AGENT_AGENT_END_H

/* Writes the last record of the calling thread and of the process; once, until agent_resume(). */
void agent_end(void);
/* The exec, or the filter, has failed: the process is measured on. */
void agent_resume(void);
/* A process begins, also a fork child: it has not ended yet. */
void agent_begins(void);
/* agent_end() by exit(): GPU runtimes are not flushed, they may be torn down. */
void agent_exits(void);

#endif
