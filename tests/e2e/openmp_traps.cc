/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp_traps.cc - what wrappers of an OpenMP runtime could spoil: copies of tasks' data with constructors
 * and alignments, reductions over tasks, detached tasks, exceptions, cancellation, nested teams and regions
 * that a region calls, thread-local data. Prints a sum of all of it. Compiled by e2e.openmp.traps with each
 * runtime.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

static long misaligned, copies;

struct alignas(128) Wide {
	long value[4];

	explicit Wide(long from)
	{
		for (long &v : value)
			v = from;
	}
	Wide(const Wide &from)
	{
		for (int i = 0; i < 4; i++)
			value[i] = from.value[i];
#pragma omp atomic
		misaligned += (reinterpret_cast<uintptr_t>(this) & 127) != 0;
#pragma omp atomic
		copies++;
	}
};

static long tasks(int rounds)
{
	long sum = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < rounds; i++) {
		Wide wide(i);
		std::vector<long> list(5, i);

#pragma omp task firstprivate(wide, list) shared(sum)
		{
#pragma omp atomic
			sum += wide.value[3] + list[4];
		}
#pragma omp task firstprivate(wide) shared(sum) if (i % 2)
		{
#pragma omp atomic
			sum += wide.value[0];
		}
#pragma omp task firstprivate(list) shared(sum) final(i % 3 == 0) mergeable
		{
#pragma omp task firstprivate(list) shared(sum)
			{
#pragma omp atomic
				sum += list[0];
			}
#pragma omp taskwait
		}
	}
	return sum;
}

static long loops(int rounds)
{
	long sum = 0, more = 0, extra = 0; /* extra: the reduction's end is not atomic */

#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < rounds; i++) {
		Wide wide(1);

#pragma omp taskloop num_tasks(3) firstprivate(wide) reduction(+ : sum)
		for (long k = 0; k < 7; k++)
			sum += wide.value[1] + k;
#pragma omp taskloop grainsize(2) shared(more) nogroup
		for (unsigned long k = 3; k < 9; k++) {
#pragma omp atomic
			more += (long)k;
		}
#pragma omp taskgroup task_reduction(+ : extra)
		{
#pragma omp task in_reduction(+ : extra)
			extra += 5;
		}
	}
	return sum * 3 + more + extra;
}

static long depends(int rounds)
{
	long sum = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < rounds; i++) {
		long cell = i;

#pragma omp task depend(out : cell) shared(cell) priority(3)
		cell *= 2;
#pragma omp task depend(inout : cell) shared(cell)
		cell += 1;
#pragma omp task depend(in : cell) shared(cell, sum)
		{
#pragma omp atomic
			sum += cell;
		}
#pragma omp taskwait
	}
	return sum;
}

#if !defined(__clang__) || __clang_major__ > 11
static long detached(int rounds)
{
	long sum = 0;

	for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2)
#pragma omp single
		{
			omp_event_handle_t event;

#pragma omp task detach(event) shared(sum)
			{
#pragma omp atomic
				sum += 3;
				omp_fulfill_event(event);
			}
		}
	}
	return sum;
}
#endif

static long raises(int rounds)
{
	long sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	for (int i = 0; i < rounds; i++)
		try {
			long here;

#pragma omp critical(named)
			here = i % 4;
			if (here == 3)
				throw i;
			sum += 1;
		} catch (int what) {
			sum += what;
		}
	return sum;
}

static long inside(int depth)
{
	long sum = 1;

	if (!depth)
		return 1;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += inside(depth - 1);
	return sum;
}

static long cancels()
{
	long found = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp for
		for (int i = 0; i < 1000; i++) {
			if (i == 500) {
#pragma omp atomic
				found++;
#pragma omp cancel for
			}
#pragma omp cancellation point for
		}
	}
	return found;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
	long sum = 0;

	omp_set_max_active_levels(12);
	sum += tasks(rounds) + 3 * loops(rounds) + 5 * depends(rounds) + 7 * raises(rounds) + cancels();
#if !defined(__clang__) || __clang_major__ > 11
	sum += 11 * detached(rounds);
#endif
	for (int depth = 1; depth < 7; depth++) {
		omp_set_max_active_levels(depth / 2);
		sum += inside(depth);
	}
	omp_set_max_active_levels(12);
	sum += inside(5);
	std::printf("%ld %ld\n", sum, misaligned);
	return misaligned != 0 || !copies;
}
