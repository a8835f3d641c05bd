/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_files.c - finds the files of a module: its path, then build-id directories, the binary's
 * .gnu_debuglink, debuginfod. The first file with the right build id wins; a file rebuilt since the
 * recording is never used.
 */
#include "timeline/debug/debug_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "store/base/content_id.h"
#include "store/store.h"
#include "timeline/debug/module_elf_internal.h"

#define SYSTEM_DEBUG_PATH "/usr/lib/debug"
#define VDSO_MAX_BYTES (1u << 20)
#define DIRECTORY_FILES_MAX 4096 /* of a --debug-path directory whose build ids are read */

int debug_files_search_check(const char *path, struct error *error)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--debug-path %.200s: no such directory; name one that holds binaries or debug information",
		path);
}

/* ---- by build id ---- */

static const char *search_root(const struct debug_files_search *search, size_t i)
{
	if (i < search->debug_path_count)
		return search->debug_paths[i];
	return i == search->debug_path_count ? SYSTEM_DEBUG_PATH : NULL;
}

static void identity_path(char *path, size_t path_bytes, const char *root,
	const struct module_identity *identity, const char *suffix)
{
	char hex[2 * NAMES_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < identity->size; i++)
		snprintf(hex + 2 * i, 3, "%02x", identity->bytes[i]);
	snprintf(path, path_bytes, "%s/.build-id/%.2s/%s%s", root, hex, hex + 2, suffix);
}

/* ROOT/.build-id/xx/yyyy.debug holds debug information, ROOT/.build-id/xx/yyyy is the binary. */
static bool find_by_identity(struct module_elf *file, const struct module_identity *identity,
	const struct debug_files_search *search, const char *suffix)
{
	const char *root;
	char path[4096];

	if (identity->size < 2)
		return false;
	for (size_t i = 0; (root = search_root(search, i)); i++) {
		identity_path(path, sizeof path, root, identity, suffix);
		if (module_elf_open_matching(file, path, identity))
			return true;
	}
	return false;
}

/* --debug-path may also be a directory of plain copies, or another machine's file system. */
static bool find_copy(struct module_elf *file, const struct module_identity *identity, const char *real_path,
	const struct debug_files_search *search)
{
	const char *slash = strrchr(real_path, '/');
	char path[8192];

	if (!identity->size || !real_path[0])
		return false;
	for (size_t i = 0; i < search->debug_path_count; i++) {
		snprintf(path, sizeof path, "%s/%s", search->debug_paths[i], slash ? slash + 1 : real_path);
		if (module_elf_open_matching(file, path, identity))
			return true;
		snprintf(path, sizeof path, "%s/%s", search->debug_paths[i], real_path);
		if (module_elf_open_matching(file, path, identity))
			return true;
	}
	return false;
}

/* A --debug-path directory may hold debug files under any name: reads the build id of each. */
static bool find_in_directory(
	struct module_elf *file, const struct module_identity *identity, const char *directory, bool debug)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	bool found = false;
	char path[4096];

	for (int i = 0; entries && !found && i < DIRECTORY_FILES_MAX && (entry = readdir(entries)); i++) {
		if (entry->d_type != DT_REG && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		found = module_elf_open_matching(file, path, identity);
		if (found && debug && !module_elf_has_debug(file->elf)) {
			module_elf_close(file);
			found = false;
		}
	}
	if (entries)
		closedir(entries);
	return found;
}

static bool find_by_any_name(struct module_elf *file, const struct module_identity *identity,
	const struct debug_files_search *search, bool debug)
{
	for (size_t i = 0; identity->size && i < search->debug_path_count; i++)
		if (find_in_directory(file, identity, search->debug_paths[i], debug))
			return true;
	return false;
}

/* ---- debuginfod: loaded only on use, because it loads an HTTP client ---- */

struct debuginfod {
	void *library;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *id, int id_bytes, char **path);
	int (*find_executable)(void *client, const unsigned char *id, int id_bytes, char **path);
};

static bool debuginfod_load(struct debuginfod *api)
{
	api->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!api->library)
		return false;
	*(void **)&api->begin = dlsym(api->library, "debuginfod_begin");
	*(void **)&api->end = dlsym(api->library, "debuginfod_end");
	*(void **)&api->find_debuginfo = dlsym(api->library, "debuginfod_find_debuginfo");
	*(void **)&api->find_executable = dlsym(api->library, "debuginfod_find_executable");
	return api->begin && api->end && api->find_debuginfo && api->find_executable;
}

static bool find_on_server(struct module_elf *file, const struct module_identity *identity, bool debug)
{
	static struct debuginfod api;
	char *path = NULL;
	bool found = false;
	void *client;
	int fd;

	if (!identity->size || (!api.library && !debuginfod_load(&api)) || !api.find_executable)
		return false;
	client = api.begin();
	if (!client)
		return false;
	fd = (debug ? api.find_debuginfo : api.find_executable)(
		client, identity->bytes, (int)identity->size, &path);
	if (fd >= 0) {
		close(fd);
		found = path && module_elf_open_matching(file, path, identity);
	}
	free(path);
	api.end(client);
	return found;
}

/* ---- .gnu_debuglink ---- */

/* The CRC of .gnu_debuglink (that of zlib), four bits at a time. */
static uint32_t crc_update(uint32_t crc, const uint8_t *bytes, size_t size)
{
	static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190,
		0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return crc;
}

static bool file_has_crc(int fd, uint32_t wanted)
{
	uint8_t bytes[65536];
	uint32_t crc = ~0u;
	off_t at = 0;
	ssize_t size;

	while ((size = pread(fd, bytes, sizeof bytes, at)) > 0) {
		crc = crc_update(crc, bytes, (size_t)size);
		at += size;
	}
	return size == 0 && ~crc == wanted;
}

/* A debug file answers for a binary if it has its build id or, where there are none, the CRC of the link. */
static bool elf_open_linked(
	struct module_elf *file, const char *path, const struct module_identity *wanted, uint32_t crc)
{
	if (!module_elf_open_matching(file, path, wanted))
		return false;
	if (wanted->size || file_has_crc(file->fd, crc))
		return true;
	module_elf_close(file);
	return false;
}

static bool find_by_link(struct module_elf *file, const struct module_elf *binary, const char *real_path,
	const struct debug_files_search *search)
{
	struct module_identity identity = module_elf_identity(binary->elf);
	const char *slash = strrchr(real_path, '/'), *root;
	int directory_size = slash ? (int)(slash - real_path) : 1;
	const char *directory = slash ? real_path : ".";
	GElf_Word crc;
	const char *link = dwelf_elf_gnu_debuglink(binary->elf, &crc);
	char path[8192];

	if (!link || !link[0] || strchr(link, '/'))
		return false;
	snprintf(path, sizeof path, "%.*s/%s", directory_size, directory, link);
	if (strcmp(path, binary->path) && elf_open_linked(file, path, &identity, crc))
		return true;
	snprintf(path, sizeof path, "%.*s/.debug/%s", directory_size, directory, link);
	if (elf_open_linked(file, path, &identity, crc))
		return true;
	for (size_t i = 0; (root = search_root(search, i)); i++) {
		snprintf(path, sizeof path, "%s/%.*s/%s", root, directory_size, directory, link);
		if (elf_open_linked(file, path, &identity, crc))
			return true;
		snprintf(path, sizeof path, "%s/%s", root, link);
		if (elf_open_linked(file, path, &identity, crc))
			return true;
	}
	return false;
}

/* ---- all files of a module ---- */

/* The vdso has no file; the kernel gives every process the same image, so our own is as good. */
static bool vdso_open(struct module_elf *file, const struct module_identity *wanted)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	struct module_identity found;
	size_t size;

	if (!image || header->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (size < sizeof *header || size > VDSO_MAX_BYTES)
		return false;
	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)image, size);
	file->fd = -1;
	file->path = strdup("[vdso]");
	if (file->elf && file->path) {
		found = module_elf_identity(file->elf);
		if (!wanted->size || module_identity_equal(&found, wanted))
			return true;
	}
	module_elf_close(file);
	return false;
}

static bool binary_open(struct debug_files *files, const struct symbol_request *request,
	const struct debug_files_search *search, const struct module_identity *wanted)
{
	struct error why = {0};

	if (content_id_is_of_memory(wanted->bytes, wanted->size)) {
		snprintf(files->note, sizeof files->note,
			"%s had changed or was out of reach when it was recorded, and has no build id by "
			"which "
			"another file could be told to be the same: link it with -Wl,--build-id",
			request->real_path);
		return false;
	}
	if (request->kind == STORE_MODULE_VDSO && vdso_open(&files->binary, wanted))
		return true;
	if (request->path[0] && !module_elf_open(&files->binary, request->path, &why)) {
		/* a GPU binary is known by its content, and comes from where that was looked at */
		if (request->kind == STORE_MODULE_GPU || module_elf_is(&files->binary, wanted))
			return true;
		module_elf_close(&files->binary);
		error_set(&why, ERROR_IO, "%s has changed since it was recorded", request->path);
	}
	if (find_copy(&files->binary, wanted, request->real_path, search))
		return true;
	/* Files in directories of build ids and on servers have one, and this has none. */
	if (!content_id_is(wanted->bytes, wanted->size) &&
		(find_by_identity(&files->binary, wanted, search, "") ||
			find_by_any_name(&files->binary, wanted, search, false) ||
			(search->debuginfod && find_on_server(&files->binary, wanted, false))))
		return true;
	snprintf(files->note, sizeof files->note, "%s", why.text);
	return false;
}

static bool debug_open(struct debug_files *files, const char *real_path,
	const struct debug_files_search *search, const struct module_identity *wanted)
{
	struct module_elf *binary = &files->binary;

	if (binary->elf && module_elf_has_debug(binary->elf))
		return true;
	if (find_by_identity(&files->debug, wanted, search, ".debug"))
		return true;
	if (binary->elf && binary->fd >= 0 && find_by_link(&files->debug, binary, real_path, search))
		return true;
	if (find_by_any_name(&files->debug, wanted, search, true))
		return true;
	return search->debuginfod && find_on_server(&files->debug, wanted, true);
}

/* .gnu_debugaltlink: libdw looks in /usr/lib/debug by itself; --debug-path needs our help. */
static void alternate_open(struct debug_files *files, const struct debug_files_search *search)
{
	Elf *elf = files->debug.elf ? files->debug.elf : files->binary.elf;
	Elf_Scn *section = elf ? module_elf_section(elf, ".gnu_debugaltlink") : NULL;
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	struct module_identity wanted = {.size = 0};
	const uint8_t *end;

	if (!data || !data->d_buf || !(end = memchr(data->d_buf, 0, data->d_size)))
		return;
	wanted.size = data->d_size - (size_t)(end + 1 - (const uint8_t *)data->d_buf);
	if (!wanted.size || wanted.size > sizeof wanted.bytes)
		return;
	memcpy(wanted.bytes, end + 1, wanted.size);
	if (find_by_identity(&files->alternate, &wanted, search, ".debug"))
		return;
	if (search->debuginfod)
		find_on_server(&files->alternate, &wanted, true);
}

int debug_files_open(struct debug_files *files, const struct symbol_request *request,
	const struct debug_files_search *search, struct error *error)
{
	const char *real_path = request->real_path[0] ? request->real_path : request->path;
	struct module_identity wanted = {.size = request->build_id_bytes};

	memset(files, 0, sizeof *files);
	files->binary.fd = files->debug.fd = files->alternate.fd = -1;
	memcpy(wanted.bytes, request->build_id, wanted.size);
	if (binary_open(files, request, search, &wanted))
		wanted = module_elf_identity(files->binary.elf);
	else if (content_id_is(wanted.bytes, wanted.size))
		wanted.size = 0;
	if (request->kind == STORE_MODULE_GPU && files->binary.elf)
		return 0;
	if (!debug_open(files, real_path, search, &wanted) && !files->binary.elf)
		return error_set(error, ERROR_IO, "%s",
			files->note[0] ? files->note : "no file has the module's build id");
	alternate_open(files, search);
	return 0;
}

void debug_files_close(struct debug_files *files)
{
	module_elf_close(&files->alternate);
	module_elf_close(&files->debug);
	module_elf_close(&files->binary);
}
