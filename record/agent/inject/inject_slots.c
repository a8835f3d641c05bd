/* SPDX-License-Identifier: Apache-2.0 */
/* inject_slots.c - see inject_slots.h. The loader's list is read under its own lock, so that no library goes
 * meanwhile; the buffers are static. */
#include "record/agent/inject/inject_slots.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/inject/inject_proc.h"
#include "record/agent/python/python_symbols.h"

#define OBJECTS_MAX 8192u /* looked at again, if their slots are not all bound */
#define HASH_SIZE 512u	  /* a power of two, twice INJECT_SLOTS_CALLS_MAX */
#define PAGE UINT64_C(4096)

static struct {
	const struct inject_slots_call *calls;
	unsigned count;
	const _Atomic int *loading;			    /* NULL: not known */
	uint16_t by_name[HASH_SIZE], by_address[HASH_SIZE]; /* + 1; 0: free */
	unsigned long long added, removed;		    /* of the loader's list, at the last look */
	bool is_seen;
	uint8_t is_pending[OBJECTS_MAX]; /* by place in the list: it has slots that are not bound yet */
	uint32_t changed;
} slots;

/* One walk over the list. */
struct walk {
	bool restores, is_first, is_new; /* is_new: the list has changed since the last walk */
	unsigned place;
	bool has_pending;
	uint64_t open; /* a page that is writable for the walk; 0: none */
};

/* One loaded object. */
struct object {
	uint64_t bias, begin, end;
	uint64_t relro_begin, relro_end;
	const ElfW(Rela) * calls;
	size_t call_count;
	const ElfW(Sym) * symbols;
	const char *names;
	uint64_t names_bytes;
};

/* ---- which function ---- */

static uint32_t name_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % HASH_SIZE;
}

static uint32_t address_hash(uint64_t address)
{
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 55) % HASH_SIZE;
}

static void tables_add(uint16_t *table, uint32_t at, unsigned index)
{
	while (table[at])
		at = (at + 1) % HASH_SIZE;
	table[at] = (uint16_t)(index + 1);
}

static const struct inject_slots_call *call_named(const char *name)
{
	for (uint32_t at = name_hash(name); slots.by_name[at]; at = (at + 1) % HASH_SIZE)
		if (!strcmp(slots.calls[slots.by_name[at] - 1].name, name))
			return &slots.calls[slots.by_name[at] - 1];
	return NULL;
}

static uint64_t now_of(const struct inject_slots_call *call, bool restores)
{
	return restores ? (uintptr_t)call->wrapper : (uintptr_t)*call->real;
}

/* Some call's function, or wrapper, has that address. Functions of several names may have one. */
static bool is_known(uint64_t address, bool restores)
{
	for (uint32_t at = address_hash(address); slots.by_address[at]; at = (at + 1) % HASH_SIZE)
		if (now_of(&slots.calls[slots.by_address[at] - 1], restores) == address)
			return true;
	return false;
}

static void addresses_index(bool restores)
{
	memset(slots.by_address, 0, sizeof(slots.by_address));
	for (unsigned i = 0; i < slots.count; i++)
		if (*slots.calls[i].real)
			tables_add(slots.by_address, address_hash(now_of(&slots.calls[i], restores)), i);
}

/* ---- objects ---- */

static bool holds(const struct object *object, uint64_t at, uint64_t bytes)
{
	return at >= object->begin && at < object->end && bytes <= object->end - at;
}

/* Of the program and the libraries, but not of the kernel's, whose addresses nobody has relocated. */
static bool segments_read(const struct dl_phdr_info *info, struct object *object, const ElfW(Phdr) * *dynamic)
{
	*object = (struct object){.bias = info->dlpi_addr, .begin = UINT64_MAX};
	*dynamic = NULL;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;

		if (segment->p_type == PT_LOAD) {
			object->begin = begin < object->begin ? begin : object->begin;
			object->end = end > object->end ? end : object->end;
		} else if (segment->p_type == PT_DYNAMIC) {
			*dynamic = segment;
		} else if (segment->p_type == PT_GNU_RELRO) {
			object->relro_begin = begin & ~(PAGE - 1);
			object->relro_end = end;
		}
	}
	return *dynamic && object->begin < object->end;
}

static void entry_read(struct object *object, const ElfW(Dyn) * entry, uint64_t *bytes, bool *is_known)
{
	uint64_t value = entry->d_un.d_ptr;

	switch (entry->d_tag) {
	case DT_JMPREL:
		object->calls = (const void *)(uintptr_t)value;
		break;
	case DT_PLTRELSZ:
		*bytes = value;
		break;
	case DT_PLTREL:
		*is_known = value == DT_RELA;
		break;
	case DT_SYMTAB:
		object->symbols = (const void *)(uintptr_t)value;
		break;
	case DT_STRTAB:
		object->names = (const void *)(uintptr_t)value;
		break;
	case DT_STRSZ:
		object->names_bytes = value;
		break;
	default:
		break;
	}
}

/* False: it has no table of calls that can be read. */
static bool object_read(const struct dl_phdr_info *info, struct object *object)
{
	const ElfW(Phdr) * dynamic;
	const ElfW(Dyn) * entry;
	uint64_t bytes = 0;
	bool is_known = false;

	if (!segments_read(info, object, &dynamic))
		return false;
	entry = (const void *)(uintptr_t)(object->bias + dynamic->p_vaddr);
	for (size_t i = 0; i < dynamic->p_memsz / sizeof(*entry) && entry[i].d_tag != DT_NULL; i++)
		entry_read(object, &entry[i], &bytes, &is_known);
	object->call_count = bytes / sizeof(*object->calls);
	return is_known && object->calls && object->symbols && object->names &&
	       holds(object, (uintptr_t)object->calls, bytes) &&
	       holds(object, (uintptr_t)object->symbols, sizeof(*object->symbols)) &&
	       holds(object, (uintptr_t)object->names, object->names_bytes);
}

static const char *name_of(const struct object *object, const ElfW(Rela) * call)
{
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(call->r_info)];

	return holds(object, (uintptr_t)symbol, sizeof(*symbol)) && symbol->st_name < object->names_bytes
		       ? object->names + symbol->st_name
		       : "";
}

static bool is_ours(const struct object *object)
{
	return holds(object, (uintptr_t)&slots, sizeof(slots));
}

/* ---- writing ---- */

static void page_close(struct walk *walk)
{
	if (walk->open)
		syscall(SYS_mprotect, walk->open, PAGE, PROT_READ);
	walk->open = 0;
}

/* True if the slot can be written. A page that is writable already stays so: its protection is the program's.
 */
static bool page_open(struct walk *walk, const struct object *object, uint64_t slot)
{
	uint64_t page = slot & ~(PAGE - 1);

	if (walk->open == page)
		return true;
	page_close(walk);
	switch (inject_proc_protection(slot)) {
	case PROT_READ | PROT_WRITE:
		return true;
	case PROT_READ:
		if (slot < object->relro_begin || slot >= object->relro_end ||
			syscall(SYS_mprotect, page, PAGE, PROT_READ | PROT_WRITE))
			return false;
		walk->open = page;
		return true;
	default:
		return false;
	}
}

static void slot_take(struct walk *walk, const struct object *object, const ElfW(Rela) * call)
{
	uint64_t slot = object->bias + call->r_offset, now;
	const struct inject_slots_call *found;

	if (ELF64_R_TYPE(call->r_info) != R_X86_64_JUMP_SLOT || slot % 8 || !holds(object, slot, 8))
		return;
	now = atomic_load((const _Atomic uint64_t *)(uintptr_t)slot);
	if (!is_known(now, walk->restores)) { /* or one that leads to the object's own code, to be bound */
		walk->has_pending |= !walk->restores && now >= object->begin && now < object->end &&
				     call_named(name_of(object, call));
		return;
	}
	found = call_named(name_of(object, call));
	if (found && now_of(found, walk->restores) == now && page_open(walk, object, slot))
		slots.changed += atomic_compare_exchange_strong(
			(_Atomic uint64_t *)(uintptr_t)slot, &now, now_of(found, !walk->restores));
}

/* ---- walks ---- */

/* Nobody is loading or unloading: all objects of the list are whole, and stay so until the walk is over, as
 * nobody can be put into the list or unmapped without its lock. */
static bool is_quiet(void)
{
	return slots.loading && !atomic_load(slots.loading);
}

static int object_look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct walk *walk = context;
	unsigned place = walk->place++;
	struct object object;

	(void)bytes;
	if (walk->is_first) {
		walk->is_first = false;
		if (!walk->restores && !is_quiet())
			return 1;
		walk->is_new = walk->restores || !slots.is_seen || info->dlpi_adds != slots.added ||
			       info->dlpi_subs != slots.removed;
		slots.added = info->dlpi_adds;
		slots.removed = info->dlpi_subs;
		slots.is_seen = true;
		if (walk->is_new) /* the list may be shorter now */
			memset(slots.is_pending, 0, sizeof(slots.is_pending));
	}
	if (!walk->is_new && place < OBJECTS_MAX && !slots.is_pending[place])
		return 0;
	walk->has_pending = false;
	if (object_read(info, &object) && !is_ours(&object)) {
		for (size_t i = 0; i < object.call_count; i++)
			slot_take(walk, &object, &object.calls[i]);
		page_close(walk);
	}
	if (place < OBJECTS_MAX)
		slots.is_pending[place] = walk->has_pending;
	return 0;
}

struct search {
	const char *name; /* NULL: all functions that are not known yet */
	void *found;
};

static void functions_find(const struct python_symbols *symbols)
{
	for (unsigned i = 0; i < slots.count; i++)
		if (!*slots.calls[i].real)
			*slots.calls[i].real =
				(void *)(uintptr_t)python_symbols_find(symbols, slots.calls[i].name);
}

/* What the loader's own search finds: the first that is defined. */
static int names_look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *search = context;
	const ElfW(Phdr) * dynamic;
	struct python_symbols symbols;
	struct object object;

	(void)bytes;
	if (!segments_read(info, &object, &dynamic) || is_ours(&object) ||
		!python_symbols_open(&symbols, object.begin, object.end, object.bias))
		return 0;
	if (!search->name) {
		functions_find(&symbols);
		return 0;
	}
	search->found = (void *)(uintptr_t)python_symbols_find(&symbols, search->name);
	return search->found != NULL;
}

void *inject_slots_find(const char *name)
{
	struct search search = {.name = name};

	dl_iterate_phdr(names_look, &search);
	return search.found;
}

static void walk_all(bool restores)
{
	struct walk walk = {.restores = restores, .is_first = true};

	inject_proc_protections_read();
	addresses_index(restores);
	dl_iterate_phdr(object_look, &walk);
}

void inject_slots_begin(uint64_t locks)
{
	memset(&slots, 0, sizeof(slots));
	slots.loading = (const _Atomic int *)(uintptr_t)locks;
}

void inject_slots_calls(const struct inject_slots_call *calls, unsigned count)
{
	slots.calls = calls;
	slots.count = count < INJECT_SLOTS_CALLS_MAX ? count : INJECT_SLOTS_CALLS_MAX;
	slots.is_seen = false;
	memset(slots.by_name, 0, sizeof(slots.by_name));
	for (unsigned i = 0; i < slots.count; i++)
		tables_add(slots.by_name, name_hash(calls[i].name), i);
}

static int list_count(struct dl_phdr_info *info, size_t bytes, void *is_changed)
{
	(void)bytes;
	*(bool *)is_changed =
		!slots.is_seen || info->dlpi_adds != slots.added || info->dlpi_subs != slots.removed;
	return 1;
}

uint32_t inject_slots_look(void)
{
	bool is_changed = false, is_pending = false;

	if (!slots.count || !is_quiet())
		return slots.changed;
	dl_iterate_phdr(list_count, &is_changed);
	for (unsigned i = 0; i < OBJECTS_MAX && !is_pending; i++)
		is_pending = slots.is_pending[i];
	if (!is_changed && !is_pending)
		return slots.changed;
	if (is_changed)
		dl_iterate_phdr(names_look, &(struct search){NULL, NULL});
	walk_all(false);
	return slots.changed;
}

void inject_slots_restore(void)
{
	if (slots.count)
		walk_all(true);
	slots.count = 0;
}
