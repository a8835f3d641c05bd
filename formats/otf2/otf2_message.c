/* SPDX-License-Identifier: Apache-2.0 */
/* otf2_message.c - see otf2_message.h. */
#include "formats/otf2/otf2_message.h"

#include <otf2/otf2.h>
#include <string.h>

#include "store/base/attribute.h"

static const struct {
	const char *call;
	uint8_t op;
} collectives[] = {{"MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
	{"MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV}, {"MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
	{"MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL}, {"MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
	{"MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW}, {"MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER},
	{"MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST}, {"MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
	{"MPI_Gather", OTF2_COLLECTIVE_OP_GATHER}, {"MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
	{"MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE}, {"MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
	{"MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
	{"MPI_Scan", OTF2_COLLECTIVE_OP_SCAN}, {"MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER},
	{"MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV}};

/* A send that goes on behind its call is one from its beginning on; what is received then another call tells.
 */
static const struct {
	const char *call;
	enum otf2_message_kind kind;
} messages[] = {{"MPI_Send", OTF2_MESSAGE_SEND}, {"MPI_Ssend", OTF2_MESSAGE_SEND},
	{"MPI_Bsend", OTF2_MESSAGE_SEND}, {"MPI_Rsend", OTF2_MESSAGE_SEND}, {"MPI_Isend", OTF2_MESSAGE_SEND},
	{"MPI_Issend", OTF2_MESSAGE_SEND}, {"MPI_Ibsend", OTF2_MESSAGE_SEND},
	{"MPI_Irsend", OTF2_MESSAGE_SEND}, {"MPI_Recv", OTF2_MESSAGE_RECEIVE},
	{"MPI_Irecv", OTF2_MESSAGE_LEFT}, {"MPI_Sendrecv", OTF2_MESSAGE_BOTH},
	{"MPI_Sendrecv_replace", OTF2_MESSAGE_BOTH}};

static void find_kind(struct otf2_message *message)
{
	for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
		if (strcmp(messages[i].call, message->call) == 0)
			message->kind = messages[i].kind;
	for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
		if (strcmp(collectives[i].call, message->call) == 0) {
			message->kind = OTF2_MESSAGE_COLLECTIVE;
			message->collective = collectives[i].op;
		}
}

static bool is_rank(uint32_t rank)
{
	return rank < OTF2_RANKS_MAX;
}

static uint32_t number(const char *attributes, size_t size, const char *key)
{
	uint64_t value = attribute_number(attributes, size, key, UINT32_MAX);

	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void otf2_message_parse(struct otf2_message *message, const char *attributes, size_t size)
{
	char world[16];

	*message = (struct otf2_message){.to = number(attributes, size, "peer"),
		.to_tag = number(attributes, size, "tag"),
		.from = number(attributes, size, "source"),
		.from_tag = number(attributes, size, "source_tag")};
	if (!attribute_get(attributes, size, "call", message->call, sizeof message->call))
		return;
	find_kind(message);
	if (message->kind <= OTF2_MESSAGE_LEFT)
		return;
	if (message->kind == OTF2_MESSAGE_RECEIVE) {
		message->from = message->to;
		message->from_tag = message->to_tag;
	}
	/* Of MPI_ANY_SOURCE nobody knows the sender; other communicators number ranks their own way. */
	if ((attribute_get(attributes, size, "comm", world, sizeof world) && strcmp(world, "world") != 0) ||
		((message->kind == OTF2_MESSAGE_SEND || message->kind == OTF2_MESSAGE_BOTH) &&
			!is_rank(message->to)) ||
		((message->kind == OTF2_MESSAGE_RECEIVE || message->kind == OTF2_MESSAGE_BOTH) &&
			!is_rank(message->from)))
		message->kind = OTF2_MESSAGE_LEFT;
}
