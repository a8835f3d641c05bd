/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - writes a run's streams, contexts and records into one store. Used by the collector,
 * hpct-import, hpct-simulate and hpct-slice -o. One writer per file, one thread per writer.
 *
 * Between two commits the file is not touched: new data stays in memory, and store_writer_commit() writes
 * all of it in one LMDB transaction; if that fails (full disk, map too small and not growable) nothing is
 * lost from memory and the file still holds the last commit. After a failed allocation every later commit
 * fails.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "store/base/error.h"
#include "store/store.h"

struct store_writer;

/* Creates the file (mode 0600; refuses an existing one) with its first commit, so that readers can open it
 * at once. */
int store_writer_create(struct store_writer **writer, const char *path, struct error *error);
/* The same; `tell` sets facts of the first commit: no reader sees the store without them. */
int store_writer_create_telling(struct store_writer **writer, const char *path,
	void (*tell)(struct store_writer *writer, void *own), void *own, struct error *error);
/* Commits, sets the fact "state" to "complete", closes. The writer is freed in any case. */
int store_writer_close(struct store_writer *writer, struct error *error);
/* Closes without a commit. */
void store_writer_abort(struct store_writer *writer);

/* Flight recording: from now on commits drop what ended more than keep_ns before now_ns, in steps of at most
 * keep_ns / 8, and keep its rollups. Call before each commit. Records older than what is kept count as lost.
 */
void store_writer_keep(struct store_writer *writer, uint64_t now_ns, uint64_t keep_ns);

/* Makes all data since the last commit visible and (except for the disk's own cache) durable. */
int store_writer_commit(struct store_writer *writer, struct error *error);

/* The next commit does not wait for the disk: store_writer_close(), which must follow at once, waits for
 * both. Remote file systems are waited for anyway, because they may report a full disk only then. */
void store_writer_hurry(struct store_writer *writer);

/* How long a reader that falls behind may hold its snapshot while the file grows (stale_readers.h); default
 * 20 s. */
void store_writer_patience(struct store_writer *writer, uint64_t patience_ns);

/* Key-value facts about the run: command host boot origin_ns wall_ns launch schema state exit ... (text). */
void store_writer_meta(struct store_writer *writer, const char *key, const char *value);
void store_writer_meta_number(struct store_writer *writer, const char *key, uint64_t value);

/* Each returns an id; the same thing added twice gets the same id. 0 (or CONTEXT_NONE) after a failed
 * allocation. */
uint32_t store_writer_text(struct store_writer *writer, const char *bytes, size_t size_bytes); /* "" is 0 */
/* Metrics count from 0, so the first one is 0 (which a failed call returns as well). */
uint32_t store_writer_metric(struct store_writer *writer, const char *name, const char *unit, bool is_real);
/* The same of values over time. */
uint32_t store_writer_figure(struct store_writer *writer, const char *name, const char *unit, bool is_real,
	enum store_metric_kind kind);
uint32_t store_writer_module(struct store_writer *writer, const struct store_module *module);
void store_writer_module_unloaded(struct store_writer *writer, uint32_t module, uint64_t unload_ns);
uint32_t store_writer_context(struct store_writer *writer, uint32_t parent, uint32_t module, uint64_t offset);
/* The one string-table module of a store whose frames are names. */
uint32_t store_writer_text_module(struct store_writer *writer);
uint32_t store_writer_op(struct store_writer *writer, const char *name, size_t size_bytes);

/* Number of ids so far: contexts are in [STORE_CONTEXT_FIRST, count). */
uint32_t store_writer_context_count(const struct store_writer *writer);
struct store_context store_writer_context_at(const struct store_writer *writer, uint32_t id);
struct store_module store_writer_module_at(const struct store_writer *writer, uint32_t id);
const char *store_writer_text_at(const struct store_writer *writer, uint32_t id, size_t *size_bytes);

/* Names of a frame, outermost scope first (1..STORE_SCOPE_MAX). A second call replaces the first. */
void store_writer_symbol(struct store_writer *writer, uint32_t module, uint64_t offset,
	const struct store_scope *scopes, size_t count);

/* Stores a whole file under the caller's key, normally a hash of its content; replaces an earlier one. */
void store_writer_blob(struct store_writer *writer, uint64_t key, const void *bytes, size_t size);

/* A new stream; ids count from 0. `count` and `shifts` of the argument are ignored. UINT32_MAX after a
 * failed allocation. */
uint32_t store_writer_stream(struct store_writer *writer, const struct store_stream *stream);
/* The stream's properties, to be changed in place; the next commit writes them. Valid until the next
 * store_writer_stream(). */
struct store_stream *store_writer_stream_edit(struct store_writer *writer, uint32_t stream);

/* Adds finished records of one track, in any order. */
void store_writer_append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count);

/* Sets an open span, visible to readers. `handle` is the caller's, unique within the stream. Call again to
 * change it; close with the finished record (which is appended), or NULL to drop it. */
void store_writer_span_open(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *record);
void store_writer_span_close(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *finished);

/* Bytes waiting for the next commit. */
size_t store_writer_pending_bytes(const struct store_writer *writer);
/* True when full chunks hold so many bytes, and enough to make an early commit worthwhile: a commit encodes
 * all open chunks again, with many streams much more than is new. */
bool store_writer_is_laden(const struct store_writer *writer, size_t least_bytes);

#endif
