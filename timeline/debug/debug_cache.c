/* SPDX-License-Identifier: Apache-2.0 */
/* debug_cache.c - see debug_cache.h. Decompressed sections go to a memory file (memfd), which is read at
 * once. */
#include "timeline/debug/debug_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/hash.h"
#include "store/base/user_cache.h"
#include "timeline/debug/module_elf_internal.h"

#define FILE_MAX ((size_t)64 << 20)
#define ALL_MAX ((uint64_t)256 << 20) /* of a user's files */
#define PATH_BYTES 4096
#define FORMAT 1u /* which sections are kept, and how */

/* Behind the ELF file. */
struct trailer {
	uint64_t key, checksum;
};

/* ---- sections ---- */

/* Sections about variables, macros, indices: not needed here. */
static bool is_read(const char *name)
{
	static const char *const others[] = {".debug_loc", ".debug_loclists", ".debug_macro",
		".debug_macinfo", ".debug_frame", ".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames",
		".debug_gnu_pubtypes", ".debug_names", ".debug_gdb_scripts"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(name, others[i]))
			return false;
	return !strncmp(name, ".debug_", 7) || !strcmp(name, ".gnu_debugaltlink");
}

static const char *section_name(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
		return "";
	return elf_strptr(elf, names, header->sh_name) ?: "";
}

/* What the sections that are read will take together; 0: none of them is compressed, or one in a way that
 * libelf does not know. */
static uint64_t unpacked_bytes(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;
	bool is_compressed = false;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr packed;

		if (!is_read(section_name(elf, section, &header)))
			continue;
		if (header.sh_flags & SHF_COMPRESSED) {
			if (!gelf_getchdr(section, &packed) || packed.ch_type != ELFCOMPRESS_ZLIB)
				return 0;
			is_compressed = true;
			header.sh_size = packed.ch_size;
		}
		bytes = header.sh_size > FILE_MAX ? FILE_MAX + 1 : bytes + header.sh_size;
		if (bytes > FILE_MAX)
			return bytes;
	}
	return is_compressed ? bytes : 0;
}

/* ---- unpacking ---- */

struct making {
	Elf *from, *to;
	char names[4096]; /* of the sections, a string table */
	size_t names_bytes;
};

static bool section_put(struct making *making, GElf_Shdr header, const char *name, Elf_Data data)
{
	Elf_Scn *section = elf_newscn(making->to);
	Elf_Data *own = section ? elf_newdata(section) : NULL;
	size_t size = strlen(name) + 1;

	if (!own || making->names_bytes + size > sizeof making->names)
		return false;
	data.d_off = 0;
	header.sh_addralign = data.d_align = 8; /* what the file asks for would be filled up with zeros */
	*own = data;
	header.sh_name = (GElf_Word)making->names_bytes;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header.sh_link = header.sh_info = 0;
	memcpy(making->names + making->names_bytes, name, size);
	making->names_bytes += size;
	return gelf_update_shdr(section, &header);
}

static bool section_copy(struct making *making, Elf_Scn *section)
{
	GElf_Shdr header;
	const char *name = section_name(making->from, section, &header);
	Elf_Data *data;

	if (!is_read(name))
		return true;
	if ((header.sh_flags & SHF_COMPRESSED) &&
		(elf_compress(section, 0, 0) < 0 || !gelf_getshdr(section, &header)))
		return false;
	data = elf_rawdata(section, NULL);
	return data && section_put(making, header, name, *data);
}

static bool names_put(struct making *making)
{
	Elf_Data data = {.d_buf = making->names, .d_type = ELF_T_BYTE, .d_version = EV_CURRENT};
	GElf_Shdr header = {.sh_type = SHT_STRTAB, .sh_addralign = 1, .sh_entsize = 0};
	GElf_Ehdr file;

	if (!gelf_getehdr(making->to, &file))
		return false;
	data.d_size = making->names_bytes + sizeof ".shstrtab";
	if (!section_put(making, header, ".shstrtab", data))
		return false;
	for (Elf_Scn *at = NULL; (at = elf_nextscn(making->to, at));)
		file.e_shstrndx = (GElf_Half)elf_ndxscn(at);
	return gelf_update_ehdr(making->to, &file);
}

static bool header_put(struct making *making)
{
	GElf_Ehdr from, to;

	if (!gelf_getehdr(making->from, &from) || !gelf_newehdr(making->to, gelf_getclass(making->from)) ||
		!gelf_getehdr(making->to, &to))
		return false;
	memcpy(to.e_ident, from.e_ident, sizeof to.e_ident);
	to.e_type = from.e_type;
	to.e_machine = from.e_machine;
	to.e_version = from.e_version;
	to.e_flags = from.e_flags;
	return gelf_update_ehdr(making->to, &to);
}

/* Writes the ELF file to `fd`; its size, or negative. */
static off_t elf_make(int from, int fd)
{
	struct making making = {.from = elf_begin(from, ELF_C_READ_MMAP, NULL),
		.to = elf_begin(fd, ELF_C_WRITE, NULL),
		.names_bytes = 1};
	bool ok = making.from && making.to && header_put(&making);
	off_t size = -1;

	for (Elf_Scn *section = NULL; ok && (section = elf_nextscn(making.from, section));)
		ok = section_copy(&making, section);
	if (ok && names_put(&making))
		size = elf_update(making.to, ELF_C_WRITE);
	elf_end(making.to);
	elf_end(making.from);
	return size;
}

/* ---- kept ---- */

/* Of a file that was changed, what was unpacked of it earlier is worth nothing. */
static uint64_t key_of(int fd)
{
	struct stat status;
	int64_t facts[5] = {FORMAT};

	if (fstat(fd, &status))
		return 0;
	facts[1] = status.st_size;
	facts[2] = status.st_mtim.tv_sec;
	facts[3] = status.st_mtim.tv_nsec;
	return store_hash64(facts, sizeof facts, 0);
}

static bool is_whole(int fd, size_t size, uint64_t key)
{
	uint8_t *bytes =
		size > sizeof(struct trailer) ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	size_t end = size - sizeof(struct trailer);
	struct trailer trailer;
	bool ok;

	if (bytes == MAP_FAILED)
		return false;
	memcpy(&trailer, bytes + end, sizeof trailer);
	ok = trailer.key == key && store_sum_fits(trailer.checksum, store_hash64(bytes, end, key));
	munmap(bytes, size);
	return ok;
}

static bool elf_take(struct module_elf *unpacked, int fd, const char *path)
{
	unpacked->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	unpacked->path = strdup(path);
	unpacked->fd = fd;
	if (unpacked->elf && elf_kind(unpacked->elf) == ELF_K_ELF && unpacked->path)
		return true;
	elf_end(unpacked->elf);
	free(unpacked->path);
	close(fd);
	*unpacked = (struct module_elf){.fd = -1};
	return false;
}

static bool kept_open(struct module_elf *unpacked, const char *path, uint64_t key)
{
	size_t size;
	int fd = store_user_cache_open(path, FILE_MAX + (FILE_MAX >> 4), &size);

	if (fd < 0)
		return false;
	if (!is_whole(fd, size, key)) {
		close(fd);
		return false;
	}
	futimens(fd, NULL); /* read now: others go first */
	return elf_take(unpacked, fd, path);
}

/* True for cached files: never remove others from the directory. */
static bool is_ours(const char *name, const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
	       name[strspn(name, "0123456789abcdef")] == '\0';
}

/* Sums the sizes of the directory's files, and finds the one unused for longest. */
static uint64_t kept_look(DIR *directory, char oldest[static PATH_BYTES])
{
	struct timespec since = {0};
	struct dirent *entry;
	struct stat status;
	uint64_t sum = 0;

	oldest[0] = '\0';
	rewinddir(directory);
	while ((entry = readdir(directory))) {
		if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
			!is_ours(entry->d_name, &status))
			continue;
		sum += (uint64_t)status.st_size;
		if (oldest[0] && (status.st_mtim.tv_sec > since.tv_sec ||
					 (status.st_mtim.tv_sec == since.tv_sec &&
						 status.st_mtim.tv_nsec >= since.tv_nsec)))
			continue;
		since = status.st_mtim;
		snprintf(oldest, PATH_BYTES, "%s", entry->d_name);
	}
	return sum;
}

static void cache_trim(const char *path, uint64_t wanted)
{
	char place[PATH_BYTES], oldest[PATH_BYTES];
	DIR *directory;
	int fd;

	snprintf(place, sizeof place, "%.*s", (int)(strrchr(path, '/') - path), path);
	fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !directory)
		close(fd);
	while (directory && kept_look(directory, oldest) + wanted > ALL_MAX && oldest[0])
		if (unlinkat(dirfd(directory), oldest, 0))
			break;
	if (directory)
		closedir(directory);
}

/* Adds the trailer and keeps a copy. False: the file in memory is not to be used. */
static bool keep(int fd, off_t size, char *path, uint64_t key)
{
	struct trailer trailer = {.key = key};
	size_t all = (size_t)size + sizeof trailer;
	uint8_t *bytes;

	if (ftruncate(fd, (off_t)all))
		return false;
	bytes = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	trailer.checksum = store_hash64(bytes, (size_t)size, key);
	memcpy(bytes + size, &trailer, sizeof trailer);
	store_user_cache_make(path);
	cache_trim(path, all);
	store_user_cache_replace(path, &(struct store_bytes){.data = bytes, .size = all, .capacity = all});
	munmap(bytes, all);
	return true;
}

static bool make(struct module_elf *unpacked, const struct module_elf *file, char *path, uint64_t key)
{
	uint64_t bytes = unpacked_bytes(file->elf);
	int fd = bytes && bytes <= FILE_MAX ? memfd_create("hpct-unpacked", MFD_CLOEXEC) : -1;
	off_t size;

	if (fd < 0)
		return false;
	size = elf_make(file->fd, fd);
	if (size > 0 && keep(fd, size, path, key))
		return elf_take(unpacked, fd, file->path);
	close(fd);
	return false;
}

bool debug_cache_open(struct module_elf *unpacked, const struct module_elf *file, const char *directory)
{
	struct module_identity identity;
	char path[PATH_BYTES];
	uint64_t key;
	int used;

	*unpacked = (struct module_elf){.fd = -1};
	if (!directory || !file->elf || file->fd < 0)
		return false;
	identity = module_elf_identity(file->elf);
	used = snprintf(path, sizeof path, "%s/debug/", directory);
	if (identity.size < 8 || (size_t)used + 2 * identity.size >= sizeof path)
		return false;
	for (size_t i = 0; i < identity.size; i++)
		snprintf(path + used + 2 * i, 3, "%02x", identity.bytes[i]);
	key = key_of(file->fd);
	return kept_open(unpacked, path, key) || make(unpacked, file, path, key);
}
