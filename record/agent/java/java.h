/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.h - names of compiled Java methods (hpct-record --java). A thread of the agent waits until a Java
 * virtual machine has started in this process, asks it by JVMTI to tell what it compiles and has compiled,
 * and detaches; the machine then tells from its own threads. If walks end among Java's frames, it attaches
 * again for java_trace.h, and names methods that are met there. No variable is set, nothing is printed, no
 * capability is asked for that changes how code is compiled; where anything fails, there are no names.
 *
 *   libjvm loaded -- VM made -- its last own thread runs --> attach, enable events, replay, detach
 */
#ifndef RECORD_AGENT_JAVA_H
#define RECORD_AGENT_JAVA_H

#include "record/agent/process/process.h"

/* Begins that thread once libjvm is loaded: it is when the program makes the thread in which its machine will
 * run. */
void java_look_now(void);

static inline void java_look(void)
{
	if (__builtin_expect(process.settings.java, 0))
		java_look_now();
}

#endif
