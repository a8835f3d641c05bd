#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenMP programs that wrappers of a runtime could spoil: the same results, and each region counted once, also where
# code of both compilers runs in one runtime, where a library brings a runtime into a program that has none, in
# Fortran, in a forked child, and where the runtime is an archive.
. "$(dirname -- "$0")/expect.sh"
tried=0

regions() { # RUN
	hpct-blame "$1.hpct" --of omp --summary --format tsv | tsv '$c["key"] == "regions" { print $c["value"] }'
}

for compiler in g++ clang++-14; do
	command -v $compiler >/dev/null || continue
	for level in -O0 -O2; do
		name=traps_${compiler%%+*}$level
		$compiler $level -g -fopenmp -o "$name" "$HPCT_SOURCE/tests/e2e/openmp_traps.cc" 2>log || continue 2
		both "$name" "./$name" 30
		echo "$(regions "$name") $name: $(cat measured.out)" >>counts
	done
	tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || skip "no compiler has OpenMP here"
same "sums by all compilers: $(cat counts)" 1 "$(awk '{ print $3 }' counts | sort -u | wc -l)"
# 35, and 97 of nested teams.
same "regions: $(cat counts)" 132 "$(awk '{ print $1 }' counts | sort -u)"

# A library of GCC's in a program with LLVM's runtime, which has GNU's names, too, and in one without a runtime.
cat >part.c <<'END'
static void __attribute__((noinline)) work(void)
{
	volatile double s = 0;

	for (long i = 1; i < 6000000; i++)
		s += 1.0 / i;
}
void part(void)
{
#pragma omp parallel num_threads(2)
	{
		work();
		__asm__ volatile("");
	}
	__asm__ volatile("");
}
END
cat >mixed.c <<'END'
void part(void);
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum++;
		part();
	}
	return sum - 20;
}
END
cat >opens.c <<'END'
#include <dlfcn.h>
int main(void)
{
	void *library = dlopen("./libpart.so", RTLD_NOW | RTLD_LOCAL);
	void (*part)(void) = (void (*)(void))dlsym(library, "part");

	for (int i = 0; i < 10; i++)
		part();
	return 0;
}
END
gcc -O2 -g -fopenmp -shared -fPIC -o libpart.so part.c 2>log || skip "gcc has no OpenMP here"
if clang-14 -O2 -g -fopenmp -o mixed mixed.c -L. -lpart -Wl,-rpath,"$PWD" 2>log; then
	both mixed ./mixed
	same "regions of both compilers in one runtime" 20 "$(regions mixed)"
	check "a path of both" grep -q 'main;part;<omp region part.c:[0-9]*>;.*work' <(hpct-slice mixed.hpct --format tsv)
fi
gcc -O2 -g -o opens opens.c -ldl
both opens ./opens
check "a runtime that came with a library" grep -q 'main;part;<omp region part.c:[0-9]*>;.*work' <(hpct-slice opens.hpct --format tsv)
same "its work that stands apart" 0 "$(hpct-slice opens.hpct --format tsv | grep ';work' | grep -vc 'main;part;')"

# An archive: as before, and nothing is broken.
gcc -O2 -g -fopenmp -c -o part.o part.c && gcc -O2 -g -fopenmp -c -o mixed.o mixed.c
if gcc -o archive mixed.o part.o "$(gcc -print-file-name=libgomp.a)" -lpthread -ldl 2>log; then
	both archive ./archive
	check "an archive: the samples are there" grep -q ';work' <(hpct-slice archive.hpct --format tsv)
	for program in archive opens; do # the latter has the runtime as a library
		record said --overwrite --summary said.txt -- "./$program"
		same "$program: said that the runtime is linked in" "$([ $program = archive ] && echo 1 || echo 0)" \
			"$(grep -c 'libgomp linked in' said.txt)"
	done
fi

# Fortran.
cat >f.f90 <<'END'
program f
	integer :: i
	real(8) :: s
	s = 0
	!$omp parallel do num_threads(2) reduction(+:s)
	do i = 1, 20000000
		s = s + 1d0 / i
	end do
	!$omp end parallel do
	if (s < 1) print *, s
end program
END
if gfortran -O1 -g -fopenmp -o f f.f90 2>log; then
	both f ./f
	same "Fortran: regions" 1 "$(regions f)"
	check "Fortran: its path" grep -q '<omp region f.f90:[0-9]*>;' <(hpct-slice f.hpct --format tsv)
fi

# A child that opens regions of its own. (After a region of the parent it could not: its runtime would wait for lost threads.)
cat >forks.c <<'END'
#include <sys/wait.h>
#include <unistd.h>
void part(void);
int main(void)
{
	int status, child;

	if (!fork()) {
		part();
		part();
		_exit(0);
	}
	wait(&status);
	part();
#pragma omp parallel num_threads(1)
	child = fork(); /* the child leaves a region that its parent entered */
	if (!child)
		_exit(3);
	wait(&status);
	return status != 3 << 8;
}
END
gcc -O2 -g -fopenmp -o forks forks.c part.o
both forks ./forks
same "regions of parent and child" 4 "$(regions forks)"
echo "tried $tried compilers"
