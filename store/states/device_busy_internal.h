/* SPDX-License-Identifier: Apache-2.0 */
/* united_parts.h - what united.c (queues, buckets) and united_merge.c share. */
#ifndef STORE_UNITED_PARTS_H
#define STORE_UNITED_PARTS_H

#include "store/united.h"

#define UNITED_QUEUES_MAX 128u /* of one device */

/* ---- united.c ---- */

/* The device is busy all the time from here to there, which is behind all that was filled before. */
void united_fill(struct store_united *united, uint64_t begin_ns, uint64_t end_ns);

/* ---- united_merge.c ---- */

/* Fills with all that queues do before `until_ns`; what they do behind it waits. */
void united_merge(struct store_united *united, uint64_t until_ns);

#endif
