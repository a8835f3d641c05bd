/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lazy_text.h - decodes strings of a finished store on first use, one block at a time, because a run of many
 * thousand threads has a name for each. Loading checks every block's seal and, unless it is compressed, its
 * string count, so that damage is found at once.
 */
#ifndef STORE_LAZY_TEXT_H
#define STORE_LAZY_TEXT_H

#include "store/catalog/text.h"
#include "store/file/file.h"

/* For an empty table; the snapshot must stay until store_lazy_text_settle(). Sets *tail to the last block's
 * first id and *count to the number of texts, like store_append_block_get(). ERROR_RUN without a sentence:
 * damaged. */
int store_lazy_text_load(struct store_texts *texts, const struct store_snapshot *snapshot, uint32_t *tail,
	uint32_t *count, struct error *error);
/* True when each block holds as many texts as the keys say. */
bool store_lazy_text_check(const struct store_texts *texts);
/* Decodes all remaining blocks, before the snapshot ends. */
void store_lazy_text_settle(struct store_texts *texts);

/* For store_texts_at(): decodes the block of a missing text. */
void store_lazy_text_need(const struct store_texts *texts, uint32_t id);
/* The text, not kept: for one pass over many texts. Valid until the next call. */
struct store_slice store_lazy_text_peek(const struct store_texts *texts, uint32_t id);
void store_lazy_text_free(struct store_lazy_text *late);

#endif
