/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_packets.c - see perfetto_packets.h. A trace is a message of one repeated field, too large to be
 * read as one: here its packets are told apart, protobuf-c reads each.
 */
#include "formats/perfetto/perfetto_packets.h"

#include <string.h>
#include <zlib.h>

#define PACKET_MAX ((uint64_t)256 << 20)
#define INFLATED_MAX ((size_t)64 << 20) /* writers stop at half a MiB */
#define UNPACKED_MAX ((size_t)512 << 20)
#define PACKET_TAG 0x0a /* Trace.packet */

/* ---- memory of a packet ---- */

static void *take(void *own, size_t size)
{
	struct perfetto_packets *packets = own;

	/* An empty message of two bytes is a struct here. */
	if (size > UNPACKED_MAX - packets->unpacked)
		return NULL;
	packets->unpacked += size;
	return arena_alloc(&packets->arena, size ? size : 1);
}

static void give(void *own, void *memory)
{
	(void)own, (void)memory; /* the arena goes as one */
}

/* ---- bytes ---- */

/* False: the input has no whole number. */
static bool read_varint(FILE *in, uint64_t *value)
{
	int byte;

	*value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		byte = getc_unlocked(in);
		if (byte == EOF)
			return false;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* The next packet of the file into packets->packet. */
static bool read_packet(struct perfetto_packets *packets)
{
	uint64_t size;
	uint8_t *to;
	int tag = getc_unlocked(packets->in);

	if (tag == EOF)
		return false;
	packets->is_cut = true; /* unless all of it is there */
	if (tag != PACKET_TAG || !read_varint(packets->in, &size) || size > PACKET_MAX)
		return false;
	/* A length that a damaged file only says takes no memory: what is there is read piece by piece. */
	packets->packet.size = 0;
	while (packets->packet.size < size) {
		size_t part = size - packets->packet.size < 1 << 20 ? size - packets->packet.size : 1 << 20,
		       got;

		to = store_bytes_reserve(&packets->packet, part);
		packets->no_memory |= !to;
		got = to ? fread(to, 1, part, packets->in) : 0;
		packets->packet.size += got;
		if (got < part)
			return false;
	}
	packets->is_cut = false;
	return true;
}

/* A varint of memory; 0 bytes: there is none. */
static size_t varint_at(const uint8_t *bytes, size_t size, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < size && i < 10; i++) {
		*value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
		if (bytes[i] < 0x80)
			return i + 1;
	}
	return 0;
}

/* ---- packets inside a packet ---- */

static void inflate_packets(struct perfetto_packets *packets, const ProtobufCBinaryData *from)
{
	z_stream z = {.next_in = from->data, .avail_in = (unsigned)from->len};
	int code = Z_OK;

	packets->inflated.size = packets->at = 0;
	if (inflateInit(&z) != Z_OK) {
		packets->no_memory = true;
		return;
	}
	do {
		uint8_t *to = store_bytes_reserve(&packets->inflated, 1 << 18);

		if (!to || packets->inflated.size > INFLATED_MAX) {
			packets->no_memory |= !to;
			break;
		}
		z.next_out = to;
		z.avail_out = 1 << 18;
		code = inflate(&z, Z_NO_FLUSH);
		packets->inflated.size += (1 << 18) - z.avail_out;
	} while (code == Z_OK && (z.avail_in || !z.avail_out));
	packets->damaged += code != Z_STREAM_END;
	inflateEnd(&z);
}

static const Hpct__Perfetto__TracePacket *unpack(
	struct perfetto_packets *packets, const uint8_t *bytes, size_t size)
{
	ProtobufCAllocator allocator = {take, give, packets};
	const Hpct__Perfetto__TracePacket *packet;

	packets->unpacked = 0;
	packet = hpct__perfetto__trace_packet__unpack(&allocator, size, bytes);

	packets->damaged += !packet;
	return packet;
}

/* The next one of packets->inflated. */
static const Hpct__Perfetto__TracePacket *next_inner(struct perfetto_packets *packets)
{
	const uint8_t *bytes = packets->inflated.data + packets->at;
	size_t left = packets->inflated.size - packets->at, length;
	uint64_t size;

	if (bytes[0] != PACKET_TAG || !(length = varint_at(bytes + 1, left - 1, &size)) ||
		size > left - 1 - length) {
		packets->damaged++;
		packets->at = packets->inflated.size;
		return NULL;
	}
	packets->at += 1 + length + size;
	return unpack(packets, bytes + 1 + length, size);
}

const Hpct__Perfetto__TracePacket *perfetto_packets_next(struct perfetto_packets *packets)
{
	const Hpct__Perfetto__TracePacket *packet = NULL;
	bool is_outer;

	/* A packet's memory is the next one's. */
	while (!packet && !packets->no_memory) {
		arena_fini(&packets->arena);
		packets->arena = (struct arena){0};
		is_outer = packets->at >= packets->inflated.size;
		if (is_outer && !read_packet(packets))
			return NULL;
		packet = is_outer ? unpack(packets, packets->packet.data, packets->packet.size)
				  : next_inner(packets);
		if (!packet || !packet->has_compressed_packets)
			continue;
		if (is_outer)
			inflate_packets(packets, &packet->compressed_packets);
		else
			packets->damaged++; /* those of others are one deep */
		packet = NULL;
	}
	return packet;
}

void perfetto_packets_fini(struct perfetto_packets *packets)
{
	arena_fini(&packets->arena);
	store_bytes_fini(&packets->packet);
	store_bytes_fini(&packets->inflated);
}

/* ---- what it looks like ---- */

/* Fields of a packet that are numbers; others that a trace begins with are messages. */
static bool is_number(uint64_t field)
{
	static const uint8_t numbers[] = {3, 8, 10, 13, 41, 42, 58, 79, 87, 98};

	return memchr(numbers, (int)field, sizeof numbers) != NULL && field < 256;
}

bool perfetto_is(const uint8_t *head, size_t size)
{
	uint64_t length, key, value;
	size_t at, got, end;
	unsigned fields = 0;

	if (size < 4 || head[0] != PACKET_TAG || !(got = varint_at(head + 1, size - 1, &length)) || !length)
		return false;
	at = 1 + got;
	end = length < size - at ? at + length : size;
	for (; at < end; fields++) {
		got = varint_at(head + at, end - at, &key);
		if (!got || key >> 3 == 0 || key >> 3 > 1000 || (key & 7) != (is_number(key >> 3) ? 0 : 2))
			return false;
		at += got;
		got = varint_at(head + at, end - at, &value);
		if (!got)
			break;
		at += got;
		if ((key & 7) == 2 && value > size - at)
			return end == size; /* it goes on behind the head */
		at += (key & 7) == 2 ? value : 0;
	}
	return fields > 0 && at <= size;
}
