/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_map.c - see module_map.h. With glibc 2.35 and newer uses _dl_find_object; otherwise an immutable
 * list, which is replaced as a whole and never freed, since a handler may be reading it.
 */
#include "record/agent/unwind/module_map.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "record/agent/base/real.h"
#include "record/agent/process/environment.h"

#ifndef DLFO_STRUCT_HAS_EH_DBASE
struct dl_find_object {
	unsigned long long dlfo_flags;
	void *dlfo_map_start;
	void *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long reserved[7];
};
#endif

struct list {
	unsigned long long changes; /* loads + unloads when the list was made */
	size_t bytes;
	unsigned count;
	struct module_map_entry entry[];
};

static int (*find_object)(void *, struct dl_find_object *);
static struct list *_Atomic list;
static uint64_t vdso_begin;
static uint64_t loader_begin;
static struct module_map_entry program; /* end 0: unknown */
static const ElfW(Phdr) * program_segments;
static size_t program_segment_count;

static bool list_search(uint64_t pc, struct module_map_entry *found)
{
	const struct list *now = atomic_load_explicit(&list, memory_order_acquire);

	for (unsigned i = 0; now && i < now->count; i++)
		if (pc >= now->entry[i].begin && pc < now->entry[i].end) {
			*found = now->entry[i];
			return true;
		}
	return false;
}

bool module_map_find(uint64_t pc, struct module_map_entry *found)
{
	struct dl_find_object object;

	if (!find_object)
		return list_search(pc, found);
	if (find_object((void *)(uintptr_t)pc, &object))
		return false;
	*found = (struct module_map_entry){.begin = (uintptr_t)object.dlfo_map_start,
		.end = (uintptr_t)object.dlfo_map_end,
		.bias = object.dlfo_link_map->l_addr,
		.frame_header = (uintptr_t)object.dlfo_eh_frame,
		.name = object.dlfo_link_map->l_name};
	/* The kernel may leave gaps between the program's segments: libc then finds only its code, without
	 * the page of its headers. */
	if (found->bias == program.bias && pc >= program.begin && pc < program.end) {
		found->begin = program.begin;
		found->end = program.end;
	}
	return true;
}

int module_map_range(uint64_t address, uint64_t *begin, uint64_t *end)
{
	struct module_map_entry found;

	if (!module_map_find(address, &found))
		return -1;
	*begin = found.begin;
	*end = found.end;
	return 0;
}

int module_map_loader_range(uint64_t *begin, uint64_t *end)
{
	return loader_begin ? module_map_range(loader_begin, begin, end) : -1;
}

static void fill_from_info(struct module_map_entry *found, const struct dl_phdr_info *info)
{
	*found = (struct module_map_entry){
		.begin = UINT64_MAX, .bias = info->dlpi_addr, .name = info->dlpi_name};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			found->frame_header = begin;
		if (segment->p_type != PT_LOAD)
			continue;
		if ((begin & ~UINT64_C(4095)) < found->begin)
			found->begin = begin & ~UINT64_C(4095);
		if (begin + segment->p_memsz > found->end)
			found->end = begin + segment->p_memsz;
	}
}

struct listing {
	struct list *list;
	unsigned capacity;
	unsigned count;
	unsigned long long changes;
};

static int listing_add(struct dl_phdr_info *info, size_t size, void *context)
{
	struct listing *listing = context;

	(void)size;
	listing->changes = info->dlpi_adds + info->dlpi_subs;
	if (listing->count < listing->capacity)
		fill_from_info(&listing->list->entry[listing->count], info);
	listing->count++;
	return 0;
}

void module_map_refresh(void)
{
	const struct list *old = atomic_load(&list);
	struct listing listing = {0};
	size_t bytes;

	if (find_object)
		return;
	dl_iterate_phdr(listing_add, &listing);
	if (old && old->changes == listing.changes)
		return;
	listing.capacity = listing.count + 8;
	listing.count = 0;
	bytes = sizeof(struct list) + listing.capacity * sizeof(struct module_map_entry);
	listing.list = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (listing.list == MAP_FAILED)
		return;
	dl_iterate_phdr(listing_add, &listing);
	listing.list->changes = listing.changes;
	listing.list->bytes = bytes;
	listing.list->count = listing.count < listing.capacity ? listing.count : listing.capacity;
	atomic_store_explicit(&list, listing.list, memory_order_release);
}

const ElfW(Phdr) * module_map_program(size_t *count, uint64_t *bias)
{
	*count = program_segment_count;
	*bias = program.bias;
	return program_segments;
}

/* Finds the program itself, from the headers that the kernel passes. A static program's headers may lack
 * their own address: then the file header before them shows where the program begins. */
static void program_init(uint64_t entry)
{
	struct dl_phdr_info info = {
		.dlpi_phdr = program_segments, .dlpi_phnum = (ElfW(Half))program_segment_count};
	const ElfW(Ehdr) *header = (const void *)((const char *)program_segments - sizeof(*header));
	bool is_placed = false;

	for (size_t i = 0; i < program_segment_count; i++)
		if (program_segments[i].p_type == PT_PHDR) {
			info.dlpi_addr = (uintptr_t)program_segments - program_segments[i].p_vaddr;
			is_placed = true;
		}
	if (!is_placed && ((uintptr_t)program_segments & 4095) >= sizeof(*header) &&
		!memcmp(header->e_ident, ELFMAG, SELFMAG))
		info.dlpi_addr = entry - header->e_entry;
	fill_from_info(&program, &info);
}

void module_map_init(char **envp)
{
	char **auxiliary = envp + environment_count(envp) + 1;
	uint64_t entry_point = 0;

	find_object = (int (*)(void *, struct dl_find_object *))real_symbol("_dl_find_object");
	for (const ElfW(auxv_t) *entry = (const void *)auxiliary; entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_SYSINFO_EHDR)
			vdso_begin = entry->a_un.a_val;
		if (entry->a_type == AT_BASE)
			loader_begin = entry->a_un.a_val;
		if (entry->a_type == AT_PHDR)
			program_segments = (const void *)entry->a_un.a_val;
		if (entry->a_type == AT_PHNUM)
			program_segment_count = entry->a_un.a_val;
		if (entry->a_type == AT_ENTRY)
			entry_point = entry->a_un.a_val;
	}
	if (program_segments)
		program_init(entry_point);
	module_map_refresh();
}

bool module_map_is_vdso(const struct module_map_entry *module)
{
	return module->begin == vdso_begin;
}
