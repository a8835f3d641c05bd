/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - see plugin.h. */
#include "record/agent/base/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/base/real.h"

/* LD_PRELOAD names the agent by a link, so this resolves it. dlmopen is in libdl or libc, depending on
 * glibc's version. */
const void *plugin_find(const char *agent, const char *file, const char *symbol)
{
	void *(*open_in)(Lmid_t, const char *, int) =
		(void *(*)(Lmid_t, const char *, int))real_symbol("dlmopen");
	void *(*find)(void *, const char *) = (void *(*)(void *, const char *))real_symbol("dlsym");
	char path[4096] = "";
	ssize_t length = readlink(agent, path, sizeof(path) / 2);
	char *slash;
	void *library;
	const void *found;

	if (length < 0 && strlen(agent) < sizeof(path) / 2)
		strcpy(path, agent);
	slash = strrchr(path, '/');
	errno = ENOENT;
	if (!slash || !open_in || !find || strlen(file) >= sizeof(path) / 2)
		return NULL;
	strcpy(slash + 1, file);
	if (access(path, F_OK))
		return NULL;
	library = open_in(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
	found = library ? find(library, symbol) : NULL;
	errno = ENOEXEC;
	return found;
}
