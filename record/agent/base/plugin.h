/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.h - parts of the agent that bring libraries along: shared objects beside it, loaded only when asked
 * for, into a link namespace of their own, with a C library of their own.
 */
#ifndef RECORD_AGENT_PLUGIN_H
#define RECORD_AGENT_PLUGIN_H

/* What `file`, which lies beside `agent` or what that links to, exports as `symbol`; NULL: it cannot be
 * loaded, and errno is ENOENT where it is not there at all. Not from a handler. */
const void *plugin_find(const char *agent, const char *file, const char *symbol);

#endif
