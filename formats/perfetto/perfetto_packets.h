/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_packets.h - the packets of a Perfetto trace, one after the other, also those that lie deflated in
 * another one.
 */
#ifndef FORMATS_PERFETTO_PACKETS_H
#define FORMATS_PERFETTO_PACKETS_H

#include <stdio.h>

#include "formats/perfetto/perfetto.pb-c.h"
#include "store/base/arena.h"
#include "store/base/bytes.h"

struct perfetto_packets {
	FILE *in;
	struct arena arena; /* of the packet */
	size_t unpacked;    /* bytes of the packet there */
	struct store_bytes packet, inflated;
	size_t at;	  /* in `inflated` */
	uint64_t damaged; /* packets that could not be read; their length was whole */
	bool is_cut;	  /* the input ends inside a packet, or what follows is none */
	bool no_memory;
};

/* The next packet, valid until the next call; NULL: no more, or no memory. */
const Hpct__Perfetto__TracePacket *perfetto_packets_next(struct perfetto_packets *packets);
void perfetto_packets_fini(struct perfetto_packets *packets);
/* Does a file begin as a trace does? */
bool perfetto_is(const uint8_t *head, size_t size);

#endif
