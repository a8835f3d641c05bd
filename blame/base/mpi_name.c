/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_name.c - see mpi_name.h. */
#include "blame/base/mpi_name.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !strncmp(text + length - size, end, size);
}

/* Behind the prefix; NULL: none. */
static const char *rest_of(const char *name)
{
	static const char *const prefixes[] = {"MPI_", "PMPI_", "mpi_", "pmpi_", "pmpir_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	/* Open MPI's own name of what Fortran calls; without the end it is a function inside. */
	return !strncmp(name, "ompi_", 5) && ends_with(name, strlen(name), "_f") ? name + 5 : NULL;
}

bool mpi_name(char plain[MPI_NAME_BYTES], const char *name)
{
	/* Outermost first: mpi_wait_f08ts_large_ */
	static const char *const ends[] = {"_large", "_f08ts", "_f08", "_f", "_c"};
	const char *rest = rest_of(name);
	size_t length = rest ? strlen(rest) : 0;

	while (length && rest[length - 1] == '_')
		length--;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (length && ends_with(rest, length, ends[i]))
			length -= strlen(ends[i]);
	if (!length || length + 5 > MPI_NAME_BYTES)
		return false;
	memcpy(plain, "MPI_", 4);
	for (size_t i = 0; i < length; i++)
		plain[4 + i] = (char)(i ? tolower((unsigned char)rest[i]) : toupper((unsigned char)rest[i]));
	plain[4 + length] = '\0';
	return true;
}
