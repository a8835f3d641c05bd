// SPDX-License-Identifier: Apache-2.0
//
// storm.cc - all at once that makes a sampler stumble: threads that throw, load and unload libraries, fork, make threads
// that live shortly, allocate, and send each other signals. Arguments: rounds, seed.
//
// A fixed amount of work with a fixed answer: its output is the same with and without a recorder.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<unsigned long> signals_got, libraries, children, shorts;

static void on_signal(int)
{
	signals_got++;
}

__attribute__((noinline)) static unsigned long fall(unsigned depth, unsigned long value)
{
	if (!depth)
		throw std::runtime_error(std::to_string(value));
	volatile unsigned long kept = fall(depth - 1, value * 3 + depth);
	return kept + 1;
}

static unsigned long throw_often(unsigned long seed)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < 2000; i++) {
		try {
			sum += fall(3 + (seed + i) % 20, i);
		} catch (const std::exception &thrown) {
			sum += std::stoul(thrown.what()) % 1000;
		}
	}
	return sum;
}

static void load()
{
	static const char *const names[] = {"libresolv.so.2", "libutil.so.1", "librt.so.1", "libnsl.so.1"};

	for (const char *name : names)
		if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
			dlclose(library);
	libraries++;
}

static void breed()
{
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(throw_often(1) ? 3 : 4);
	while (waitpid(child, &status, 0) < 0)
		;
	children += WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static void storm(unsigned long seed, unsigned rounds, unsigned long *sum)
{
	for (unsigned round = 0; round < rounds; round++) {
		*sum += throw_often(seed + round);
		load();
		if ((seed + round) % 4 == 0)
			breed();
		std::thread([] { shorts += throw_often(7) != 0; }).join();
		pthread_kill(pthread_self(), SIGUSR1);
	}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
	unsigned long seed = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1, sums[4] = {}, sum = 0;
	struct sigaction action = {};
	std::vector<std::thread> threads;

	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, nullptr);
	signal(SIGUSR2, [](int) {}); // from outside, at any time
	for (unsigned i = 0; i < 4; i++)
		threads.emplace_back(storm, seed + i, rounds, &sums[i]);
	for (std::thread &thread : threads)
		thread.join();
	for (unsigned long each : sums)
		sum += each;
	printf("%lu signals %lu libraries %lu children %lu threads %lu\n", sum, signals_got.load(), libraries.load(),
		children.load(), shorts.load());
	return 7;
}
