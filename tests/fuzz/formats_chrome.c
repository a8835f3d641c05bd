/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_chrome.c - libFuzzer: Chrome's JSON, hpct-import --from chrome.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_chrome);
