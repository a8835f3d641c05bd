/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - loads parts of the agent that need other libraries: shared objects beside the agent, loaded only
 * when needed, into a separate link namespace with its own C library.
 */
#ifndef RECORD_AGENT_PLUGIN_H
#define RECORD_AGENT_PLUGIN_H

/* Loads `file` from the directory of `agent` (or of its link target) and returns its `symbol`. NULL: it
 * cannot be loaded; errno is ENOENT if the file is missing. Not signal safe. */
const void *plugin_find(const char *agent, const char *file, const char *symbol);

#endif
