/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_unpack.h - records of perf record -z: blocks of one zstd stream, in which a record may begin in one
 * block and end in the next. What is unpacked at a time is bounded, whatever a block grows to.
 */
#ifndef FORMATS_PERF_UNPACK_H
#define FORMATS_PERF_UNPACK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_unpack;

/* NULL: no memory. */
struct perf_unpack *perf_unpack_new(void);
void perf_unpack_free(struct perf_unpack *unpack);
/* As at the stream's begin. */
void perf_unpack_reset(struct perf_unpack *unpack);
/* The stream's next block, of at most 65535 bytes; those before it have no whole record left. */
void perf_unpack_feed(struct perf_unpack *unpack, const uint8_t *block, size_t size);
/*
 * The next whole record, header and body, valid until the call after it. NULL: the blocks that were fed hold
 * no more of them, or are damaged.
 */
const uint8_t *perf_unpack_next(struct perf_unpack *unpack, struct perf_event_header *header);
/* A block could not be unpacked: what follows it in the stream is lost. */
bool perf_unpack_is_damaged(const struct perf_unpack *unpack);
/* The blocks that were fed are whole, and end amid a record. */
bool perf_unpack_is_cut(const struct perf_unpack *unpack);

#endif
