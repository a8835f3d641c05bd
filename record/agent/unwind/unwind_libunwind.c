/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_libunwind.c - hpct-agent-libunwind.so, the only file that uses libunwind: see unwind_plugin.h. */
#include <libunwind.h>
#include <string.h>

#include "record/agent/unwind/unwind_plugin.h"

/* libunwind's search in a table in another process; exported, but in no header. */
#define TABLE_SEARCH UNW_OBJ(dwarf_search_unwind_table)
extern int TABLE_SEARCH(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table, unw_proc_info_t *info,
	int needs_info, void *argument);

struct walk {
	const struct unwind_space *space;
	struct cfi_image image; /* of the last module: tables are read many words at a time */
	const struct arch_registers *start;
};

static unw_addr_space_t address_space;

static int proc_info_find(
	unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int needs_info, void *argument)
{
	struct walk *walk = argument;
	const struct cfi_module *module = walk->space->module_find(walk->space->context, ip);
	unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};

	if (!module || !module->table)
		return -UNW_ENOINFO;
	walk->image = module->image;
	table.start_ip = module->begin;
	table.end_ip = module->end;
	table.u.rti.segbase = module->header;
	table.u.rti.table_data = module->table;
	table.u.rti.table_len = module->table_count * 2 * sizeof(int32_t) / sizeof(unw_word_t);
	return TABLE_SEARCH(space, ip, &table, info, needs_info, argument);
}

static void unwind_info_put(unw_addr_space_t space, unw_proc_info_t *info, void *argument)
{
	(void)space, (void)info, (void)argument;
}

static int list_find(unw_addr_space_t space, unw_word_t *list, void *argument)
{
	(void)space, (void)list, (void)argument;
	return -UNW_ENOINFO;
}

/* libunwind reads an unaligned word by the aligned words that contain it. */
static int memory_access(
	unw_addr_space_t space, unw_word_t address, unw_word_t *value, int writes, void *argument)
{
	const struct walk *walk = argument;
	const struct cfi_image *image = &walk->image;
	uint64_t word;

	(void)space;
	if (!writes && address >= image->begin && address < image->end &&
		image->end - address >= sizeof(word)) {
		memcpy(value, image->bytes + (address - image->begin), sizeof(word));
		return 0;
	}
	if (writes || cfi_word_read(&walk->space->memory, address, &word))
		return -UNW_EINVAL;
	*value = word;
	return 0;
}

static int register_access(
	unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int writes, void *argument)
{
	const struct walk *walk = argument;

	(void)space;
	if (writes || number < 0 || number >= (int)ARCH_REGISTERS)
		return -UNW_EBADREG;
	*value = walk->start->value[number];
	return 0;
}

static int float_access(
	unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int writes, void *argument)
{
	(void)space, (void)number, (void)value, (void)writes, (void)argument;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *argument)
{
	(void)space, (void)cursor, (void)argument;
	return -UNW_EINVAL;
}

static int name_find(unw_addr_space_t space, unw_word_t address, char *name, size_t room, unw_word_t *offset,
	void *argument)
{
	(void)space, (void)address, (void)name, (void)room, (void)offset, (void)argument;
	return -UNW_ENOINFO;
}

static int plugin_open(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = proc_info_find,
		.put_unwind_info = unwind_info_put,
		.get_dyn_info_list_addr = list_find,
		.access_mem = memory_access,
		.access_reg = register_access,
		.access_fpreg = float_access,
		.resume = resume,
		.get_proc_name = name_find,
	};

	address_space = unw_create_addr_space(&accessors, 0);
	if (!address_space)
		return -1;
	/* Modules come and go, and libunwind's cache has a lock. */
	unw_set_caching_policy(address_space, UNW_CACHE_NONE);
	return 0;
}

static unsigned plugin_walk(const struct unwind_space *space, const struct arch_registers *start,
	struct unwind_frame *frames, unsigned most)
{
	struct walk walk = {.space = space, .start = start};
	unsigned count = 0;
	unw_cursor_t cursor;
	unw_word_t ip, exact = 1;

	if (unw_init_remote(&cursor, address_space, &walk))
		return 0;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			break;
		frames[count++] = (struct unwind_frame){.address = ip - !exact, .exact = (uint16_t)exact};
		if (!ip || unw_step(&cursor) <= 0)
			break;
		exact = unw_is_signal_frame(&cursor) > 0; /* tells how the frame was reached */
	} while (count < most);
	return count;
}

__attribute__((visibility("default"))) extern const struct unwind_plugin hpct_unwind;
const struct unwind_plugin hpct_unwind = {.open = plugin_open, .walk = plugin_walk};
