/* SPDX-License-Identifier: Apache-2.0 */
/* shown_name.c - see shown_name.h. */
#include "blame/advise/shown_name.h"

#include <string.h>

#include "store/base/escape.h"

void shown_name_put(FILE *out, const char *name)
{
	struct store_bytes text = {0};

	escape_field(&text, name, strlen(name));
	if (text.failed)
		fputs("?", out);
	else
		fwrite(text.data, 1, text.size, out);
	store_bytes_fini(&text);
}
