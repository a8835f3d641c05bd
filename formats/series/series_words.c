/* SPDX-License-Identifier: Apache-2.0 */
/* series_words.c - numbers, units and moments as monitoring tools write them; see series_import.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "formats/series/series_import.h"

#define WORD_BYTES 64u

struct text_part series_trim(struct text_part text)
{
	while (text.size && isspace((unsigned char)*text.bytes)) {
		text.bytes++;
		text.size--;
	}
	while (text.size && isspace((unsigned char)text.bytes[text.size - 1]))
		text.size--;
	return text;
}

bool series_text_is(struct text_part text, const char *word)
{
	return strlen(word) == text.size && strncasecmp(text.bytes, word, text.size) == 0;
}

/* As a string, for the C library; false: too long. */
static bool word_copy(char word[WORD_BYTES], struct text_part text)
{
	if (text.size >= WORD_BYTES || memchr(text.bytes, '\0', text.size))
		return false;
	memcpy(word, text.bytes, text.size);
	word[text.size] = '\0';
	return true;
}

bool series_number(struct text_part text, double *number, struct text_part *unit)
{
	char word[WORD_BYTES], *end;

	text = series_trim(text);
	if (!text.size || !word_copy(word, text))
		return false;
	*number = strtod(word, &end);
	*unit = series_trim((struct text_part){text.bytes + (end - word), (size_t)(word + text.size - end)});
	return end != word && isfinite(*number);
}

/* ---- moments ---- */

/* "+01:00", "-0530", "Z", "UTC"; false: something else. */
static bool zone_read(const char *text, bool *has_zone, long *seconds)
{
	int hours = 0, minutes = 0, used = 0;
	char sign;

	while (*text == ' ')
		text++;
	*has_zone = *text != '\0';
	*seconds = 0;
	if (!*text || !strcasecmp(text, "Z") || !strcasecmp(text, "UTC") || !strcasecmp(text, "GMT"))
		return true;
	if (sscanf(text, "%c%2d:%2d%n", &sign, &hours, &minutes, &used) < 3 || text[used])
		if (sscanf(text, "%c%2d%2d%n", &sign, &hours, &minutes, &used) < 3 || text[used])
			return false;
	*seconds = (sign == '-' ? -1 : 1) * (hours * 3600L + minutes * 60L);
	return sign == '+' || sign == '-';
}

/* ".836" or ",836": up to nine digits count. */
static const char *fraction_read(const char *at, uint64_t *ns)
{
	uint64_t unit = 100000000;

	*ns = 0;
	if (*at != '.' && *at != ',')
		return at;
	for (at++; *at >= '0' && *at <= '9'; at++, unit /= 10)
		*ns += (uint64_t)(*at - '0') * unit;
	return at;
}

static bool date_read(const char *word, uint64_t *time_ns)
{
	struct tm tm = {.tm_isdst = -1};
	const char *at = strptime(word, strchr(word, '/') ? "%Y/%m/%d" : "%Y-%m-%d", &tm);
	bool has_zone;
	uint64_t ns;
	long zone_s;
	time_t seconds;

	if (!at || (*at != 'T' && *at != ' ' && *at != 't'))
		return false;
	at = strptime(at + 1, "%H:%M:%S", &tm);
	if (!at)
		return false;
	at = fraction_read(at, &ns);
	if (!zone_read(at, &has_zone, &zone_s))
		return false;
	seconds = has_zone ? timegm(&tm) - zone_s : mktime(&tm);
	if (seconds < 0 || seconds > 9000000000)
		return false;
	*time_ns = (uint64_t)seconds * 1000000000u + ns;
	return true;
}

/* Seconds of this century have 10 digits, ms 13, us 16, ns 19. */
static double size_of(double number)
{
	return number >= 1e17 ? 1 : number >= 1e14 ? 1e3 : number >= 1e11 ? 1e6 : 1e9;
}

bool series_time(struct text_part text, struct text_part unit, uint64_t *time_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"sec", 1e9}, {"seconds", 1e9}};
	char word[WORD_BYTES], *end;
	uint64_t whole, fraction;
	double number, factor;

	text = series_trim(text);
	if (!word_copy(word, text) || !isdigit((unsigned char)word[0]))
		return false;
	if (date_read(word, time_ns))
		return true;
	number = strtod(word, &end);
	factor = size_of(number);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (series_text_is(unit, units[i].name))
			factor = units[i].ns;
	if (*end || !(number * factor < 9e18))
		return false;
	/* Digits count, as a double has not enough of them; an exponent ("1.76e9") has them move. */
	whole = strtoull(word, &end, 10);
	if (*fraction_read(end, &fraction)) {
		*time_ns = (uint64_t)(number * factor);
		return true;
	}
	*time_ns = whole * (uint64_t)factor + (uint64_t)((double)fraction * factor / 1e9);
	return true;
}
