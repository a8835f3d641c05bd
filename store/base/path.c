/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - see path.h. */
#include "store/base/path.h"

#include <limits.h>

/* The last part begins there; `from` where parts begin. */
static size_t last_part(const char *path, size_t from, size_t size)
{
	while (size > from && path[size - 1] != '/')
		size--;
	return size;
}

static bool is_up(const char *part, size_t size)
{
	return size == 2 && part[0] == '.' && part[1] == '.';
}

/* Without "." and without what ".." takes back. False: it is too long. */
static bool put_plain(char plain[PATH_MAX], const char *path)
{
	size_t from = *path == '/', used = from;

	if (strlen(path) >= PATH_MAX - 1)
		return false;
	plain[0] = '/';
	for (size_t size; *path; path += size) {
		size_t last;

		path += strspn(path, "/");
		size = strcspn(path, "/");
		if (!size || (size == 1 && *path == '.'))
			continue;
		last = last_part(plain, from, used > from ? used - 1 : used);
		if (is_up(path, size) && used > from && !is_up(plain + last, used - 1 - last)) {
			used = last;
			continue;
		}
		memcpy(plain + used, path, size);
		used += size;
		plain[used++] = '/';
	}
	plain[used] = '\0';
	return true;
}

bool path_is_same(const char *a, const char *b)
{
	char plain_a[PATH_MAX], plain_b[PATH_MAX];

	if (strcmp(path_base(a), path_base(b)) != 0)
		return false;
	return put_plain(plain_a, a) && put_plain(plain_b, b) && !strcmp(plain_a, plain_b);
}
