/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_messages.h - which send met which receive: MPI does not let messages between two ranks overtake each
 * other, so that on a communicator the n-th send of a tag meets the n-th receive of it. Nothing is said of a
 * pair of ranks where that may be another one: a receive from any rank, lost records, a message longer than
 * its receive, a rank of which short calls are sums and no spans.
 *
 *   sender     ==work=======|Send|                       late sender: the receiver waited for the Send
 *   receiver      |~~Recv~~~~~~~~|
 *
 *   sender     |~~Ssend~~~~~~~~|                         late receiver: the sender waited for the Recv
 *   receiver   ==work=======|Recv|
 *
 * (Scalasca's wait states.) A send that is over before its receive began has waited for nobody.
 */
#ifndef BLAME_CALL_MESSAGES_H
#define BLAME_CALL_MESSAGES_H

#include "timeline/base/key_ids.h"

#include "blame/wait/call_requests.h"

#define MESSAGE_COMMUNICATOR_BYTES 48
#define MESSAGE_TAG_ANY UINT32_MAX
#define MESSAGE_RANK_ANY UINT32_MAX

/* One side of a message. */
struct message_side {
	uint64_t begin_ns;		/* of the call that sends, or posts the receive */
	uint64_t wait_begin_ns, end_ns; /* where it waited; end_ns 0: nobody knows */
	uint64_t raw_ns, since_ns;	/* begin_ns by its own clock; end of the thread's call before */
	uint64_t bytes;
	uint32_t process, stream, clock, party;
	uint32_t context;
	uint32_t tag;
	uint32_t pair; /* its own */
	uint32_t window;
	uint32_t polled_by; /* stream whose tests found it over */
	bool is_receive;
	bool is_polled; /* part of the time since wait_begin_ns is work */
};

struct message {
	struct message_side *send, *receive;
};

/* All-zero but for call_messages_init(). */
struct call_messages {
	struct message_side *sides;
	size_t side_count, side_capacity;
	struct message *list; /* in no order */
	size_t count, capacity;
	struct key_ids pairs;	/* communicator, from, to */
	struct key_ids unknown; /* communicator, to: some rank's receive is from any */
};

void call_messages_init(struct call_messages *messages);
void call_messages_fini(struct call_messages *messages);
/* False: no memory. A receive from MESSAGE_RANK_ANY is no side. */
bool call_messages_add(struct call_messages *messages, struct message_side side, const char *communicator,
	uint32_t from, uint32_t to);
/* False: no memory. */
bool call_messages_match(struct call_messages *messages, const struct call_requests *requests);

#endif
