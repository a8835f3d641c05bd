/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_library.c - finds the CUPTI that belongs to the program: the one already loaded, else one beside
 * the loaded CUDA libraries (a toolkit, Python's wheels of either layout), else the toolkit's, else in the
 * loader's path. Two CUPTI libraries in one process would not work.
 */
#include "record/agent/gpu/cuda/gpu_cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/agent/base/real.h"

/* Within a major version, records only grow at their end; this is the first version with all fields that
 * we read. */
#define VERSION_LEAST 18 /* CUDA 11.8 */
#define VERSION_MAJOR(version) ((version) < 100000 ? 12u : (version) / 10000)

typedef void *(*library_open)(const char *path, int flags);

static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"};
/* Known CUDA libraries, and CUPTI's path relative to their directories. */
static const char *const beside[] = {"libcudart.so", "libcublasLt.so", "libcublas.so", "libnvrtc.so"};
static const char *const ways[] = {"%s/%s", "%s/../../cuda_cupti/lib/%s", "%s/../extras/CUPTI/lib64/%s"};
static const char *const homes[] = {"%s/lib64/%s", "%s/lib/%s", "%s/extras/CUPTI/lib64/%s"};

struct search {
	library_open open;
	void *handle;
	char cuda[512]; /* directory of a CUDA library */
};

static bool name_begins(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');

	return strncmp(base ? base + 1 : path, name, strlen(name)) == 0;
}

/* dl_iterate_phdr holds the loader's lock: notes names here, opens them afterwards. */
static int loaded_look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;
	const char *path = info->dlpi_name;

	(void)bytes;
	if (!path || !*path || strlen(path) >= sizeof(search->cuda))
		return 0;
	if (name_begins(path, "libcupti.so")) {
		strcpy(search->cuda, path);
		return 1;
	}
	for (unsigned i = 0; i < sizeof(beside) / sizeof(*beside) && !search->cuda[0]; i++)
		if (name_begins(path, beside[i]) && strrchr(path, '/')) {
			strcpy(search->cuda, path);
			*strrchr(search->cuda, '/') = '\0';
		}
	return 0;
}

static void try_patterns(
	struct search *search, const char *const *patterns, unsigned count, const char *where)
{
	char path[1024];

	for (unsigned i = 0; i < count; i++)
		for (unsigned n = 0; n < sizeof(sonames) / sizeof(*sonames) && !search->handle; n++) {
			int length = snprintf(path, sizeof(path), patterns[i], where, sonames[n]);

			if (length > 0 && (size_t)length < sizeof(path))
				search->handle = search->open(path, RTLD_NOW | RTLD_LOCAL);
		}
}

static void *library_find(library_open open)
{
	const char *const roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	struct search search = {.open = open};

	if (dl_iterate_phdr(loaded_look, &search))
		return open(search.cuda, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (search.cuda[0])
		try_patterns(&search, ways, sizeof(ways) / sizeof(*ways), search.cuda);
	for (unsigned i = 0; i < sizeof(roots) / sizeof(*roots) && !search.handle; i++)
		if (roots[i] && *roots[i])
			try_patterns(&search, homes, sizeof(homes) / sizeof(*homes), roots[i]);
	for (unsigned n = 0; n < sizeof(sonames) / sizeof(*sonames) && !search.handle; n++)
		search.handle = open(sonames[n], RTLD_NOW | RTLD_LOCAL);
	return search.handle;
}

static bool symbols_find(struct cuda_api *api, void *(*symbol)(void *, const char *))
{
	void *address;

#define FIND(name)                            \
	address = symbol(api->handle, #name); \
	if (!address)                         \
		return false;                 \
	memcpy(&api->name, &address, sizeof(address));
	CUDA_FUNCTIONS(FIND)
#undef FIND
	return true;
}

const char *cuda_library_open(struct cuda_api *api)
{
	void *open_address = real_symbol("dlopen"), *symbol_address = real_symbol("dlsym");
	void *(*symbol)(void *, const char *);
	library_open open;

	if (!open_address || !symbol_address)
		return "the program has no loader for CUPTI";
	memcpy(&open, &open_address, sizeof(open));
	memcpy(&symbol, &symbol_address, sizeof(symbol));
	api->handle = library_find(open);
	if (!api->handle)
		return "libcupti.so was not found: set CUDA_HOME to the CUDA toolkit";
	if (!symbols_find(api, symbol) || api->cuptiGetVersion(&api->version))
		return "this CUPTI lacks functions that hpct needs";
	if (api->version < VERSION_LEAST || VERSION_MAJOR(api->version) > VERSION_MAJOR(CUPTI_API_VERSION))
		return "hpct was not built for this version of CUPTI";
	return NULL;
}
