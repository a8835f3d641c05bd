/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_call.c - see mpi_call.h. Handles are pointers in Open MPI and numbers in MPICH and its derivatives: the
 * library is detected at run time, and sizes come from its own functions. Fortran calls are recorded where
 * they enter; MPICH implements them by its C functions, whose nested calls are not recorded.
 */
#include "record/agent/mpi/mpi_call.h"

#include <dlfcn.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/real_caller.h"
#include "record/agent/base/ticks.h"
#include "record/agent/mpi/mpi_communicator.h"
#include "record/agent/process/environment.h"

#define MPICH_COMM_WORLD 0x44000000u
#define MPICH_COMM_SELF 0x44000001u
#define MPICH_ANY_SOURCE (-2)			  /* -1: no process */
#define OPENMPI_ANY_SOURCE (-1)			  /* -2: no process */
#define MPI_ATTRIBUTES (192 + MPI_REQUESTS_BYTES) /* the longest text of a call */

struct mpi_call_kind {
	const char *name[MPI_BINDING_COUNT];
	int arguments, communicator, count, type, peer, tag, source, request;
	enum mpi_kind kind;
	bool may_sum; /* calls may come in great numbers, and no other rank is judged by them */
	bool waits;   /* for what another process does: all but those that send or begin */
};

static const struct mpi_call_kind kinds[] = {
#define KIND(name, fortran, n, m, communicator, count, type, peer, tag, source, request, kind)             \
	{{"MPI_" #name, "mpi_" #fortran "_", "mpi_" #fortran "_f08_"}, n, communicator, count, type, peer, \
		tag, source, request, MPI_##kind,                                                          \
		(MPI_##kind == MPI_PLAIN || MPI_##kind == MPI_TEST) && ((tag) >= 0 || (request) >= 0),     \
		(source) >= 0 || (communicator) < 0 || (count) < 0 || MPI_CALL_##name == MPI_CALL_Recv},
	MPI_CALLS(KIND)
#undef KIND
};

static void *real_calls[MPI_CALL_COUNT][MPI_BINDING_COUNT];

static struct library {
	bool is_known, is_openmpi;
	uint64_t world, self;
	int (*type_size)(uint64_t type, int *bytes);
	int (*comm_rank)(uint64_t communicator, int *rank);
	uint64_t (*comm_f2c)(int communicator);
	uint64_t (*type_f2c)(int type);
} library;

static __thread unsigned depth __attribute__((tls_model("initial-exec")));

static void *symbol_find(const char *name, void *caller)
{
	return real_caller_symbol(name, caller, NULL);
}

/* A data object of the library, which the linker may have copied into the program. */
static void *object_find(const char *name, void *caller)
{
	void *(*lookup)(void *, const char *);
	void *address = NULL;

	*(void **)&lookup = real_symbol("dlsym");
	if (lookup)
		address = lookup(RTLD_DEFAULT, name);
	return address ? address : symbol_find(name, caller);
}

/* What is read of it. MPICH's functions use 32 bits of these words, Open MPI's all. */
#define LIBRARY_NAMES(X)                \
	X(world, "ompi_mpi_comm_world") \
	X(self, "ompi_mpi_comm_self")   \
	X(type_size, "PMPI_Type_size")  \
	X(comm_rank, "PMPI_Comm_rank")  \
	X(comm_f2c, "PMPI_Comm_f2c")    \
	X(type_f2c, "PMPI_Type_f2c")

struct library_names {
#define NAME(field, name) void *field;
	LIBRARY_NAMES(NAME)
#undef NAME
};

static void library_set(const struct library_names *names)
{
	bool is_openmpi = names->world != NULL;

	library.is_openmpi = is_openmpi;
	library.world = is_openmpi ? (uintptr_t)names->world : MPICH_COMM_WORLD;
	library.self = is_openmpi ? (uintptr_t)names->self : MPICH_COMM_SELF;
	*(void **)&library.type_size = names->type_size;
	*(void **)&library.comm_rank = names->comm_rank;
	*(void **)&library.comm_f2c = is_openmpi ? names->comm_f2c : NULL;
	*(void **)&library.type_f2c = is_openmpi ? names->type_f2c : NULL;
	mpi_communicator_init(library.world, library.self);
	ticks_begin();
	library.is_known = true;
}

static void library_find(void *caller)
{
	struct library_names names = {.world = object_find("ompi_mpi_comm_world", caller)};

	if (names.world) {
		names.self = object_find("ompi_mpi_comm_self", caller);
		names.comm_f2c = symbol_find("PMPI_Comm_f2c", caller);
		names.type_f2c = symbol_find("PMPI_Type_f2c", caller);
	}
	names.type_size = symbol_find("PMPI_Type_size", caller);
	names.comm_rank = symbol_find("PMPI_Comm_rank", caller);
	library_set(&names);
}

void mpi_call_library(void *(*find)(const char *name))
{
	struct library_names names;

#define FIND(field, name) names.field = find(name);
	LIBRARY_NAMES(FIND)
#undef FIND
	library_set(&names);
}

void **mpi_call_real(enum mpi_call_index index, enum mpi_binding binding)
{
	return &real_calls[index][binding];
}

const char *mpi_call_name(enum mpi_call_index index, enum mpi_binding binding)
{
	return kinds[index].name[binding];
}

/* ---- arguments ---- */

static int number_of(const struct mpi_call *call, int index)
{
	long word = call->arguments[index];

	return call->binding == MPI_BINDING_C ? (int)word : *(const int *)word;
}

static uint64_t handle_of(const struct mpi_call *call, uint64_t word, uint64_t (*from_fortran)(int))
{
	if (call->binding != MPI_BINDING_C && from_fortran)
		return from_fortran((int)word);
	return library.is_openmpi ? word : (uint32_t)word;
}

static uint64_t handle_at(const struct mpi_call *call, int index, uint64_t (*from_fortran)(int))
{
	if (call->binding == MPI_BINDING_C)
		return handle_of(call, (uint64_t)call->arguments[index], NULL);
	return handle_of(call, (uint64_t)(int64_t)number_of(call, index), from_fortran);
}

/* The communicator that a pointer argument points to. */
static uint64_t communicator_behind(const struct mpi_call *call, int index)
{
	const void *place = (const void *)call->arguments[index];

	if (call->binding == MPI_BINDING_C && library.is_openmpi)
		return *(const uint64_t *)place;
	return handle_of(call, (uint64_t)(int64_t) * (const int *)place, library.comm_f2c);
}

static uint64_t bytes_of(const struct mpi_call *call)
{
	int count, size = 0;

	if (call->kind->count < 0 || !library.type_size)
		return 0;
	count = number_of(call, call->kind->count);
	if (count <= 0 || library.type_size(handle_at(call, call->kind->type, library.type_f2c), &size) ||
		size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

/* ---- requests ---- */

static int requests_count(const struct mpi_call *call)
{
	int count = call->kind->request == 1 && call->kind->communicator < 0 ? number_of(call, 0) : 1;

	return count <= MPI_REQUESTS_MAX ? count : 0;
}

/* Of a call that begins something, after it; of one that waits for it, before it, as the library takes the
 * handle away. More than MPI_REQUESTS_MAX of them are left out. */
static void requests_read(struct mpi_call *call)
{
	const void *array = (const void *)call->arguments[call->kind->request];
	const bool is_pointer = call->binding == MPI_BINDING_C && library.is_openmpi;

	for (int i = 0; i < requests_count(call); i++)
		call->handles[i] = is_pointer ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

/* A request is known by its handle, which the library uses again once it is over. */
static void requests_write(struct mpi_call *call)
{
	for (int i = 0; i < requests_count(call); i++) {
		if (i)
			strcat(call->requests, "+");
		environment_hexadecimal(call->requests + strlen(call->requests), call->handles[i]);
	}
}

static bool begins_something(const struct mpi_call_kind *kind)
{
	return kind->request >= 0 && kind->communicator >= 0;
}

static bool ends_something(const struct mpi_call_kind *kind)
{
	return kind->request >= 0 && kind->communicator < 0;
}

/* Of a call that only looks. */
static bool is_over(const struct mpi_call *call)
{
	return *(const int *)call->arguments[call->kind->request + 1];
}

/* ---- what is told ---- */

static void rank_publish(int rank)
{
	if (process_is_own() && rank >= 0)
		atomic_store(&process.shared->rank_known, rank + 1);
}

static void number_write(char *text, const char *key, int number)
{
	if (number < 0) /* MPI's own: any source, any tag, no process */
		return;
	strcat(text, key);
	environment_decimal(text + strlen(text), (unsigned long)number);
}

static void argument_write(const struct mpi_call *call, char *text, const char *key, int index)
{
	if (index >= 0)
		number_write(text, key, number_of(call, index));
}

/* No process: the message is none. Any source: nobody knows in advance whose it is. */
static void rank_write(const struct mpi_call *call, char *text, const char *key, int index)
{
	if (index >= 0 &&
		number_of(call, index) == (library.is_openmpi ? OPENMPI_ANY_SOURCE : MPICH_ANY_SOURCE))
		strcat(strcat(text, key), "any");
	else
		argument_write(call, text, key, index);
}

/* Messages name ranks of their communicator: which of them this process is. */
static void own_rank_write(const struct mpi_call *call, char *text)
{
	int rank;

	if (call->kind->tag >= 0 && call->communicator != library.world && library.comm_rank &&
		!library.comm_rank(call->communicator, &rank))
		number_write(text, ",as=", rank);
}

static void attributes_write(const struct mpi_call *call, bool has_worked, char *text)
{
	const struct mpi_call_kind *kind = call->kind;

	strcpy(text, "call=");
	strcat(text, kind->name[MPI_BINDING_C]);
	if (call->name[0])
		strcat(strcat(text, ",comm="), call->name);
	if (call->number) {
		strcat(text, ",seq=");
		environment_decimal(text + strlen(text), call->number);
	}
	rank_write(call, text, ",peer=", kind->peer);
	argument_write(call, text, ",tag=", kind->tag);
	if (kind->source >= 0) {
		rank_write(call, text, ",source=", kind->source);
		argument_write(call, text, ",source_tag=", kind->source + 1);
	}
	if (has_worked) /* or its communicator may be none */
		own_rank_write(call, text);
	if (call->requests[0])
		strcat(strcat(text, ",request="), call->requests);
}

static void communicator_learn(const struct mpi_call *call)
{
	int last = call->kind->arguments - 1;
	enum mpi_kind kind = call->kind->kind;

	if (kind == MPI_NEW || kind == MPI_SPLIT)
		mpi_communicator_add(communicator_behind(call, last), call->name, call->number,
			kind == MPI_SPLIT ? number_of(call, call->kind->communicator + 1) : -1);
}

static void rank_learn(const struct mpi_call *call)
{
	int rank;

	if (call->kind->kind == MPI_RANK && handle_at(call, 0, library.comm_f2c) == library.world)
		rank_publish(*(const int *)call->arguments[1]);
	if (call->kind->kind == MPI_INIT && library.comm_rank && !library.comm_rank(library.world, &rank))
		rank_publish(rank);
}

/* ---- around the call ---- */

static void span_prepare(struct mpi_call *call)
{
	const struct mpi_call_kind *kind = call->kind;

	if (ends_something(kind))
		requests_write(call);
	if (call->is_passage) {
		if (kind->communicator >= 0) {
			call->communicator = handle_at(call, kind->communicator, library.comm_f2c);
			environment_hexadecimal(call->name, call->communicator);
		}
		return;
	}
	if (kind->communicator >= 0) {
		call->communicator = handle_at(call, kind->communicator, library.comm_f2c);
		call->number = mpi_communicator_use(call->communicator, kind->kind != MPI_PLAIN, call->name);
	}
	if (kind->kind == MPI_FREE)
		mpi_communicator_remove(communicator_behind(call, 0));
}

static bool is_left_out(const struct mpi_call *call, bool has_worked)
{
	enum mpi_kind kind = call->kind->kind;

	return process.settings.no_mpi || kind == MPI_RANK || kind == MPI_FREE ||
	       (kind == MPI_TEST && (!has_worked || !is_over(call)));
}

/* False: it is long, or has no room in the sums: a span is made of it. */
static bool sum_end(struct mpi_call *call, bool has_worked)
{
	const struct mpi_call_kind *kind = call->kind;
	struct mpi_sum_call told = {.function = call->real, .count = -1, .type_size = library.type_size};
	uint64_t duration_ns;

	if (call->sum.thread != thread_self())
		return true; /* a fork child made by a signal handler meanwhile */
	duration_ns = mpi_sums_end(&call->sum);
	if (kind->count >= 0) {
		told.count = number_of(call, kind->count);
		told.type = handle_at(call, kind->type, library.type_f2c);
	}
	if (mpi_sums_is_short(duration_ns) &&
		(is_left_out(call, has_worked) || mpi_sums_add(&call->sum, duration_ns, &told)))
		return true;
	span_prepare(call);
	call->wait = (struct wait){.thread = call->sum.thread, .begin_ns = process_now_ns() - duration_ns};
	return false;
}

/* Where a rank hangs nobody would know in which call: calls are published when they return. */
static void enter(const struct mpi_call *call)
{
	struct event_ring *shared;

	if (!call->number || !call->wait.thread || call->wait.outer_ns)
		return;
	_Static_assert(MPI_COMMUNICATOR_NAME + 64 <= EVENT_CALL_BYTES, "call, communicator and number");
	shared = call->wait.thread->ring.shared;
	strcpy(shared->call, "call=");
	strcat(shared->call, call->kind->name[MPI_BINDING_C]);
	strcat(strcat(shared->call, ",comm="), call->name);
	strcat(shared->call, ",seq=");
	environment_decimal(shared->call + strlen(shared->call), call->number);
	atomic_store_explicit(&shared->call_begin_ns, call->wait.begin_ns, memory_order_release);
}

static void leave(const struct mpi_call *call)
{
	if (call->number && call->wait.thread && !call->wait.outer_ns && call->wait.thread == thread_self())
		atomic_store_explicit(
			&call->wait.thread->ring.shared->call_begin_ns, 0, memory_order_release);
}

void mpi_call_begin(struct mpi_call *call, enum mpi_call_index index, enum mpi_binding binding,
	const long *arguments, void *caller)
{
	const struct mpi_call_kind *kind = &kinds[index];
	struct thread *t = thread_self();

	call->is_passage = process.settings.injected;
	call->passage.begin_ns = 0;
	if (call->is_passage)
		passage_begin(&call->passage);
	call->kind = kind;
	call->binding = binding;
	call->arguments = arguments;
	call->number = 0;
	call->name[0] = '\0';
	call->requests[0] = '\0';
	if (!real_calls[index][binding])
		real_calls[index][binding] = symbol_find(kind->name[binding], caller);
	call->real = real_calls[index][binding];
	call->is_published = !depth++ && call->real &&
			     (call->is_passage ? call->passage.begin_ns != 0 : t != NULL) &&
			     (!process.settings.no_mpi || kind->kind == MPI_RANK || kind->kind == MPI_INIT);
	if (!call->is_published)
		return;
	if (!library.is_known)
		library_find(caller);
	if (ends_something(kind))
		requests_read(call);
	call->is_summed = !call->is_passage && process.settings.sums_mpi && kind->may_sum &&
			  mpi_sums_begin(&call->sum, t, kind->waits, call->real);
	if (call->is_summed)
		return;
	if (index == MPI_CALL_Finalize && !call->is_passage)
		mpi_sums_close(t);
	span_prepare(call);
	if (call->is_passage)
		return;
	wait_begin(&call->wait);
	enter(call);
}

/* Of a call that went through an agent that came later. */
static void passage_over(struct mpi_call *call, bool has_worked, const struct wait_call *span, char *text)
{
	if (has_worked && begins_something(call->kind)) {
		requests_read(call);
		requests_write(call);
	}
	if (is_left_out(call, has_worked))
		return;
	attributes_write(call, has_worked, text);
	passage_end(&call->passage, call->real, span);
}

void mpi_call_end(struct mpi_call *call, bool has_worked)
{
	char text[MPI_ATTRIBUTES];
	struct wait_call span = {.operation = STORE_OP_MPI, .attributes = text};

	depth--;
	if (!call->is_published || (call->is_summed && sum_end(call, has_worked)))
		return;
	if (call->is_passage) {
		span.bytes = bytes_of(call);
		passage_over(call, has_worked, &span, text);
		return;
	}
	if (has_worked) {
		rank_learn(call);
		communicator_learn(call);
	}
	if (has_worked && begins_something(call->kind)) {
		requests_read(call);
		requests_write(call);
	}
	if (is_left_out(call, has_worked)) {
		wait_end(&call->wait, call->real);
		leave(call);
		return;
	}
	span.bytes = bytes_of(call);
	attributes_write(call, has_worked, text);
	wait_end_call(&call->wait, call->real, &span);
	leave(call);
	if (!call->is_summed && call->wait.thread && call->kind->may_sum)
		mpi_sums_span(call->wait.thread, call->wait.begin_ns, process_now_ns());
}
