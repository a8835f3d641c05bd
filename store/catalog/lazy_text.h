/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lazy_text.h - the strings of a store that nobody writes any more: a block of them is unpacked when one is
 * asked for, because a run of many thousand threads has a name for each. Loading looks at every block's seal
 * and, but for dense ones, at how many strings it holds, so that damage shows there.
 */
#ifndef STORE_LAZY_TEXT_H
#define STORE_LAZY_TEXT_H

#include "store/catalog/text.h"
#include "store/file/file.h"

/* For texts that hold none yet; the snapshot must stay until store_lazy_text_settle(). The first id of the
 * last block to *tail, their number to *count, as store_append_block_get(). ERROR_RUN without a sentence: it
 * is damaged. */
int store_lazy_text_load(struct store_texts *texts, const struct store_snapshot *snapshot, uint32_t *tail,
	uint32_t *count, struct error *error);
/* Does each block hold the texts that the keys say? */
bool store_lazy_text_check(const struct store_texts *texts);
/* Unpacks what is left: the snapshot is about to go. */
void store_lazy_text_settle(struct store_texts *texts);

/* For store_texts_at(): the block of a text that is not there yet. */
void store_lazy_text_need(const struct store_texts *texts, uint32_t id);
/* The text without keeping it, for who goes through many of them once; valid until the next one. */
struct store_slice store_lazy_text_peek(const struct store_texts *texts, uint32_t id);
void store_lazy_text_free(struct store_lazy_text *late);

#endif
