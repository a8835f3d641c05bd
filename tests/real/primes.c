// SPDX-License-Identifier: Apache-2.0
// Loops and a library's sort, for an emulator to translate.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int main(void)
{
	static char composite[16000001], text[200000][16];
	int count = 0;

	for (int i = 2; i <= 16000000; i++) {
		if (composite[i])
			continue;
		if (count < 200000)
			snprintf(text[count], sizeof(text[0]), "%x", i * 7919);
		count++;
		for (int k = 2 * i; k <= 16000000; k += i)
			composite[k] = 1;
	}
	qsort(text, 200000, sizeof(text[0]), compare);
	printf("%d %s\n", count, text[1000]);
	return 0;
}
