/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - paths of files, as text. */
#ifndef STORE_PATH_H
#define STORE_PATH_H

#include <stdbool.h>
#include <string.h>

/* The last part of a path, after its last slash; if the path ends in a slash (as a run's may), the
 * directory's name with the slash. */
static inline const char *path_base(const char *path)
{
	const char *at = path + strlen(path);

	while (at > path && at[-1] == '/')
		at--;
	while (at > path && at[-1] != '/')
		at--;
	return at;
}

/* The same file by its name alone, as compilers write it: "/b/src/../include/x.h" and "/b/include/./x.h".
 * Looks at no file. */
bool path_is_same(const char *a, const char *b);

#endif
