/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - a program that marks its ranges with NVTX, as NVTX's headers do it: the library that
 * NVTX_INJECTION64_PATH names fills in a table of functions. It registers argv[1] names, as XLA does one for
 * each instruction, and puts a range of each into ranges of three other kinds, argv[2] times. Without a tool
 * it does nothing.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define SLOTS 32u
#define PACE 50u

typedef void (*function)(void);
typedef function *slot;

static void nothing(void)
{
}

static function core[SLOTS], core2[SLOTS];
static slot core_slots[SLOTS], core2_slots[SLOTS];

static int module_table(int module, slot **table, unsigned *count)
{
	*table = module == 1 ? core_slots : core2_slots;
	*count = SLOTS;
	return module == 1 || module == 5;
}

static const struct {
	size_t bytes;
	int (*module_table)(int module, slot **table, unsigned *count);
} callbacks = {sizeof(callbacks), module_table};

static const void *export_table(uint32_t id)
{
	return id == 1 ? &callbacks : NULL;
}

static int initialize(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	void *symbol = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
	int (*start)(const void *(*get)(uint32_t));

	for (unsigned i = 0; i < SLOTS; i++) {
		core[i] = core2[i] = nothing;
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
	}
	if (!symbol)
		return 0;
	memcpy(&start, &symbol, sizeof(start));
	return start(export_table);
}

struct attributes {
	uint16_t version, bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const char *message;
};

APART static void inner(const char *domain, const char *name)
{
	const struct attributes attributes = {.message_type = 3, .message = name};

	((int (*)(const char *, const struct attributes *))core2[4])(domain, &attributes);
	((int (*)(const char *))core2[5])(domain);
}

/* Around all of `outer`, by an id: with its text in a domain or, without one, registered. */
APART static uint64_t begin(const char *domain, int message_type, const char *message)
{
	const struct attributes attributes = {.message_type = message_type, .message = message};

	return ((uint64_t(*)(const char *, const struct attributes *))core2[2])(domain, &attributes);
}

APART static void outer(const char *domain, const char *const *names, unsigned count)
{
	uint64_t ids[] = {begin(domain, 1, "turn, by=id"), begin(domain, 3, names[0])};

	((int (*)(const char *))core[9])("step, the outer=one");
	for (unsigned i = 0; i < count; i++) {
		inner(domain, names[i]);
		if (i % PACE == 0) /* a ring's room is for what a program does that works, too */
			nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	((int (*)(void))core[11])();
	((void (*)(const char *, uint64_t))core2[3])(domain, ids[0]);
	((void (*)(const char *, uint64_t))core2[3])(domain, ids[1]);
	__asm__ volatile(""); /* no tail call: it would be main's */
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	const char *domain, **names = calloc(count + 1u, sizeof(*names));
	char text[160];

	if (!count || !names || !initialize())
		return 0;
	domain = ((const char *(*)(const char *))core2[12])("instructions");
	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%u of a long name: %0100u", i, i);
		names[i] = ((const char *(*)(const char *, const char *))core2[10])(domain, text);
	}
	for (int turn = 0; turn < atoi(argv[2]); turn++)
		outer(domain, names, count);
	free(names);
	return 0;
}
