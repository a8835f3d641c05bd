/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.c - NCCL's profiler plug-in interface: which collective calls a kernel of NCCL carries out. NCCL loads
 * the library named by NCCL_PROFILER_PLUGIN, which is the agent, when it makes a communicator, however the
 * program got NCCL: linked, static, by dlopen. It tells each call right after it has launched the kernel, in
 * the same thread:
 *
 *   driver call of the launch --gpu_kernel_launched--> start group, start call ..., stop call ...
 *
 * So a call, or several that share a kernel, is a span `nccl` of the thread, linked with the launch, whose
 * kernel gets its attributes (record/gpu/correlate.h). Calls of a captured graph are told by a thread of
 * CUDA's when the graph runs; they have no launch.
 *
 * Versions 2 to 4 of the interface: NCCL 2.24 and later.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "record/agent/base/wrap.h"
#include "record/agent/gpu/gpu.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/trace.h"

#define COMMUNICATORS 256u
#define NAME_BYTES 24u	       /* of the user's name for a communicator */
#define WORD_BYTES 24u	       /* of NCCL's words: AllReduce, SIMPLE */
#define COMMUNICATOR_BYTES 48u /* "NAME:" and 16 digits */

enum { SUCCESS, EVENT_OF_GROUP = 1, EVENT_OF_COLLECTIVE = 2, EVENT_OF_MESSAGE = 4 };

/* One event, whatever the version. Strings are NCCL's and static. */
struct call {
	const char *function, *type, *algorithm, *protocol;
	uint64_t count;
	int other; /* the root, or the other rank of a message */
	unsigned channels;
	bool is_message;
};

/* One communicator of this process. Only one thread at a time may use it, by NCCL's rules. */
struct communicator {
	_Atomic uint32_t is_taken;
	int rank, ranks;	       /* ranks 0: not known */
	char name[COMMUNICATOR_BYTES]; /* the same on all ranks; "": not known yet */
	uint64_t collectives;	       /* so far: all ranks count alike */
	/* The calls since the last launch. */
	struct call first;
	uint64_t begin_ns, correlation, number, count, bytes;
	unsigned calls;
	bool are_alike;
};

static struct communicator communicators[COMMUNICATORS];

/* ---- text ---- */

/* A word of NCCL's or the user's, with what would end an attribute replaced. */
static void word_append(char *text, const char *key, const char *word, size_t most)
{
	char *to = text + strlen(text);

	if (!word || !*word)
		return;
	to = stpcpy(to, key);
	for (size_t i = 0; i < most && word[i]; i++)
		*to++ = word[i] == ',' || word[i] == '=' || word[i] == '\\' || (unsigned char)word[i] < ' '
				? '_'
				: word[i];
	*to = '\0';
}

static void number_append(char *text, const char *key, uint64_t number)
{
	strcat(text, key);
	environment_decimal(text + strlen(text), number);
}

/* "ncclFloat32" and "ncclFloat8e4m3" have their bits in their names. 0: not known. */
static uint64_t type_bytes(const char *type)
{
	unsigned bits = 0;

	while (type && *type && (*type < '0' || *type > '9'))
		type++;
	for (; type && *type >= '0' && *type <= '9' && bits < 1000; type++)
		bits = bits * 10 + (unsigned)(*type - '0');
	return bits / 8;
}

static bool has_root(const char *function)
{
	return !strcmp(function, "Broadcast") || !strcmp(function, "Reduce") || !strcmp(function, "Gather") ||
	       !strcmp(function, "Scatter");
}

static void text_write(char *text, const struct communicator *at)
{
	const struct call *call = &at->first;

	text[0] = '\0';
	word_append(text, "call=", at->are_alike ? call->function : "several", WORD_BYTES);
	word_append(text, ",comm=", at->name, COMMUNICATOR_BYTES);
	if (at->number)
		number_append(text, ",seq=", at->number);
	if (at->calls > 1)
		number_append(text, ",calls=", at->calls);
	number_append(text, ",rank=", (unsigned)at->rank);
	if (at->ranks > 0)
		number_append(text, ",ranks=", (unsigned)at->ranks);
	if (at->calls == 1 && call->other >= 0 && (call->is_message || has_root(call->function)))
		number_append(text, call->is_message ? ",peer=" : ",root=", (unsigned)call->other);
	number_append(text, ",count=", at->count);
	if (at->calls == 1) {
		word_append(
			text, ",type=", call->type + (strncmp(call->type, "nccl", 4) ? 0 : 4), WORD_BYTES);
		word_append(text, ",algorithm=", call->algorithm, WORD_BYTES);
		word_append(text, ",protocol=", call->protocol, WORD_BYTES);
	}
	if (call->channels)
		number_append(text, ",channels=", call->channels);
}

/* ---- what is published ---- */

static void publish(struct communicator *at)
{
	char text[TRACE_TEXT_BYTES_MAX];
	int error = errno;
	struct thread *t = at->calls ? trace_begin() : NULL;

	if (t) {
		struct event_span span = {.begin_ns = at->begin_ns,
			.end_ns = process_now_ns(),
			.bytes = at->bytes,
			.link = at->correlation};

		text_write(text, at);
		span.h.node = trace_callpath(t);
		span.operation = EVENT_TEXT_BIT | trace_text(t, "nccl");
		span.attributes = trace_text(t, text);
		trace_span(t, EVENT_SPAN, &span);
		trace_end(t);
	}
	at->calls = 0;
	errno = error;
}

/* Calls of the same kernel are told one after the other; the first finds its launch. */
static void call_take(struct communicator *at, const struct call *call)
{
	if (!at->calls) {
		at->first = *call;
		at->begin_ns = process_now_ns();
		at->correlation = gpu_kernel_last();
		at->number = at->count = at->bytes = 0;
		at->are_alike = true;
	}
	if (!call->is_message && !at->number)
		at->number = at->collectives + 1;
	at->collectives += !call->is_message;
	at->calls++;
	at->count += call->count;
	at->bytes += call->count * type_bytes(call->type);
	at->are_alike &= !strcmp(call->function, at->first.function);
}

/* ---- communicators ---- */

static struct communicator *communicator_take(void)
{
	for (unsigned i = 0; i < COMMUNICATORS; i++) {
		uint32_t free = 0;

		if (atomic_compare_exchange_strong(&communicators[i].is_taken, &free, 1)) {
			memset((char *)&communicators[i] + sizeof(free), 0,
				sizeof(*communicators) - sizeof(free));
			return &communicators[i];
		}
	}
	return NULL;
}

/* The hash is of the communicator's unique id, and of how it was split off. */
static void name_set(struct communicator *at, const char *name, uint64_t hash)
{
	char *to = at->name;

	word_append(to, "", name && *name ? name : "nccl", NAME_BYTES);
	to += strlen(to);
	*to++ = ':';
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[hash >> shift & 15];
	*to = '\0';
}

/* Without a place for it nothing is told of a communicator. */
static int begin(void **context, int *wanted)
{
	struct communicator *at = process_is_live() ? communicator_take() : NULL;

	*context = at;
	*wanted = at ? EVENT_OF_GROUP | EVENT_OF_COLLECTIVE | EVENT_OF_MESSAGE : 0;
	return SUCCESS;
}

static int begin_named(void **context, int *wanted, const char *name, uint64_t hash, int nodes, int ranks,
	int rank, void *log)
{
	struct communicator *at;

	(void)nodes, (void)log;
	begin(context, wanted);
	at = *context;
	if (at) {
		at->rank = rank;
		at->ranks = ranks;
		name_set(at, name, hash);
	}
	return SUCCESS;
}

static int end(void *context)
{
	struct communicator *at = context;

	if (at)
		atomic_store(&at->is_taken, 0);
	return SUCCESS;
}

/* ---- events: a handle is the communicator, for a group as well ---- */

static void start(void *context, void **handle, unsigned type, const struct call *call)
{
	struct communicator *at = context;

	*handle = at;
	if (!at || !(type & (EVENT_OF_COLLECTIVE | EVENT_OF_MESSAGE)) || !call->function || !call->type ||
		!process_is_live())
		return;
	call_take(at, call);
}

static int stop(void *handle)
{
	struct communicator *at = handle;

	if (at && at->calls && process_is_live())
		publish(at);
	return SUCCESS;
}

static int state(void *handle, int what, void *more)
{
	(void)handle, (void)what, (void)more;
	return SUCCESS;
}

/* NCCL's descriptors of events; only what is read here has a name. Each begins with the type, and its rank.
 */
struct event_v4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			uint64_t number;
			const char *function;
			const void *from, *to;
			size_t count;
			int root;
			const char *type;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} collective;
		struct {
			const char *function;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
			uint8_t channels;
		} message;
	};
};

/* Versions 2 and 3 name the communicator in each event; version 2 has the bytes sent, too. */
struct event_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t hash, number;
			const char *function;
			const void *from, *to;
			size_t count;
			int root;
			const char *type;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} collective;
		struct {
			const char *name;
			uint64_t hash, number;
			const char *function;
			const void *from, *to;
			size_t count;
			int root;
			const char *type;
			size_t bytes;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} collective_v2;
		struct {
			const char *name;
			uint64_t hash;
			const char *function;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
		} message;
	};
};

_Static_assert(offsetof(struct event_v4, collective.type) == 72 &&
		       offsetof(struct event_v4, message.peer) == 56 &&
		       offsetof(struct event_v3, collective.type) == 88 &&
		       offsetof(struct event_v3, collective_v2.protocol) == 120 &&
		       offsetof(struct event_v3, message.peer) == 72,
	"NCCL's descriptors");

static int start_v4(void *context, void **handle, const struct event_v4 *event)
{
	struct call call = {.is_message = event->type == EVENT_OF_MESSAGE};

	if (event->type == EVENT_OF_COLLECTIVE)
		call = (struct call){event->collective.function, event->collective.type,
			event->collective.algorithm, event->collective.protocol, event->collective.count,
			event->collective.root, event->collective.channels, false};
	else if (call.is_message)
		call = (struct call){event->message.function, event->message.type, NULL, NULL,
			event->message.count, event->message.peer, event->message.channels, true};
	start(context, handle, event->type, &call);
	return SUCCESS;
}

static void communicator_learn(struct communicator *at, const struct event_v3 *event)
{
	bool is_message = event->type == EVENT_OF_MESSAGE;

	if (!at || at->name[0] || !(event->type & (EVENT_OF_COLLECTIVE | EVENT_OF_MESSAGE)))
		return;
	at->rank = event->rank;
	name_set(at, is_message ? event->message.name : event->collective.name,
		is_message ? event->message.hash : event->collective.hash);
}

static int start_old(void *context, void **handle, const struct event_v3 *event, bool is_v2)
{
	struct call call = {.is_message = event->type == EVENT_OF_MESSAGE};

	communicator_learn(context, event);
	if (event->type == EVENT_OF_COLLECTIVE)
		call = (struct call){event->collective.function, event->collective.type,
			is_v2 ? event->collective_v2.algorithm : event->collective.algorithm,
			is_v2 ? event->collective_v2.protocol : event->collective.protocol,
			event->collective.count, event->collective.root,
			is_v2 ? event->collective_v2.channels : event->collective.channels, false};
	else if (call.is_message)
		call = (struct call){event->message.function, event->message.type, NULL, NULL,
			event->message.count, event->message.peer, 0, true};
	start(context, handle, event->type, &call);
	return SUCCESS;
}

static int start_v3(void *context, void **handle, const struct event_v3 *event)
{
	return start_old(context, handle, event, false);
}

static int start_v2(void *context, void **handle, const struct event_v3 *event)
{
	return start_old(context, handle, event, true);
}

/* ---- the tables that NCCL looks up by name ---- */

#define PLUGIN(number, event, begins)                                             \
	struct nccl_plugin_v##number {                                            \
		const char *name;                                                 \
		__typeof__(&(begins)) init;                                       \
		int (*start)(void *context, void **handle, const struct event *); \
		int (*stop)(void *handle);                                        \
		int (*state)(void *handle, int what, void *more);                 \
		int (*fini)(void *context);                                       \
	};                                                                        \
	extern WRAPPER const struct nccl_plugin_v##number ncclProfiler_v##number; \
	WRAPPER const struct nccl_plugin_v##number ncclProfiler_v##number = {     \
		"hpct", begins, start_v##number, stop, state, end};
PLUGIN(2, event_v3, begin)
PLUGIN(3, event_v3, begin)
PLUGIN(4, event_v4, begin_named)
