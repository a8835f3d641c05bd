/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_causes.c - stalls to causes: the figures of S2 (1, 3, 4, 5), the three pruning rules one by one,
 * conservation, and a naive slicer as twin on random control flow.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/causes.h"
#include "tests/unit/seed.h"

#define MOST 64u

/* A function of straight code, and edges beside it. */
struct program {
	struct gpu_instruction in[MOST];
	uint32_t count, first_from[MOST + 1], from[4 * MOST], first_to[MOST + 1], to[4 * MOST];
	bool edge[MOST][MOST];
	struct dependency_code code;
	struct cause_samples samples[MOST];
};

static struct gpu_instruction *put(
	struct program *p, const char *name, enum gpu_kind kind, enum gpu_space space)
{
	struct gpu_instruction *in = &p->in[p->count];

	*in = (struct gpu_instruction){.name = name,
		.kind = (uint8_t)kind,
		.space = (uint8_t)space,
		.guard = GPU_ALWAYS,
		.write_barrier = GPU_NO_BARRIER,
		.read_barrier = GPU_NO_BARRIER,
		.stall = 1};
	if (p->count)
		p->edge[p->count - 1][p->count] = true;
	p->count++;
	return in;
}

static void defines(struct gpu_instruction *in, unsigned resource)
{
	gpu_set_add(&in->defines, resource);
}

static void uses(struct gpu_instruction *in, unsigned resource)
{
	gpu_set_add(&in->uses, resource);
}

static void guard(struct gpu_instruction *in, unsigned predicate, bool is_negated)
{
	in->guard = (uint8_t)predicate;
	in->is_guard_negated = is_negated;
	uses(in, GPU_PREDICATE + predicate);
}

static void writes_barrier(struct gpu_instruction *in, unsigned barrier)
{
	in->write_barrier = (uint8_t)barrier;
	defines(in, GPU_BARRIER + barrier);
}

static void reads_barrier(struct gpu_instruction *in, unsigned barrier)
{
	in->read_barrier = (uint8_t)barrier;
	defines(in, GPU_BARRIER + barrier);
}

static void waits(struct gpu_instruction *in, unsigned barrier)
{
	in->wait_mask |= (uint8_t)(1u << barrier);
	uses(in, GPU_BARRIER + barrier);
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

static void find(struct program *p, struct causes *causes)
{
	struct error error;

	link_up(p);
	assert_int_equal(causes_find(causes, &p->code, p->samples, architecture_of(70), NULL, &error), 0);
}

static const struct cause *cause_of(const struct causes *causes, uint32_t define, uint32_t use)
{
	for (size_t i = 0; i < causes->count; i++)
		if (causes->list[i].define == define && causes->list[i].use == use)
			return &causes->list[i];
	return NULL;
}

static double near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* Fig 3: the branch does not read R0 but waits for B0, which the load sets. */
static void test_barrier(void **state)
{
	struct program p = {.count = 0};
	struct causes causes;
	struct gpu_instruction *in;

	(void)state;
	in = put(&p, "LDG", GPU_KIND_LOAD, GPU_SPACE_GLOBAL);
	defines(in, 0), uses(in, 2), uses(in, 3), writes_barrier(in, 0);
	in = put(&p, "BRA", GPU_KIND_CONTROL, GPU_SPACE_NONE);
	waits(in, 0);
	p.samples[1].all[STALL_GMEM] = 12;
	p.samples[1].latency[STALL_GMEM] = 5;
	find(&p, &causes);
	assert_int_equal(causes.count, 1);
	assert_int_equal(causes.list[0].define, 0);
	assert_int_equal(causes.list[0].class, CAUSE_GLOBAL);
	assert_int_equal(causes.list[0].distance, 1);
	assert_true(near(causes.list[0].samples, 12) && near(causes.list[0].latency, 5));
	causes_fini(&causes);
}

/* Fig 4: a load of a constant under !P0, two instructions of the same register before it, a load under P0,
 * and an addition that waits for memory. */
static void fig4(struct program *p)
{
	struct gpu_instruction *in;

	*p = (struct program){.count = 0};
	in = put(p, "IMAD", GPU_KIND_INTEGER, GPU_SPACE_NONE); /* 0: hidden behind the two loads together */
	defines(in, 0);
	in = put(p, "LDC", GPU_KIND_LOAD, GPU_SPACE_CONSTANT); /* 1 */
	defines(in, 0), guard(in, 0, true);
	in = put(p, "LDG", GPU_KIND_LOAD, GPU_SPACE_GLOBAL); /* 2 */
	defines(in, 0), guard(in, 0, false);
	in = put(p, "IADD", GPU_KIND_INTEGER, GPU_SPACE_NONE); /* 3 */
	uses(in, 0), defines(in, 8);
	p->samples[3].all[STALL_GMEM] = 10;
	p->samples[3].latency[STALL_GMEM] = 4;
	p->samples[1].all[STALL_NONE] = 2;
	p->samples[2].all[STALL_NONE] = 1;
}

static void test_fig4(void **state)
{
	struct program p;
	struct causes causes;

	(void)state;
	fig4(&p);
	find(&p, &causes);
	/* The constant's load issued twice as often on a path twice as long: equal halves. */
	assert_true(near(cause_of(&causes, 2, 3)->samples, 5));
	assert_true(near(cause_of(&causes, 1, 3)->samples, 5));
	assert_true(near(cause_of(&causes, 1, 3)->latency, 2));
	assert_int_equal(cause_of(&causes, 1, 3)->distance, 2);
	assert_int_equal(cause_of(&causes, 1, 3)->class, CAUSE_CONSTANT);
	assert_int_equal(cause_of(&causes, 2, 3)->class, CAUSE_GLOBAL);
	/* P0 and !P0 cover all: what is before is not reached. */
	assert_null(cause_of(&causes, 0, 3));
	assert_int_equal(causes.nodes, 1);
	assert_int_equal(causes.single_after, 0);
	causes_fini(&causes);

	/* Without the load under !P0 the search goes on; rule 1: an IMAD causes no memory stall. */
	fig4(&p);
	memset(&p.in[1].defines, 0, sizeof p.in[1].defines);
	find(&p, &causes);
	assert_null(cause_of(&causes, 0, 3));
	assert_true(near(cause_of(&causes, 2, 3)->samples, 10));
	assert_int_equal(causes.single_before, 0);
	assert_int_equal(causes.single_after, 1);
	causes_fini(&causes);

	/* Two loads, each of a register of its own: the samples do not tell which, and both get their part.
	 */
	fig4(&p);
	memset(&p.in[1].defines, 0, sizeof p.in[1].defines);
	p.in[1].guard = p.in[2].guard = GPU_ALWAYS;
	defines(&p.in[1], 1), uses(&p.in[3], 1);
	find(&p, &causes);
	assert_true(near(cause_of(&causes, 1, 3)->samples + cause_of(&causes, 2, 3)->samples, 10));
	assert_int_equal(causes.nodes, 1);
	assert_int_equal(causes.single_after, 0);
	causes_fini(&causes);

	/* A use under P0 is covered by a definition under P0 alone. */
	fig4(&p);
	guard(&p.in[3], 0, false);
	find(&p, &causes);
	assert_null(cause_of(&causes, 1, 3));
	causes_fini(&causes);
}

static void test_eq1(void **state)
{
	double shares[2];

	(void)state;
	causes_apportion((double[]){2, 1}, (uint32_t[]){2, 1}, 2, shares);
	assert_true(near(shares[0], 0.5) && near(shares[1], 0.5));
	causes_apportion((double[]){3, 1}, (uint32_t[]){1, 1}, 2, shares);
	assert_true(near(shares[0], 0.75));
	causes_apportion((double[]){0, 0}, (uint32_t[]){1, 3}, 2, shares);
	assert_true(near(shares[0], 0.75));
}

/* Rule 2: an instruction between them that uses the value on every path would show the stall. */
static void test_dominator(void **state)
{
	for (int guarded = 0; guarded < 2; guarded++) {
		struct program p = {.count = 0};
		struct causes causes;
		struct gpu_instruction *in;

		(void)state;
		in = put(&p, "LDG", GPU_KIND_LOAD, GPU_SPACE_GLOBAL);
		defines(in, 0);
		in = put(&p, "FADD", GPU_KIND_FLOAT, GPU_SPACE_NONE);
		uses(in, 0);
		if (guarded)
			guard(in, 1, false);
		in = put(&p, "FMUL", GPU_KIND_FLOAT, GPU_SPACE_NONE);
		uses(in, 0);
		p.samples[2].all[STALL_GMEM] = 3;
		find(&p, &causes);
		assert_int_equal(causes.count, 1);
		assert_int_equal(causes.list[0].define, guarded ? 0 : 2);
		assert_int_equal(causes.list[0].class, guarded ? CAUSE_GLOBAL : CAUSE_SELF);
		causes_fini(&causes);
	}
}

/* Rule 3: after more instructions than its latency the result is there. */
static void test_latency(void **state)
{
	(void)state;
	for (unsigned between = 3; between < 9; between++) {
		struct program p = {.count = 0};
		struct causes causes;
		struct gpu_instruction *in = put(&p, "FADD", GPU_KIND_FLOAT, GPU_SPACE_NONE);

		defines(in, 0);
		in->stall = 4;
		for (unsigned i = 0; i < between; i++)
			put(&p, "NOP", GPU_KIND_CONTROL, GPU_SPACE_NONE);
		in = put(&p, "FMUL", GPU_KIND_FLOAT, GPU_SPACE_NONE);
		uses(in, 0);
		p.samples[between + 1].all[STALL_IDEP] = p.samples[between + 1].fixed = 3;
		find(&p, &causes);
		assert_int_equal(causes.list[0].class, between + 1 <= architecture_of(70)->arithmetic_cycles
							       ? CAUSE_ARITHMETIC
							       : CAUSE_SELF);
		causes_fini(&causes);
	}
}

/* Fig 5. */
static void test_classes(void **state)
{
	static const struct {
		enum gpu_kind kind;
		enum gpu_space space;
		enum stall stall;
		bool is_war;
		enum cause_class class;
	} cases[] = {{GPU_KIND_LOAD, GPU_SPACE_LOCAL, STALL_GMEM, false, CAUSE_LOCAL},
		{GPU_KIND_LOAD, GPU_SPACE_CONSTANT, STALL_GMEM, false, CAUSE_CONSTANT},
		{GPU_KIND_LOAD, GPU_SPACE_GLOBAL, STALL_GMEM, false, CAUSE_GLOBAL},
		{GPU_KIND_LOAD, GPU_SPACE_ANY, STALL_GMEM, false, CAUSE_GLOBAL},
		{GPU_KIND_LOAD, GPU_SPACE_SHARED, STALL_IDEP, false, CAUSE_SHARED},
		{GPU_KIND_SPECIAL, GPU_SPACE_NONE, STALL_IDEP, false, CAUSE_ARITHMETIC},
		{GPU_KIND_STORE, GPU_SPACE_GLOBAL, STALL_GMEM, true, CAUSE_WAR}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program p = {.count = 0};
		struct causes causes;
		struct gpu_instruction *in = put(&p, "X", cases[i].kind, cases[i].space);

		if (cases[i].is_war)
			reads_barrier(in, 2), uses(in, 4);
		else
			writes_barrier(in, 2), defines(in, 4);
		in = put(&p, "MOV", GPU_KIND_MOVE, GPU_SPACE_NONE);
		waits(in, 2), defines(in, 4);
		p.samples[1].all[cases[i].stall] = 7;
		find(&p, &causes);
		assert_int_equal(causes.count, 1);
		assert_int_equal(causes.list[0].define, 0);
		assert_int_equal(causes.list[0].class, cases[i].class);
		causes_fini(&causes);
	}
}

static void test_synchronization(void **state)
{
	struct program p = {.count = 0};
	struct causes causes;

	(void)state;
	put(&p, "BAR", GPU_KIND_BARRIER, GPU_SPACE_NONE);
	put(&p, "MEMBAR", GPU_KIND_FENCE, GPU_SPACE_NONE);
	put(&p, "MOV", GPU_KIND_MOVE, GPU_SPACE_NONE);
	p.samples[0].all[STALL_SYNC] = 2;
	p.samples[2].all[STALL_SYNC] = 10;
	p.samples[2].fence = 4;
	p.samples[2].all[STALL_NSEL] = 1;
	find(&p, &causes);
	assert_int_equal(cause_of(&causes, 0, 0)->class, CAUSE_BARRIER);
	assert_true(near(cause_of(&causes, 0, 2)->samples, 6));
	assert_true(near(cause_of(&causes, 1, 2)->samples, 4));
	assert_int_equal(cause_of(&causes, 2, 2)->class, CAUSE_SELF);
	causes_fini(&causes);
}

/* ---- random control flow ---- */

static unsigned draw(unsigned below)
{
	return (unsigned)(rand() % (int)below); /* NOLINT: seeded, see seed.h */
}

static void random_program(struct program *p)
{
	unsigned count = 4 + draw(12);

	*p = (struct program){.count = 0};
	for (unsigned i = 0; i < count; i++) {
		static const enum gpu_kind kinds[] = {GPU_KIND_LOAD, GPU_KIND_FLOAT, GPU_KIND_SPECIAL,
			GPU_KIND_BARRIER, GPU_KIND_CONTROL, GPU_KIND_OPAQUE, GPU_KIND_STORE};
		unsigned kind = draw(7);
		struct gpu_instruction *in =
			put(p, "?", kinds[kind], kind == 0 || kind == 6 ? GPU_SPACE_GLOBAL : GPU_SPACE_NONE);

		if (draw(2))
			defines(in, draw(3));
		if (draw(2))
			uses(in, draw(3));
		if (draw(3) == 0)
			guard(in, draw(2), draw(2));
		if (draw(3) == 0)
			writes_barrier(in, draw(2));
		if (draw(3) == 0)
			waits(in, draw(2));
		in->stall = (uint8_t)draw(8);
		for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
			p->samples[i].all[stall] = draw(20);
			p->samples[i].latency[stall] = p->samples[i].all[stall] / 2;
		}
		p->samples[i].fixed = p->samples[i].all[STALL_IDEP] / 4;
		p->samples[i].fixed_latency = p->samples[i].fixed / 2;
		p->samples[i].fence = p->samples[i].all[STALL_SYNC] / 4;
	}
	for (unsigned i = draw(4); i > 0; i--) /* forward and back */
		p->edge[draw(count)][draw(count)] = true;
	for (unsigned i = 0; i < count; i++)
		if (draw(8) == 0 && i + 1 < count)
			p->edge[i][i + 1] = false;
	link_up(p);
}

/* The truth of one resource: follows every path back, as a set of (place, predicates met as a list of
 * truths). */
struct twin {
	const struct program *p;
	unsigned resource;
	uint32_t use;
	bool seen[MOST][1 << 5];
	uint32_t shortest[MOST];
};

/* Four bits: P0, !P0, P1, !P1; 16: all. */
static unsigned twin_guard(const struct gpu_instruction *in)
{
	return in->guard == GPU_ALWAYS ? 16 : 1u << (2 * in->guard + in->is_guard_negated);
}

static bool twin_covers(unsigned met, unsigned wanted)
{
	if ((met & 16) || (met & 3) == 3 || (met & 12) == 12)
		return true;
	return wanted != 16 && (met & wanted);
}

/* A barrier counts: one that sets it ends nothing, one that waits for it has waited for all before. */
static bool twin_ends(const struct twin *twin, uint32_t at, unsigned met)
{
	if (twin->resource >= GPU_BARRIER)
		return gpu_set_has(&twin->p->in[at].uses, twin->resource);
	return gpu_set_has(&twin->p->in[at].defines, twin->resource) &&
	       twin_covers(met, twin_guard(&twin->p->in[twin->use]));
}

static void twin_walk(struct twin *twin, uint32_t at, uint32_t distance, unsigned met)
{
	const struct program *p = twin->p;

	for (uint32_t before = 0; before < p->count; before++) {
		unsigned now = met;

		if (!p->edge[before][at])
			continue;
		if (gpu_set_has(&p->in[before].defines, twin->resource)) {
			if (!twin->shortest[before] || distance + 1 < twin->shortest[before])
				twin->shortest[before] = distance + 1;
			now |= twin->resource < GPU_BARRIER ? twin_guard(&p->in[before]) : 0;
		}
		if (twin_ends(twin, before, now))
			continue;
		if (distance < 2 * p->count && !(twin->seen[before][now] && distance > p->count)) {
			twin->seen[before][now] = true;
			twin_walk(twin, before, distance + 1, now);
		}
	}
}

static void test_twin(void **state)
{
	unsigned edges_met = 0;

	(void)state;
	srand((unsigned)seed_take("blame_causes", 11));
	for (unsigned round = 0; round < 1500; round++) {
		static struct program p;
		struct dependency_slice *slice;

		random_program(&p);
		if (p.count > 9)
			continue; /* all paths: exponential */
		slice = dependency_slice_new(&p.code, 1000, NULL);
		assert_non_null(slice);
		for (uint32_t use = 0; use < p.count; use++)
			for (unsigned r = 0; r < GPU_RESOURCES; r++) {
				static struct twin twin;
				struct gpu_set only = {{0}};
				const struct dependency *edges;
				struct error error;
				size_t count, at = 0;

				if (!gpu_set_has(&p.in[use].uses, r))
					continue;
				gpu_set_add(&only, r);
				twin = (struct twin){.p = &p, .resource = r, .use = use};
				twin_walk(&twin, use, 0, 0);
				assert_int_equal(
					dependency_slice_back(slice, use, &only, &edges, &count, &error), 0);
				for (uint32_t i = 0; i < p.count; i++) {
					if (!twin.shortest[i])
						continue;
					assert_true(at < count);
					assert_int_equal(edges[at].define, i);
					assert_int_equal(edges[at++].shortest, twin.shortest[i]);
				}
				assert_int_equal(at, count);
				edges_met += (unsigned)count;
			}
		dependency_slice_free(slice);
	}
	assert_true(edges_met > 1000);
}

/* All stalls are somewhere, each where it was or at an instruction that can cause it. */
static void test_conservation(void **state)
{
	(void)state;
	srand((unsigned)seed_take("blame_causes", 12));
	for (unsigned round = 0; round < 500; round++) {
		static struct program p;
		struct causes causes;
		double want = 0, got = 0, want_latency = 0, got_latency = 0;

		random_program(&p);
		find(&p, &causes);
		for (uint32_t i = 0; i < p.count; i++)
			for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
				double here = 0;

				for (size_t c = 0; c < causes.count; c++)
					if (causes.list[c].use == i && causes.list[c].stall == stall)
						here += causes.list[c].samples;
				assert_true(near(here, p.samples[i].all[stall]));
				want += p.samples[i].all[stall];
				want_latency += p.samples[i].latency[stall];
			}
		for (size_t c = 0; c < causes.count; c++) {
			got += causes.list[c].samples;
			got_latency += causes.list[c].latency;
		}
		assert_true(fabs(want - got) < 1e-6 && fabs(want_latency - got_latency) < 1e-6);
		assert_true(causes.single_after >= causes.single_before);
		assert_true(causes.explained <= causes.dependent + 1e-9);
		causes_fini(&causes);
	}
}

static double sum_of(const struct causes *causes)
{
	double sum = 0;

	for (size_t c = 0; c < causes->count; c++)
		sum += causes->list[c].samples;
	return sum;
}

/* A budget that lasts changes nothing; once one is spent nothing is lost, and what is found is whole. */
static void test_budget(void **state)
{
	unsigned spent = 0, lasted = 0;

	(void)state;
	srand((unsigned)seed_take("blame_causes", 13));
	for (unsigned round = 0; round < 500; round++) {
		static struct program p;
		struct causes whole, cut;
		struct parse_budget budget;
		struct error error;

		random_program(&p);
		find(&p, &whole);
		parse_budget_allow(&budget, draw(1u << draw(16)), 0);
		assert_int_equal(
			causes_find(&cut, &p.code, p.samples, architecture_of(70), &budget, &error), 0);
		*(budget.spent ? &spent : &lasted) += 1;
		assert_true(near(sum_of(&whole), sum_of(&cut)));
		assert_true(near(whole.dependent, cut.dependent));
		for (size_t c = 0; c < cut.count; c++) {
			const struct cause *at = &cut.list[c], *same = NULL;

			for (size_t w = 0; w < whole.count && !same; w++)
				if (whole.list[w].use == at->use && whole.list[w].define == at->define &&
					whole.list[w].stall == at->stall &&
					whole.list[w].class == at->class &&
					near(whole.list[w].samples, at->samples))
					same = &whole.list[w];
			assert_true(same || (budget.spent && at->class == CAUSE_SELF));
		}
		causes_fini(&whole);
		causes_fini(&cut);
	}
	assert_true(spent > 20 && lasted > 20);
}

static void test_longest(void **state)
{
	static struct program p;
	struct dependency_slice *slice;

	(void)state;
	/* 0 1 2 3 4, past 1 and 2 as well, and back from 4 to 1. */
	for (int i = 0; i < 5; i++)
		put(&p, "NOP", GPU_KIND_CONTROL, GPU_SPACE_NONE);
	p.edge[0][3] = true;
	p.edge[4][1] = true;
	link_up(&p);
	slice = dependency_slice_new(&p.code, 100, NULL);
	assert_int_equal(dependency_longest(slice, 0, 3), 3);
	assert_int_equal(dependency_longest(slice, 3, 2), 3); /* 4, 1, 2 */
	assert_int_equal(dependency_longest(slice, 2, 2), 4); /* once around */
	assert_int_equal(dependency_longest(slice, 4, 0), 0);
	dependency_slice_free(slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_barrier), cmocka_unit_test(test_fig4),
		cmocka_unit_test(test_eq1), cmocka_unit_test(test_dominator), cmocka_unit_test(test_latency),
		cmocka_unit_test(test_classes), cmocka_unit_test(test_synchronization),
		cmocka_unit_test(test_twin), cmocka_unit_test(test_conservation),
		cmocka_unit_test(test_budget), cmocka_unit_test(test_longest)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
