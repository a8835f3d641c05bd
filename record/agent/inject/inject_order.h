/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_order.h - what hpct-record tells an agent that it loads into a running process, and what that
 * answers.
 *
 *   hpct-record   writes the order onto the stack of one of its threads, and has that call dlopen, or, if the
 *                 library is there already, hpct_inject(order)
 *   that thread   the library's constructor finds the order, or hpct_inject gets it: starts the agent's
 * thread, answers in hpct_inject_answer, and goes on with what it did agent         connects to order.control
 * and says INJECT_BEGUN or INJECT_REFUSED hpct-record   closes the connection, or ends: the agent's thread
 * undoes everything, and ends
 */
#ifndef RECORD_AGENT_INJECT_ORDER_H
#define RECORD_AGENT_INJECT_ORDER_H

#include "store/ring/handshake.h"

#define INJECT_FUNCTION "hpct_inject" /* void (const struct inject_order *) */
#define INJECT_ANSWER "hpct_inject_answer"
#define INJECT_THREAD "hpct-agent" /* name of the agent's thread */

#define INJECT_ORDER_VERSION (EVENT_VERSION * 256u + 1u) /* also of what is here */
#define INJECT_ORDER_ALIGN 64u
#define INJECT_ORDER_MAGIC UINT64_C(0x68706374696e6a31), UINT64_C(0xa5c3962d1e0f7b48)

struct inject_order {
	_Alignas(INJECT_ORDER_ALIGN)
		uint64_t magic[2]; /* INJECT_ORDER_MAGIC, by which the constructor finds it */
	uint64_t serial;	   /* another one for each order */
	uint32_t version;	   /* INJECT_ORDER_VERSION */
	uint32_t _pad;
	uint64_t locks;	   /* where the loader's lock of loading is; 0: not known */
	char control[108]; /* paths of sockets: hpct-record's own, and the collector's */
	char socket[108];
	char agent[512];	       /* the library's path */
	char events[EVENT_EVENTS_MAX]; /* as HPCT_EVENTS */
};

/* A variable of the library's. */
struct inject_answer {
	_Atomic uint64_t serial; /* of the order; stored last, with release */
	uint64_t until_ns;	 /* when the thread went on */
	int32_t result;		 /* 0, or an errno. EAGAIN: ask the main thread; EPROTO: another version */
	uint32_t _pad;
};

enum inject_word { INJECT_BEGUN, INJECT_REFUSED };

/* The agent's one message. */
struct inject_message {
	uint32_t word;	 /* enum inject_word */
	uint32_t number; /* INJECT_BEGUN: threads that were taken up */
	uint32_t slots;	 /* likewise: entries of tables of calls that lead through the agent */
	char text[244];	 /* INJECT_REFUSED: why, part of a sentence */
};

#endif
