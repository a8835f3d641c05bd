// SPDX-License-Identifier: Apache-2.0
//
// templates.cc - C++: templates, a lambda, a virtual call, exceptions. Argument: CPU seconds of each
// part (default 0.2; four parts of the same size).
//
// What the trace must show, a quarter of the time each, with demangled names:
//
//   main;shop::grid<double>::relax        and     main;shop::grid<int>::relax
//   main;...;main::{lambda()#1}::operator()       (called through std::function)
//   main;catcher, in it shop::thrower::leap and the runtime's unwinding (libgcc, libstdc++)
//
// While an exception is on its way a path may end in the unwinder; all others are whole.
//
#include "samples/burn.h"

#include <cstdlib>
#include <functional>
#include <stdexcept>

namespace shop
{
template <typename Value> struct grid {
	APART void relax(double ns)
	{
		BURN(ns);
	}
};

struct leaper {
	virtual ~leaper() = default;
	virtual void leap(int depth) = 0;
};

struct thrower : leaper {
	APART void leap(int depth) override
	{
		if (depth == 0)
			throw std::runtime_error("leap");
		leap(depth - 1);
		NO_TAIL_CALL();
	}
};
} // namespace shop

APART static int catcher(shop::leaper &leaper, double ns)
{
	const uint64_t end_ns = cpu_now_ns() + (uint64_t)ns;
	int caught = 0;

	while (cpu_now_ns() < end_ns) {
		try {
			leaper.leap(10);
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	return caught;
}

APART static void call(const std::function<void()> &function)
{
	function();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	const double ns = 1e9 * (argc > 1 ? atof(argv[1]) : 0.2);
	shop::grid<double> doubles;
	shop::grid<int> integers;
	shop::thrower thrower;

	doubles.relax(ns);
	integers.relax(ns);
	call([ns]() { BURN(ns); });
	return catcher(thrower, ns) > 0 ? 0 : 1;
}
