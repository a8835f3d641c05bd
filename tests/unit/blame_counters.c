// SPDX-License-Identifier: Apache-2.0
/*
 * blame_counters.c - waits for counters (AMD's s_waitcnt) and barriers (NVIDIA's): which instructions they
 * wait for, in examples, and against a twin that runs forward and keeps what is under way as a list: on
 * random control flow, and on the kernels of tests/gpu/amd_faults.cl, where a naive search is the twin for
 * registers, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/causes.h"
#include "blame/stalls/kernel_code.h"
#include "tests/unit/gpu_binary.h"
#include "tests/unit/seed.h"

#define MOST 16u
#define VM GPU_COUNTER_VECTOR_MEMORY

struct program {
	struct gpu_instruction in[MOST];
	uint32_t count, first_from[MOST + 1], from[4 * MOST], first_to[MOST + 1], to[4 * MOST];
	bool edge[MOST][MOST];
	struct dependency_code code;
};

static struct gpu_instruction *put(struct program *p, enum gpu_kind kind, enum gpu_space space)
{
	struct gpu_instruction *in = &p->in[p->count];

	*in = (struct gpu_instruction){.name = "?",
		.kind = (uint8_t)kind,
		.space = (uint8_t)space,
		.guard = GPU_ALWAYS,
		.write_barrier = GPU_NO_BARRIER,
		.read_barrier = GPU_NO_BARRIER};
	if (p->count)
		p->edge[p->count - 1][p->count] = true;
	p->count++;
	return in;
}

static void put_load(struct program *p, enum gpu_space space)
{
	struct gpu_instruction *in = put(p, GPU_KIND_LOAD, space);

	in->counts = 1u << VM;
	gpu_set_add(&in->defines, GPU_COUNTER + VM);
}

static void put_wait(struct program *p, unsigned left)
{
	struct gpu_instruction *in = put(p, GPU_KIND_WAIT, GPU_SPACE_NONE);

	in->waits = 1u << VM;
	in->left[VM] = (uint8_t)left;
	gpu_set_add(&in->uses, GPU_COUNTER + VM);
}

static void link_up(struct program *p)
{
	uint32_t from = 0, to = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		p->first_from[i] = from;
		p->first_to[i] = to;
		for (uint32_t j = 0; j < p->count; j++) {
			if (p->edge[j][i])
				p->from[from++] = j;
			if (p->edge[i][j])
				p->to[to++] = j;
		}
	}
	p->first_from[p->count] = from;
	p->first_to[p->count] = to;
	p->code = (struct dependency_code){p->in, p->count, p->first_from, p->from, p->first_to, p->to};
}

/* ---- the twin: all lists of what may be under way, at each instruction ---- */

struct list {
	uint32_t count;
	uint16_t at[1]; /* oldest first; as many as there is room for */
};

struct forward {
	const struct dependency_code *code;
	unsigned counter, room; /* longer lists lose their oldest */
	size_t bytes;		/* of a list */
	uint8_t **lists;	/* [instruction] */
	size_t *list_count, *list_room;
	uint32_t *queue; /* of (instruction, list) */
	size_t queued, queue_room;
	bool *found; /* [define * count + use] */
};

static struct list *list_at(const struct forward *f, uint32_t at, size_t i)
{
	return (struct list *)(void *)(f->lists[at] + i * f->bytes);
}

static void arrive(struct forward *f, uint32_t at, const struct list *list)
{
	for (size_t i = 0; i < f->list_count[at]; i++)
		if (memcmp(list_at(f, at, i), list, f->bytes) == 0)
			return;
	if (f->list_count[at] == f->list_room[at]) {
		f->list_room[at] = 2 * f->list_room[at] + 1;
		f->lists[at] = realloc(f->lists[at], f->list_room[at] * f->bytes);
		assert_non_null(f->lists[at]);
	}
	if (2 * f->queued + 2 > f->queue_room) {
		f->queue_room = 2 * f->queue_room + 64;
		f->queue = realloc(f->queue, f->queue_room * sizeof *f->queue);
		assert_non_null(f->queue);
	}
	memcpy(list_at(f, at, f->list_count[at]), list, f->bytes);
	f->queue[2 * f->queued] = at;
	f->queue[2 * f->queued + 1] = (uint32_t)f->list_count[at]++;
	f->queued++;
}

/* Takes the oldest away; what is not used of the list stays zero, so that equal lists are equal bytes. */
static void drop(struct list *list, uint32_t count)
{
	memmove(list->at, list->at + count, (list->count - count) * sizeof *list->at);
	memset(list->at + list->count - count, 0, count * sizeof *list->at);
	list->count -= count;
}

/* Counters from GPU_COUNTERS on are NVIDIA's barriers. */
static unsigned resource_of(unsigned counter)
{
	return counter < GPU_COUNTERS ? GPU_COUNTER + counter : GPU_BARRIER + counter - GPU_COUNTERS;
}

static bool is_wait(const struct gpu_instruction *in, unsigned counter, uint32_t *left)
{
	if (counter >= GPU_COUNTERS) {
		*left = in->wait_mask >> (counter - GPU_COUNTERS) & 1 ? 0 : in->barrier_left;
		return gpu_set_has(&in->uses, resource_of(counter));
	}
	*left = in->left[counter];
	return in->waits >> counter & 1;
}

static bool is_counted(const struct gpu_instruction *in, unsigned counter)
{
	return counter < GPU_COUNTERS ? in->counts >> counter & 1
				      : gpu_set_has(&in->defines, resource_of(counter));
}

static void pass(struct forward *f, uint32_t at, struct list *list)
{
	const struct gpu_instruction *in = &f->code->instructions[at];
	uint32_t left;

	if (is_wait(in, f->counter, &left) && list->count > left) {
		uint32_t ended = list->count - left;

		for (uint32_t i = 0; i < ended; i++)
			f->found[(size_t)list->at[i] * f->code->count + at] = true;
		drop(list, ended);
	}
	if (is_counted(in, f->counter)) {
		if (list->count == f->room)
			drop(list, 1);
		list->at[list->count++] = (uint16_t)at;
	}
	for (uint32_t e = f->code->first_to[at]; e < f->code->first_to[at + 1]; e++)
		arrive(f, f->code->to[e], list);
}

/* found[]: which wait waits for which instruction, on some path that begins anywhere. The caller frees it. */
static bool *run_forward(const struct dependency_code *code, unsigned counter, unsigned room)
{
	struct forward f = {.code = code, .counter = counter, .room = room};
	struct list *list;

	f.bytes = sizeof(struct list) + room * sizeof(uint16_t);
	f.bytes = (f.bytes + 7) & ~(size_t)7;
	f.lists = calloc(code->count, sizeof *f.lists);
	f.list_count = calloc(code->count, sizeof *f.list_count);
	f.list_room = calloc(code->count, sizeof *f.list_room);
	f.found = calloc((size_t)code->count * code->count + 1, 1);
	list = calloc(1, f.bytes);
	assert_true(f.lists && f.list_count && f.list_room && f.found && list);
	for (uint32_t i = 0; i < code->count; i++)
		arrive(&f, i, list);
	for (size_t next = 0; next < f.queued; next++) {
		memcpy(list, list_at(&f, f.queue[2 * next], f.queue[2 * next + 1]), f.bytes);
		pass(&f, f.queue[2 * next], list);
	}
	for (uint32_t i = 0; i < code->count; i++)
		free(f.lists[i]);
	free(f.lists);
	free(f.list_count);
	free(f.list_room);
	free(f.queue);
	free(list);
	return f.found;
}

static unsigned compare_counter(const struct dependency_code *code, unsigned counter, unsigned room)
{
	struct dependency_slice *slice = dependency_slice_new(code, 1u << 20, NULL);
	bool *found = run_forward(code, counter, room);
	struct gpu_set only = {{0}};
	unsigned met = 0;

	assert_non_null(slice);
	gpu_set_add(&only, resource_of(counter));
	for (uint32_t use = 0; use < code->count; use++) {
		const struct dependency *edges;
		struct error error;
		size_t count, at = 0;

		assert_int_equal(dependency_slice_back(slice, use, &only, &edges, &count, &error), 0);
		for (uint32_t define = 0; define < code->count; define++) {
			bool is_there = at < count && edges[at].define == define;

			if (is_there != found[(size_t)define * code->count + use])
				fail_msg("%u waits for %u: %s", use, define, is_there ? "not so" : "missing");
			at += is_there;
		}
		assert_int_equal(at, count);
		met += (unsigned)count;
	}
	dependency_slice_free(slice);
	free(found);
	return met;
}

/* ---- examples ---- */

static const struct architecture *cdna2(void)
{
	return architecture_of_isa(&gpu_isa_cdna2, 0);
}

/* Of loads A and B the first wait leaves B under way: it waits for A, and the second for B alone. */
static void test_two_loads(void **state)
{
	static struct program p;
	static struct cause_samples samples[MOST];
	struct causes causes;
	struct error error;

	(void)state;
	put_load(&p, GPU_SPACE_GLOBAL);
	put_load(&p, GPU_SPACE_GLOBAL);
	put_wait(&p, 1);
	put_wait(&p, 0);
	link_up(&p);
	samples[2].all[STALL_GMEM] = 7;
	samples[3].all[STALL_GMEM] = 5;
	assert_int_equal(causes_find(&causes, &p.code, samples, cdna2(), NULL, &error), 0);
	assert_int_equal(causes.count, 2);
	assert_int_equal(causes.list[0].use, 2);
	assert_int_equal(causes.list[0].define, 0);
	assert_int_equal(causes.list[1].use, 3);
	assert_int_equal(causes.list[1].define, 1);
	assert_int_equal(causes.list[0].class, CAUSE_GLOBAL);
	causes_fini(&causes);
}

/* A wait around a loop leaves one: of it and the round's own load the older is waited for. */
static void test_loop(void **state)
{
	static struct program p;
	bool *found;

	(void)state;
	put_load(&p, GPU_SPACE_GLOBAL);
	put_load(&p, GPU_SPACE_GLOBAL); /* the loop begins */
	put_wait(&p, 1);
	p.edge[2][1] = true;
	link_up(&p);
	assert_int_equal(compare_counter(&p.code, VM, 8), 2);
	found = run_forward(&p.code, VM, 8);
	assert_true(found[0 * 3 + 2] && found[1 * 3 + 2]);
	free(found);
}

/* Kinds of memory that one counter counts are of their own class. */
static void test_classes(void **state)
{
	static struct program p;
	static struct cause_samples samples[MOST];
	struct causes causes;
	struct error error;

	(void)state;
	put_load(&p, GPU_SPACE_SHARED);
	put_load(&p, GPU_SPACE_CONSTANT);
	put_wait(&p, 0);
	link_up(&p);
	samples[2].all[STALL_GMEM] = 6;
	samples[0].all[STALL_NONE] = samples[1].all[STALL_NONE] = 1;
	assert_int_equal(causes_find(&causes, &p.code, samples, cdna2(), NULL, &error), 0);
	assert_int_equal(causes.count, 4); /* two of them: that the loads issued */
	assert_int_equal(causes.list[2].class, CAUSE_SHARED);
	assert_int_equal(causes.list[3].class, CAUSE_CONSTANT);
	assert_true(causes.list[2].samples > 1.99 && causes.list[2].samples < 2.01); /* twice as far away */
	causes_fini(&causes);
}

/* ---- random control flow ---- */

static unsigned draw(unsigned below)
{
	return (unsigned)(rand() % (int)below); /* NOLINT: seeded, see seed.h */
}

static void compare_random(void (*put_any)(struct program *p), unsigned counter)
{
	unsigned met = 0;

	for (unsigned round = 0; round < 3000; round++) {
		static struct program p;
		unsigned count = 3 + draw(5);

		p = (struct program){.count = 0};
		for (unsigned i = 0; i < count; i++)
			put_any(&p);
		for (unsigned i = draw(3); i > 0; i--)
			p.edge[draw(count)][draw(count)] = true;
		if (draw(4) == 0)
			p.edge[0][1] = false;
		link_up(&p);
		met += compare_counter(&p.code, counter, 8);
	}
	print_message("%u edges\n", met);
	assert_true(met > 500);
}

static void put_any_counted(struct program *p)
{
	unsigned kind = draw(3);

	if (kind == 0)
		put_load(p, GPU_SPACE_GLOBAL);
	else if (kind == 1)
		put_wait(p, draw(3));
	else
		put(p, GPU_KIND_FLOAT, GPU_SPACE_NONE);
}

static void test_random(void **state)
{
	(void)state;
	srand((unsigned)seed_take("blame_counters", 21));
	compare_random(put_any_counted, VM);
}

/* ---- NVIDIA's barriers ---- */

static void put_set(struct program *p, unsigned barrier, enum gpu_kind kind)
{
	struct gpu_instruction *in = put(p, kind, GPU_SPACE_GLOBAL);

	in->write_barrier = (uint8_t)barrier;
	gpu_set_add(&in->defines, GPU_BARRIER + barrier);
}

static void mask(struct gpu_instruction *in, unsigned barrier)
{
	in->wait_mask |= (uint8_t)(1u << barrier);
	gpu_set_add(&in->uses, GPU_BARRIER + barrier);
}

static void put_depbar(struct program *p, unsigned barrier, unsigned left)
{
	struct gpu_instruction *in = put(p, GPU_KIND_WAIT, GPU_SPACE_NONE);

	in->barrier_left = (uint8_t)left;
	gpu_set_add(&in->uses, GPU_BARRIER + barrier);
}

/* Two loads that set one barrier are waited for together; one before the wait before is not. */
static void test_barrier(void **state)
{
	static struct program p;
	static struct cause_samples samples[MOST];
	struct causes causes;
	struct error error;

	(void)state;
	put_set(&p, 2, GPU_KIND_LOAD);
	mask(put(&p, GPU_KIND_FLOAT, GPU_SPACE_NONE), 2);
	put_set(&p, 2, GPU_KIND_LOAD);
	put_set(&p, 2, GPU_KIND_LOAD);
	mask(put(&p, GPU_KIND_FLOAT, GPU_SPACE_NONE), 2);
	link_up(&p);
	samples[4].all[STALL_GMEM] = 9;
	samples[2].all[STALL_NONE] = samples[3].all[STALL_NONE] = 1;
	assert_int_equal(causes_find(&causes, &p.code, samples, architecture_of(90), NULL, &error), 0);
	assert_int_equal(causes.count, 4); /* two of them: that the loads issued */
	assert_int_equal(causes.list[2].define, 2);
	assert_int_equal(causes.list[3].define, 3);
	assert_true(causes.list[2].samples > 2.99 && causes.list[2].samples < 3.01); /* twice as far away */
	causes_fini(&causes);
}

/* Of three groups of copies a wait that leaves one is for the two older ones. */
static void test_depbar(void **state)
{
	static struct program p;
	bool *found;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		put_set(&p, 0, GPU_KIND_COPY);
	put_depbar(&p, 0, 1);
	put_depbar(&p, 0, 0);
	link_up(&p);
	assert_int_equal(compare_counter(&p.code, GPU_COUNTERS, 8), 3);
	found = run_forward(&p.code, GPU_COUNTERS, 8);
	assert_true(found[0 * 5 + 3] && found[1 * 5 + 3] && !found[2 * 5 + 3] && found[2 * 5 + 4]);
	free(found);
}

static void put_any_barrier(struct program *p)
{
	unsigned kind = draw(3);

	if (kind == 0)
		put_set(p, 0, GPU_KIND_LOAD);
	else if (kind == 1)
		put_depbar(p, 0, draw(3));
	else
		put(p, GPU_KIND_FLOAT, GPU_SPACE_NONE);
	if (draw(5) == 0)
		mask(&p->in[p->count - 1], 0);
}

static void test_random_barriers(void **state)
{
	(void)state;
	srand((unsigned)seed_take("blame_counters, barriers", 22));
	compare_random(put_any_barrier, GPU_COUNTERS);
}

/* ---- compiled code ---- */

static void walk_back(
	const struct dependency_code *code, uint32_t at, unsigned resource, bool *seen, bool *defines)
{
	for (uint32_t e = code->first_from[at]; e < code->first_from[at + 1]; e++) {
		uint32_t before = code->from[e];

		if (seen[before])
			continue;
		seen[before] = true;
		if (gpu_set_has(&code->instructions[before].defines, resource))
			defines[before] = true;
		else
			walk_back(code, before, resource, seen, defines);
	}
}

static unsigned compare_registers(const struct dependency_code *code)
{
	struct dependency_slice *slice = dependency_slice_new(code, 1u << 20, NULL);
	bool *seen = malloc(code->count), *defines = malloc(code->count);
	unsigned met = 0;

	assert_true(slice && seen && defines);
	for (uint32_t use = 0; use < code->count; use++)
		for (unsigned r = 0; r < GPU_COUNTER; r++) {
			const struct dependency *edges;
			struct gpu_set only = {{0}};
			struct error error;
			size_t count, at = 0;

			if (!gpu_set_has(&code->instructions[use].uses, r))
				continue;
			gpu_set_add(&only, r);
			memset(seen, 0, code->count);
			memset(defines, 0, code->count);
			walk_back(code, use, r, seen, defines);
			assert_int_equal(dependency_slice_back(slice, use, &only, &edges, &count, &error), 0);
			for (uint32_t i = 0; i < code->count; i++) {
				assert_int_equal(at < count && edges[at].define == i, defines[i]);
				at += defines[i];
			}
			assert_int_equal(at, count);
			met += (unsigned)count;
		}
	dependency_slice_free(slice);
	free(seen);
	free(defines);
	return met;
}

static void test_compiled(void **state)
{
	void *bytes;
	struct gpu_code *binary = gpu_file_open(GPU_BINARIES "/amd_faults-gfx90a.co", &bytes);
	size_t count;
	const struct gpu_function *functions = gpu_code_functions(binary, &count);

	(void)state;
	assert_int_equal(count, 10);
	for (size_t i = 0; i < count; i++) {
		struct kernel_code code;
		struct error error;
		unsigned registers, counters;

		assert_int_equal(kernel_code_read(&code, binary, &functions[i], &error), 0);
		assert_ptr_equal(code.isa, &gpu_isa_cdna2);
		assert_int_equal(code.opaque, 0);
		registers = compare_registers(&code.flow);
		counters = compare_counter(&code.flow, GPU_COUNTER_VECTOR_MEMORY, 256) +
			   compare_counter(&code.flow, GPU_COUNTER_SHARED_MEMORY, 256);
		print_message("%s: %u instructions, %u edges of registers, %u of counters\n", code.name,
			code.count, registers, counters);
		assert_true(registers > code.count / 2 && counters > 0);
		kernel_code_fini(&code);
	}
	gpu_code_close(binary);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_loads), cmocka_unit_test(test_loop),
		cmocka_unit_test(test_classes), cmocka_unit_test(test_random), cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_depbar), cmocka_unit_test(test_random_barriers),
		cmocka_unit_test(test_compiled)};

	return cmocka_run_group_tests_name("blame_counters", tests, NULL, NULL);
}
