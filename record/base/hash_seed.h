/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_seed.h - random seeds for hash tables whose keys come from a program. Without a seed a program could
 * choose keys that collide and slow the collector down.
 */
#ifndef RECORD_HASH_SEED_H
#define RECORD_HASH_SEED_H

#include <stdint.h>

/* A new random seed of 64 bits. Never blocks. */
uint64_t hash_seed_new(void);

#endif
