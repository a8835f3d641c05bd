/* SPDX-License-Identifier: Apache-2.0 */
/* module_elf.c - one ELF file: opening it, whatever its content, its sections, its build id. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "store/base/content_id.h"
#include "store/base/regular_file.h"
#include "timeline/debug/module_elf_internal.h"

static int elf_begin_fd(struct module_elf *file, int fd, const char *path, struct error *error)
{
	elf_version(EV_CURRENT);
	file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
		elf_end(file->elf);
		file->elf = NULL;
		return error_set(error, ERROR_IO, "%s is not an ELF file", path);
	}
	file->path = strdup(path);
	file->fd = fd;
	return file->path ? 0 : error_memory(error);
}

int module_elf_open(struct module_elf *file, const char *path, struct error *error)
{
	struct stat status;
	int fd = regular_file_open(path, 0, &status), rc;

	memset(file, 0, sizeof *file);
	file->fd = -1;
	if (fd < 0 && errno == EINVAL)
		return error_set(error, ERROR_IO, "%s is not a regular file", path);
	if (fd < 0)
		return error_set(error, ERROR_IO, "cannot open %s: %s", path, strerror(errno));
	rc = elf_begin_fd(file, fd, path, error);
	if (rc && file->elf)
		module_elf_close(file);
	else if (rc)
		close(fd);
	return rc;
}

void module_elf_close(struct module_elf *file)
{
	if (file->elf) {
		elf_end(file->elf);
		if (file->fd >= 0)
			close(file->fd);
	}
	free(file->path);
	memset(file, 0, sizeof *file);
	file->fd = -1;
}

Elf_Scn *module_elf_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *found = NULL;

		if (gelf_getshdr(section, &header))
			found = elf_strptr(elf, names, header.sh_name);
		if (found && !strcmp(found, name) && header.sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

bool module_elf_has_debug(Elf *elf)
{
	return module_elf_section(elf, ".debug_info") || module_elf_section(elf, ".zdebug_info");
}

bool module_elf_has_symbols(Elf *elf)
{
	return module_elf_section(elf, ".symtab") != NULL;
}

void module_elf_open_mini(struct module_elf *mini, Elf *elf)
{
	Elf_Scn *section = module_elf_section(elf, ".gnu_debugdata");
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	int fd;

	memset(mini, 0, sizeof *mini);
	mini->fd = -1;
	if (!data || !data->d_buf || !data->d_size)
		return;
	fd = memfd_create("hpct-debugdata", MFD_CLOEXEC);
	if (fd < 0)
		return;
	/* libdwelf unpacks a compressed file into memory; the descriptor is not needed afterwards. */
	if (write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size) {
		elf_version(EV_CURRENT);
		mini->elf = dwelf_elf_begin(fd);
	}
	if (mini->elf && elf_kind(mini->elf) == ELF_K_ELF) {
		mini->fd = fd;
		return;
	}
	elf_end(mini->elf);
	mini->elf = NULL;
	close(fd);
}

struct module_identity module_elf_identity(Elf *elf)
{
	struct module_identity identity = {.size = 0};
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size > 0 && size <= (ssize_t)sizeof identity.bytes) {
		memcpy(identity.bytes, bytes, (size_t)size);
		identity.size = (size_t)size;
	}
	return identity;
}

uint8_t module_elf_build_id(Elf *elf, uint8_t id[NAMES_BUILD_ID_MAX])
{
	struct module_identity identity = module_elf_identity(elf);

	memcpy(id, identity.bytes,
		sizeof identity.bytes < NAMES_BUILD_ID_MAX ? sizeof identity.bytes : NAMES_BUILD_ID_MAX);
	return (uint8_t)identity.size;
}

bool module_identity_equal(const struct module_identity *a, const struct module_identity *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

bool module_elf_is(const struct module_elf *file, const struct module_identity *wanted)
{
	struct module_identity found;

	if (!wanted->size)
		return true;
	if (!content_id_is(wanted->bytes, wanted->size)) {
		found = module_elf_identity(file->elf);
		return module_identity_equal(&found, wanted);
	}
	found = (struct module_identity){.size = CONTENT_ID_BYTES};
	return file->fd >= 0 && content_id_of_file(file->fd, found.bytes) &&
	       module_identity_equal(&found, wanted);
}

bool module_elf_open_matching(struct module_elf *file, const char *path, const struct module_identity *wanted)
{
	if (module_elf_open(file, path, NULL))
		return false;
	if (module_elf_is(file, wanted))
		return true;
	module_elf_close(file);
	return false;
}
