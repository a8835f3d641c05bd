/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_code.h - where the code of a Java program is that its virtual machine compiled, and what it is called:
 * written into the memory that the collector reads, in the order in which it was made. Any thread, but no
 * handler; bounded: what has no room has no name.
 */
#ifndef RECORD_AGENT_JAVA_CODE_H
#define RECORD_AGENT_JAVA_CODE_H

#include <stddef.h>
#include <stdint.h>

/* "Ljava/util/HashMap;" and "get" are java.util.HashMap.get. */
size_t java_code_name(char *to, size_t room, const char *class_signature, const char *method);

void java_code_put(const void *begin, uint64_t size, const char *name, size_t name_bytes);

#endif
