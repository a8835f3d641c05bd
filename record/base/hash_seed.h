/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_seed.h - numbers for hash tables whose keys a program chooses: without them it could choose such as
 * all fall to one place, and keep the collector busy with looking there.
 */
#ifndef RECORD_HASH_SEED_H
#define RECORD_HASH_SEED_H

#include <stdint.h>

/* Another one each time, of all 64 bits. Never waits. */
uint64_t hash_seed_new(void);

#endif
