/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_open.c - opens the files of one module: its binary, its debug information, its cache. Opens debug
 * information only for a request that the cache does not answer.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "timeline/debug/debug_cache.h"
#include "timeline/names/names_internal.h"

void names_module_free(struct names_module *module)
{
	names_library_cache_close(module->shared);
	symbol_table_fini(&module->symbols);
	code_starts_fini(&module->starts);
	loops_close(module->loops);
	dwarf_module_close(module->dwarf);
	dwp_close(module->package);
	names_gpu_close(module->gpu);
	module_elf_close(&module->mini);
	module_elf_close(&module->unpacked_alternate);
	module_elf_close(&module->unpacked);
	debug_files_close(&module->files);
	arena_fini(&module->arena);
	free(module->path);
	free(module->real_path);
	free(module);
}

void names_module_lacks(struct names_module *module, const char *text)
{
	if (!module->note[0])
		snprintf(module->note, sizeof module->note, "%s", text);
}

static void code_read(struct dwarf_code *code, Elf *elf)
{
	size_t segments;

	if (!elf || elf_getphdrnum(elf, &segments))
		return;
	for (size_t i = 0; i < segments && code->count < sizeof code->range / sizeof *code->range; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
			!(segment.p_flags & PF_X) || segment.p_memsz > UINT64_MAX - segment.p_vaddr)
			continue;
		code->range[code->count].begin = segment.p_vaddr;
		code->range[code->count++].end = segment.p_vaddr + segment.p_memsz;
	}
}

/* A GPU binary has no addresses for its sections and none of what else CPUs' files have. */
static void module_open_gpu(struct names_module *module)
{
	struct error error = {0};
	size_t size = 0;
	const char *bytes = module->files.binary.elf ? elf_rawfile(module->files.binary.elf, &size) : NULL;

	if (!bytes || !gpu_code_is(bytes, size))
		return;
	if (names_gpu_open(&module->gpu, bytes, size, module->level == NAMES_ALL, &error)) {
		module->has_loops = module->has_debug = true;
		names_module_lacks(module, error.text);
	} else if (names_gpu_lacks_inlined(module->gpu)) {
		names_module_lacks(module,
			"it was compiled for a debugger (-G): some inlined calls are not recorded and "
			"show as code of their callers; compile with -lineinfo");
	}
}

static void module_open_files(struct names_module *module, const struct symbol_request *request,
	const struct debug_files_search *search)
{
	struct error error = {0};

	if (module->level == NAMES_NONE || request->kind == STORE_MODULE_JIT)
		return;
	if (debug_files_open(&module->files, request, search, &error)) {
		names_module_lacks(module, error.text);
		return;
	}
	names_module_lacks(module, module->files.note);
	module_open_gpu(module);
	code_read(&module->code, module->files.binary.elf);
	if (!module->code.count)
		code_read(&module->code, module->files.debug.elf);
}

/* Split debug information may be in one file beside the program. */
static void package_open(struct names_module *module, const struct module_elf *debug)
{
	char path[4096];

	snprintf(path, sizeof path, "%s.dwp", module->real_path[0] ? module->real_path : debug->path);
	if (debug->fd >= 0)
		module->package = dwp_open(path);
	if (!module->package && debug->fd >= 0) {
		snprintf(path, sizeof path, "%s.dwp", debug->path);
		module->package = dwp_open(path);
	}
}

/* What it holds compressed was unpacked, as a rule by an earlier run. libdw looks for what was split off in
 * the directory of the file that it reads: for the moment of its being opened that is the package's, or that
 * of the file itself. */
static int dwarf_open_kept(struct names_module *module, const struct module_elf *debug, struct error *error)
{
	const struct module_elf *alternate = &module->files.alternate, *read = debug;
	int place = -1, own = -1, rc;

	package_open(module, debug);
	if (debug_cache_open(&module->unpacked, debug, module->kept)) {
		read = &module->unpacked;
		place = debug->fd;
	}
	if (debug_cache_open(&module->unpacked_alternate, alternate, module->kept))
		alternate = &module->unpacked_alternate;
	if (module->package)
		place = dwp_place(module->package);
	if (place >= 0)
		own = fcntl(read->fd, F_DUPFD_CLOEXEC, 0);
	if (own >= 0)
		dup3(place, read->fd, O_CLOEXEC);
	rc = dwarf_module_open(&module->dwarf, read->elf, alternate->elf, &module->code, error);
	if (own >= 0) {
		dup3(own, read->fd, O_CLOEXEC);
		close(own);
	}
	if (!rc)
		dwarf_module_set_package(module->dwarf, module->package);
	return rc;
}

/* Opened when something is not known yet: large files hold it compressed, which costs seconds. */
void names_module_open_debug(struct names_module *module)
{
	struct error error = {0};
	const struct module_elf *debug;

	if (module->has_debug)
		return;
	module->has_debug = true;
	if (module->gpu)
		return;
	debug = module->files.debug.elf ? &module->files.debug : &module->files.binary;
	if (!debug->elf || module->level != NAMES_ALL || !module_elf_has_debug(debug->elf))
		return;
	if (dwarf_open_kept(module, debug, &error))
		names_module_lacks(module, error.text);
	else if (dwarf_module_lacks_shared(module->dwarf))
		names_module_lacks(module,
			"the file that shares debug information between binaries (dwz) was not found");
	if (module->dwarf)
		dwarf_module_allow(module->dwarf, module->cpu_ns);
}

/* ---- answers found before ---- */

static void key_put_file(char *key, size_t key_bytes, const char *path)
{
	size_t used = strlen(key);
	struct stat status;

	if (!path || stat(path, &status))
		snprintf(key + used, key_bytes - used, "-\n");
	else
		snprintf(key + used, key_bytes - used, "%s %lld %lld.%09ld\n", path,
			(long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

/* Answers stay true as long as they come from the same program and files. A binary without debug information
 * has
 * "-" for it: once that is installed, the key is another. */
static void module_open_shared(
	struct names_module *module, const struct symbol_request *request, const char *directory)
{
	struct symbol_request identity = *request;
	char key[16384] = "";
	bool is_damaged;
	size_t used, sections;

	if (!directory || module->level != NAMES_ALL || !module->files.binary.elf ||
		elf_getshdrnum(module->files.binary.elf, &sections) ||
		!sections) /* a copy of memory has none */
		return;
	if (!identity.build_id_bytes)
		identity.build_id_bytes = module_elf_build_id(module->files.binary.elf, identity.build_id);
	key_put_file(key, sizeof key, "/proc/self/exe");
	key_put_file(key, sizeof key, module->files.debug.path);
	key_put_file(key, sizeof key, module->files.alternate.path);
	used = strlen(key);
	snprintf(key + used, sizeof key - used, "debug %d symbols %d loops %d\n",
		module_elf_has_debug(module->files.binary.elf),
		module_elf_has_symbols(module->files.binary.elf), module->wants_loops);
	module->shared = names_library_cache_open(directory, &identity, key, &is_damaged);
	if (is_damaged)
		names_module_lacks(
			module, "the names kept from earlier runs are damaged and were found anew");
}

/* ---- the whole ---- */

static struct names_module *module_new(const struct symbol_request *request, enum names_level level)
{
	struct names_module *module = calloc(1, sizeof *module);

	if (!module)
		return NULL;
	module->path = strdup(request->path);
	module->real_path = strdup(request->real_path);
	module->kind = request->kind;
	module->level = level;
	module->build_id_bytes = request->build_id_bytes;
	memcpy(module->build_id, request->build_id, request->build_id_bytes);
	module->files.binary.fd = module->files.debug.fd = module->files.alternate.fd = module->mini.fd = -1;
	module->unpacked.fd = module->unpacked_alternate.fd = -1;
	if (module->path && module->real_path)
		return module;
	names_module_free(module);
	return NULL;
}

struct names_module *names_module_new(
	const struct symbol_request *request, enum names_level level, const struct names_options *options)
{
	struct names_module *module = module_new(request, level);

	if (!module)
		return NULL;
	module->wants_loops = !options->no_loops;
	module->cpu_ns = options->cpu_ns;
	module->kept = options->shared;
	module_open_files(module, request, &options->search);
	module_open_shared(module, request, options->shared);
	return module;
}
