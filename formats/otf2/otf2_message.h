/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otf2_message.h - what a call of MPI is in OTF2: which message it sends or receives, or which collective it
 * takes part in, from the attributes that hpct-record gives its span.
 */
#ifndef FORMATS_OTF2_MESSAGE_H
#define FORMATS_OTF2_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTF2_RANKS_MAX ((uint32_t)1 << 20) /* a peer beyond is none */

enum otf2_message_kind {
	OTF2_MESSAGE_NONE, /* neither: a wait, a test, MPI_Init */
	OTF2_MESSAGE_LEFT, /* of another communicator than world, or whose end another call tells */
	OTF2_MESSAGE_SEND,
	OTF2_MESSAGE_RECEIVE,
	OTF2_MESSAGE_BOTH,
	OTF2_MESSAGE_COLLECTIVE
};

struct otf2_message {
	enum otf2_message_kind kind;
	char call[40];	     /* "" if the span does not say it */
	uint32_t to, to_tag; /* to: of a collective its root, UINT32_MAX: none */
	uint32_t from, from_tag;
	uint8_t collective; /* OTF2_CollectiveOp */
};

void otf2_message_parse(struct otf2_message *message, const char *attributes, size_t size);

#endif
