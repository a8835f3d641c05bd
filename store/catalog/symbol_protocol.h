/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_protocol.h - the messages between the collector and hpct-names (two pipes): requests go in, answers
 * come out in the same order. hpct-names reads untrusted binaries, so the collector checks every length in
 * its answers.
 *
 *   frame    +----------+----------+---------------------------+
 *            | u32 size | u32 type | payload, `size` bytes     |   little endian
 *            +----------+----------+---------------------------+
 *   REQUEST  module, kind, build id (size, bytes), text path, text real_path, count, count x offset
 *   ANSWER   module, offset, before, after, source, scopes, scopes x { kind, start, line, decl_line,
 *              text name, text linkage, text file, text decl_file }   outermost scope first; it holds
 *              for the addresses [offset - before, offset + after]
 *   DONE     module, text message                              ends the answers to one request
 *   text     size, bytes without NUL, NUL                      numbers are varints (store/base/bytes.h)
 *
 * Each offset of a REQUEST gets one ANSWER, in order; then one DONE follows.
 */
#ifndef STORE_SYMBOL_PROTOCOL_H
#define STORE_SYMBOL_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

#define NAMES_SCOPE_MAX 64	     /* = STORE_SCOPE_MAX */
#define NAMES_TEXT_MAX 16384u	     /* longest text in a frame */
#define NAMES_OFFSETS_MAX 65536u     /* offsets of one request */
#define SYMBOL_FRAME_MAX (8u << 20)  /* longest payload */
#define SYMBOL_FRAME_HEADER_BYTES 8u /* size, type */
#define NAMES_BUILD_ID_MAX 32u

enum symbol_frame_type { SYMBOL_REQUEST = 0x51434e48, SYMBOL_ANSWER = 0x41434e48, SYMBOL_DONE = 0x44434e48 };

enum names_scope_kind { NAMES_FUNCTION, NAMES_INLINE, NAMES_LOOP }; /* = enum store_scope_kind */

/* Source of an answer, best last. */
enum names_source {
	NAMES_FROM_NOTHING, /* one scope without a name; start = offset */
	NAMES_FROM_FRAME,   /* one scope without a name; start = that of the unwind entry that covers the
			       offset */
	NAMES_FROM_SYMBOL,  /* one scope: an ELF symbol or a PLT entry */
	NAMES_FROM_DEBUG    /* debug information */
};

/* One level of an expanded frame. Strings are never NULL; "" = not known. */
struct names_scope {
	uint32_t kind;	       /* enum names_scope_kind */
	uint32_t line;	       /* line where the next inner scope was inlined, or the requested line; 0:
				  unknown */
	uint32_t decl_line;    /* of decl_file */
	uint64_t start;	       /* offset of the outermost function's first byte; of a loop: of its own */
	const char *name;      /* qualified, demangled, without parameters; "": module+0xSTART. Of loops
				  "", or STORE_LOOP_SPIN */
	const char *linkage;   /* the mangled name where it differs from `name` */
	const char *file;      /* file of `line` */
	const char *decl_file; /* where the function is defined or the loop begins */
};

/* Addresses [begin, end). */
struct symbol_stretch {
	uint64_t begin, end;
};

struct symbol_answer {
	uint32_t module; /* as in the request */
	uint32_t source; /* enum names_source */
	uint64_t offset;
	struct symbol_stretch stretch; /* addresses around the offset with the same answer; without the
					  offset in it: only the offset */
	uint32_t scope_count;	       /* 1..NAMES_SCOPE_MAX, outermost first */
	struct names_scope scopes[NAMES_SCOPE_MAX];
};

/* One request. `kind` is an enum store_module_kind. */
struct symbol_request {
	uint32_t module; /* the collector's number for it, copied to the answers */
	uint32_t kind;
	uint8_t build_id_bytes; /* 0: do not check the file */
	uint8_t build_id[NAMES_BUILD_ID_MAX];
	const char *path; /* path to open: the real path, /proc/PID/root/..., /proc/PID/fd/N; "": find the
			     file by build id */
	const char *real_path;	 /* path in the program's view: names the module, finds its debug file; "" =
				    path */
	const uint64_t *offsets; /* addresses in the file's program headers */
	uint32_t offset_count;
};

struct symbol_done {
	uint32_t module;
	const char *message; /* one sentence for the user, "" on success */
};

/* Append one frame; 0 or negative (no memory, or a request beyond the limits above). Cuts texts longer than
 * NAMES_TEXT_MAX and leaves out scopes beyond NAMES_SCOPE_MAX. */
int symbol_request_put(struct store_bytes *out, const struct symbol_request *request, struct error *error);
int symbol_answer_put(struct store_bytes *out, const struct symbol_answer *answer, struct error *error);
/* Limits the stretch to [begin, end). */
void symbol_stretch_cut(struct symbol_stretch *stretch, uint64_t begin, uint64_t end);
int symbol_done_put(struct store_bytes *out, const struct symbol_done *done, struct error *error);

/* Size of the first frame in `bytes` (header included) and its type; 0: more bytes are needed; negative:
 * malformed, the stream cannot be read further. */
ssize_t symbol_frame_peek(const uint8_t *bytes, size_t size, uint32_t *type, struct error *error);

/* Parse one whole frame, of the size that symbol_frame_peek() returned; 0 or negative. Strings point into
 * `bytes`. A request's offsets are copied to a malloc'ed array that the caller frees. */
int symbol_request_parse(const uint8_t *frame, size_t size, struct symbol_request *request,
	uint64_t **offsets, struct error *error);
int symbol_answer_parse(const uint8_t *frame, size_t size, struct symbol_answer *answer, struct error *error);
/* Parses only the offset and stretch of an answer, which is much faster. */
int symbol_answer_parse_stretch(
	const uint8_t *frame, size_t size, struct symbol_answer *answer, struct error *error);
int symbol_done_parse(const uint8_t *frame, size_t size, struct symbol_done *done, struct error *error);

#endif
