/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_slots.c - see module_slots.h. module_map.h finds modules; this assigns slot, build id and unwind
 * tables.
 */
#include "record/agent/unwind/module_slots.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/module_path.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/process/process.h"
#include "record/agent/unwind/module_map.h"
#include "record/agent/unwind/unwind.h"
#include "store/ring/module_content.h"

static HOT_DATA _Atomic uint32_t generation;
static _Atomic uint32_t anonymous_slot; /* + 1; 0: none yet */
static _Atomic uint32_t python_slot;	/* likewise */

HOT uint32_t module_slots_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_acquire);
}

HOT uint64_t module_slots_bias(uint32_t slot)
{
	return slot < EVENT_MODULE_MAX ? process.modules[slot].bias : 0;
}

/* The module's ELF header, if its first page contains header and program headers. A page is mapped as a
 * whole, though a small program's code may end within it. */
static const ElfW(Ehdr) * elf_header(const struct module_map_entry *found)
{
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)found->begin;

	if (((found->end + 4095) & ~UINT64_C(4095)) - found->begin < 4096 ||
		memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_phentsize != sizeof(ElfW(Phdr)) ||
		header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return NULL;
	return header;
}

static const ElfW(Phdr) * elf_segments(const ElfW(Ehdr) * header)
{
	return (const void *)((const char *)header + header->e_phoff);
}

static bool segment_holds(const ElfW(Phdr) * segment, uint64_t bias, uint64_t address)
{
	return segment->p_type == PT_LOAD && address >= bias + segment->p_vaddr &&
	       address < bias + segment->p_vaddr + segment->p_filesz;
}

/* The tables may only be read inside the segment that contains them. */
static void image_set(struct cfi_module *module, const struct module_map_entry *found)
{
	const ElfW(Ehdr) *header = elf_header(found);
	const ElfW(Phdr) *segment = header ? elf_segments(header) : NULL;

	for (unsigned i = 0; header && i < header->e_phnum; i++) {
		uint64_t begin = found->bias + segment[i].p_vaddr;

		if (!segment_holds(&segment[i], found->bias, found->frame_header))
			continue;
		module->image = (struct cfi_image){
			(const uint8_t *)(uintptr_t)begin, begin, begin + segment[i].p_filesz};
		cfi_module_init(module, found->frame_header);
		return;
	}
}

static void build_id_read(struct event_module *slot, const ElfW(Phdr) * note, uint64_t bias)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)(bias + note->p_vaddr);
	const unsigned char *end = at + note->p_memsz;

	while ((size_t)(end - at) > sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *head = (const void *)at;
		const unsigned char *name = at + sizeof(*head), *data = name + ((head->n_namesz + 3) & ~3u);

		if (data > end || data < name || head->n_descsz > (size_t)(end - data))
			return;
		if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			slot->build_id_bytes =
				(uint8_t)(head->n_descsz < sizeof(slot->build_id) ? head->n_descsz
										  : sizeof(slot->build_id));
			memcpy(slot->build_id, data, slot->build_id_bytes);
			return;
		}
		at = data + ((head->n_descsz + 3) & ~3u);
	}
}

static void build_id_find(struct event_module *slot, const struct module_map_entry *found)
{
	const ElfW(Ehdr) *header = elf_header(found);
	const ElfW(Phdr) *segment = header ? elf_segments(header) : NULL;

	for (unsigned i = 0; header && i < header->e_phnum && !slot->build_id_bytes; i++)
		if (segment[i].p_type == PT_NOTE && segment[i].p_align <= 8)
			build_id_read(slot, &segment[i], found->bias);
}

/* Continues the hash with mapped bytes, a piece at a time: this may run on a small stack. Where the program
 * has moved or protected them the kernel's copy fails, and there is no hash. */
static bool content_read(uint64_t *hash, uint64_t address, uint64_t size)
{
	uint64_t piece[128];

	for (uint64_t at = 0; at < size; at += sizeof(piece)) {
		size_t bytes = size - at < sizeof(piece) ? (size_t)(size - at) : sizeof(piece);

		if (!safe_read(piece, (const void *)(uintptr_t)(address + at), bytes))
			return false;
		*hash = module_content_add(*hash, piece, bytes);
	}
	return true;
}

/* What tells the collector whether a file is this module, if there is no build id. */
static void content_hash(struct event_module *slot, const struct module_map_entry *found)
{
	struct module_content content;
	uint64_t hash = MODULE_CONTENT_SEED;

	if (slot->build_id_bytes || slot->is_vdso || !elf_header(found) ||
		!module_content_place((const uint8_t *)elf_header(found), &content) ||
		content.code_address + found->bias < found->begin ||
		content.code_address + content.code_bytes + found->bias > found->end)
		return;
	if (content_read(&hash, found->begin, content.header_bytes) &&
		content_read(&hash, content.code_address + found->bias, content.code_bytes))
		slot->content_hash = hash;
}

static uint32_t slots_used(void)
{
	uint32_t count = atomic_load_explicit(&process.shared->module_count, memory_order_acquire);

	return count < EVENT_MODULE_MAX ? count : EVENT_MODULE_MAX;
}

/* Takes a new slot in state WRITING; NULL: table full. */
static struct event_module *slot_take(uint32_t *index)
{
	if (slots_used() == EVENT_MODULE_MAX) {
		atomic_fetch_add(&process.shared->modules_unlisted, 1);
		return NULL;
	}
	*index = atomic_fetch_add(&process.shared->module_count, 1);
	if (*index >= EVENT_MODULE_MAX)
		return NULL;
	atomic_store(&process.modules[*index].state, EVENT_MODULE_WRITING);
	return &process.modules[*index];
}

static void slot_live(struct event_module *slot)
{
	slot->loaded_ns = process_now_ns();
	atomic_store_explicit(&slot->state, EVENT_MODULE_LIVE, memory_order_release);
}

static bool slot_is(const struct event_module *slot, const struct module_map_entry *found)
{
	return slot->bias == found->bias && slot->begin == found->begin && slot->end == found->end &&
	       module_path_is(slot->path, sizeof(slot->path), found->name ? found->name : "");
}

static bool slot_is_same(const struct event_module *slot, const struct event_module *fresh)
{
	return slot->bias == fresh->bias && slot->begin == fresh->begin && slot->end == fresh->end &&
	       slot->build_id_bytes == fresh->build_id_bytes && slot->content_hash == fresh->content_hash &&
	       !memcmp(slot->build_id, fresh->build_id, fresh->build_id_bytes) &&
	       !strcmp(slot->path, fresh->path);
}

/* A program that loads and unloads for ever would fill the table: beyond half of it, a file that comes back
 * to the place that it had takes up its old slot again, if it is the same file. */
static bool slot_revive(const struct event_module *fresh, uint32_t *index)
{
	uint32_t used = slots_used();

	for (uint32_t i = 0; used > EVENT_MODULE_MAX / 2 && i < used; i++) {
		struct event_module *slot = &process.modules[i];
		uint32_t gone = EVENT_MODULE_GONE;

		if (atomic_load(&slot->state) != EVENT_MODULE_GONE ||
			slot->language != EVENT_LANGUAGE_NATIVE || !slot_is_same(slot, fresh))
			continue;
		atomic_store(&slot->unloaded_ns, 0);
		atomic_compare_exchange_strong(&slot->state, &gone, EVENT_MODULE_LIVE);
		*index = i;
		return true;
	}
	return false;
}

static void slot_fill(struct event_module *slot, const struct module_map_entry *found)
{
	slot->bias = found->bias;
	slot->begin = found->begin;
	slot->end = found->end;
	slot->is_vdso = module_map_is_vdso(found);
	module_path_set(slot->path, sizeof(slot->path), found->name ? found->name : "");
	build_id_find(slot, found);
	content_hash(slot, found);
}

/* Two threads that meet a module at once may each enter it: the collector knows modules by build id and
 * path, and waiting here is not possible. */
static uint32_t slot_add(const struct module_map_entry *found)
{
	struct event_module fresh = {.build_id_bytes = 0}, *slot;
	uint32_t index;

	slot_fill(&fresh, found);
	if (slot_revive(&fresh, &index))
		return index;
	slot = slot_take(&index);
	if (!slot)
		return UNWIND_NO_SLOT;
	fresh.state = EVENT_MODULE_WRITING;
	memcpy(slot, &fresh, sizeof(fresh));
	slot_live(slot);
	return index;
}

static void slot_gone(struct event_module *slot)
{
	atomic_store(&slot->unloaded_ns, process_now_ns());
	atomic_store_explicit(&slot->state, EVENT_MODULE_GONE, memory_order_release);
}

static uint32_t slot_find(const struct module_map_entry *found)
{
	for (uint32_t i = 0, used = slots_used(); i < used; i++) {
		struct event_module *slot = &process.modules[i];

		if (atomic_load_explicit(&slot->state, memory_order_acquire) != EVENT_MODULE_LIVE ||
			slot->is_anonymous || slot->language == EVENT_LANGUAGE_PYTHON)
			continue;
		if (slot_is(slot, found)) {
			if (slot->language == EVENT_LANGUAGE_NATIVE)
				return i;
			continue;
		}
		/* Another module is here now, and we saw no unload: libc unloads its own plug-ins. */
		if (slot->begin < found->end && found->begin < slot->end) {
			slot_gone(slot);
			atomic_fetch_add_explicit(&generation, 1, memory_order_release);
		}
	}
	return slot_add(found);
}

uint32_t module_slots_anonymous(void)
{
	uint32_t known = atomic_load(&anonymous_slot), index;
	struct event_module *slot;

	if (known)
		return known - 1;
	slot = slot_take(&index);
	if (!slot)
		return UNWIND_NO_SLOT;
	slot->is_anonymous = 1;
	slot->end = UINT64_MAX;
	slot_live(slot);
	atomic_store(&anonymous_slot, index + 1);
	return index;
}

uint32_t module_slots_python(void)
{
	uint32_t known = atomic_load(&python_slot), index;
	struct event_module *slot;

	if (known)
		return known - 1;
	slot = slot_take(&index);
	if (!slot)
		return UNWIND_NO_SLOT;
	slot->language = EVENT_LANGUAGE_PYTHON;
	slot->end = UINT64_MAX;
	slot_live(slot);
	atomic_store(&python_slot, index + 1);
	return index;
}

uint32_t module_slots_twin(uint32_t of)
{
	struct event_module fresh, *slot;
	uint32_t index;

	slot = slot_take(&index);
	if (!slot)
		return UNWIND_NO_SLOT;
	memcpy(&fresh, &process.modules[of], sizeof(fresh));
	fresh.state = EVENT_MODULE_WRITING;
	fresh.language = EVENT_LANGUAGE_INTERPRETER;
	memcpy(slot, &fresh, sizeof(fresh));
	slot_live(slot);
	return index;
}

uint32_t module_slots_count(void)
{
	return slots_used();
}

HOT bool module_slots_is_live(uint32_t slot)
{
	return atomic_load_explicit(&process.modules[slot].state, memory_order_acquire) == EVENT_MODULE_LIVE;
}

bool module_slots_is_written(uint32_t slot)
{
	uint32_t state = atomic_load_explicit(&process.modules[slot].state, memory_order_acquire);

	return state == EVENT_MODULE_FREE || state == EVENT_MODULE_WRITING;
}

const struct cfi_module *module_find(void *context, uint64_t pc)
{
	struct module_cache *cache = context;
	struct cfi_module *module;
	struct module_map_entry found;

	for (unsigned i = 0; i < cache->count; i++)
		if (pc >= cache->entry[i].begin && pc < cache->entry[i].end)
			return &cache->entry[i];
	if (!module_map_find(pc, &found))
		return NULL;
	module = &cache->entry[cache->next];
	cache->next = (cache->next + 1) % MODULE_CACHE_ENTRIES;
	if (cache->count < MODULE_CACHE_ENTRIES)
		cache->count++;
	*module = (struct cfi_module){.begin = found.begin, .end = found.end, .slot = slot_find(&found)};
	if (found.frame_header)
		image_set(module, &found);
	return module;
}

bool module_slots_is_met(const char *const *names)
{
	for (uint32_t i = 0, used = slots_used(); i < used; i++) {
		const struct event_module *slot = &process.modules[i];
		const char *base = slot->path;

		if (atomic_load_explicit(&slot->state, memory_order_acquire) != EVENT_MODULE_LIVE)
			continue;
		for (const char *at = slot->path; *at; at++)
			if (*at == '/')
				base = at + 1;
		for (const char *const *name = names; *name; name++)
			if (strncmp(base, *name, strlen(*name)) == 0)
				return true;
	}
	return false;
}

void module_slots_unloaded(void)
{
	module_map_refresh();
	for (uint32_t i = 0, used = slots_used(); i < used; i++) {
		struct event_module *slot = &process.modules[i];
		struct module_map_entry found;

		if (atomic_load_explicit(&slot->state, memory_order_acquire) == EVENT_MODULE_LIVE &&
			!slot->is_anonymous && slot->language != EVENT_LANGUAGE_PYTHON &&
			(!module_map_find(slot->begin, &found) || !slot_is(slot, &found)))
			slot_gone(slot);
	}
	atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

void module_slots_init(void)
{
	atomic_store(&anonymous_slot, 0);
	atomic_store(&python_slot, 0);
	module_path_init();
}
