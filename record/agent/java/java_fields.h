/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_fields.h - looks up what a HotSpot machine publishes of its own objects (gHotSpotVMStructs and
 * gHotSpotVMTypes of libjvm), once it runs: places of fields, and switches (-XX:...) by name. Not for a
 * handler.
 */
#ifndef RECORD_AGENT_JAVA_FIELDS_H
#define RECORD_AGENT_JAVA_FIELDS_H

#include "record/agent/java/java_blobs.h"

/* Addresses of the library's variables of these names; 0: it has none. */
struct java_fields {
	uint64_t structs, struct_bytes, types, type_bytes;
};

/* False: the machine has no such field, or publishes in another form. */
bool java_fields_find(
	const struct java_fields *of, const char *type, const char *name, struct java_field *field);

/* Whether that switch, of a yes or no, is on. */
bool java_fields_has_switch(const struct java_fields *of, const char *name);

#endif
