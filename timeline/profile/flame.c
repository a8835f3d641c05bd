/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.c - see flame.h: merges the rows of a profile by function, orders callees by name, and draws.
 */
#include "timeline/profile/flame.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "store/base/escape.h"
#include "store/base/hash.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/report.h"

#define FLAME_LEVELS 400u  /* drawn: a recursion may have a million */
#define CHART_LEVELS 4000u /* of all lanes of a chart */

/* A function below one caller, before boxes are put in order. */
struct node {
	const char *name;
	uint64_t value;
	uint32_t parent, first_child, next; /* UINT32_MAX: none; children newest first */
};

struct merge {
	const struct profile *profile;
	size_t metric;
	bool is_bottom_up;
	struct key_ids keys;
	struct node *nodes;
	uint32_t *node_of; /* of each row: its own, or of a loop or line the one around it */
	uint32_t count;
};

struct node_key {
	uint64_t name;
	uint64_t parent;
};

static uint64_t value_of(const struct merge *merge, const struct profile_row *row)
{
	bool is_own = merge->is_bottom_up && row->parent != UINT32_MAX;
	const union profile_value *value = &(is_own ? row->exclusive : row->inclusive)[merge->metric];

	if (!merge->profile->metrics[merge->metric].is_real)
		return value->number;
	return value->real > 0 ? (uint64_t)(value->real + 0.5) : 0;
}

static bool has_box(const struct profile_row *row)
{
	return row->kind == PROFILE_ROOT || row->kind == PROFILE_FUNCTION || row->kind == PROFILE_INLINE ||
	       row->kind == PROFILE_INSTRUCTION;
}

static bool merge_row(struct merge *merge, uint32_t row_number)
{
	const struct profile_row *row = &merge->profile->rows[row_number];
	uint32_t above = row->parent == UINT32_MAX ? UINT32_MAX : merge->node_of[row->parent], number;
	struct node_key key = {store_hash64(row->name, row->name_bytes, 0), above};
	bool is_new;

	if (!has_box(row)) {
		merge->node_of[row_number] = above;
		return true;
	}
	number = key_ids_put(&merge->keys, &key, &is_new);
	if (number == KEY_IDS_NONE)
		return false;
	merge->node_of[row_number] = number;
	if (is_new) {
		merge->nodes[number] = (struct node){.name = row->name,
			.parent = above,
			.first_child = UINT32_MAX,
			.next = above == UINT32_MAX ? UINT32_MAX : merge->nodes[above].first_child};
		if (above != UINT32_MAX)
			merge->nodes[above].first_child = number;
		merge->count = number + 1;
	}
	merge->nodes[number].value += value_of(merge, row);
	return true;
}

/* ---- boxes in order ---- */

/* The last name first: what is pushed last is placed first. */
static int compare_names(const void *left, const void *right, void *nodes)
{
	const struct node *a = (const struct node *)nodes + *(const uint32_t *)left;
	const struct node *b = (const struct node *)nodes + *(const uint32_t *)right;
	int order = strcmp(b->name, a->name);

	return order ? order : (b > a) - (b < a);
}

struct placing {
	struct flame *flame;
	struct node *nodes;
	uint32_t *numbers; /* a stack: of each node under way its callees in order */
	uint32_t *boxes;   /* box of each node */
};

/* Callees of `number` onto the stack, the last one first. */
static size_t push_children(struct placing *placing, size_t at, uint32_t number)
{
	size_t first = at;

	for (uint32_t child = placing->nodes[number].first_child; child != UINT32_MAX;
		child = placing->nodes[child].next)
		if (placing->nodes[child].value)
			placing->numbers[at++] = child;
	qsort_r(placing->numbers + first, at - first, sizeof(*placing->numbers), compare_names,
		placing->nodes);
	return at;
}

static void put_box(struct placing *placing, uint32_t number)
{
	struct flame *flame = placing->flame;
	const struct node *node = &placing->nodes[number];
	struct flame_box *box = &flame->boxes[flame->count];
	struct flame_box *parent =
		node->parent == UINT32_MAX ? NULL : &flame->boxes[placing->boxes[node->parent]];

	*box = (struct flame_box){.name = node->name,
		.value = node->value,
		.self = node->value,
		.parent = parent ? (uint32_t)(parent - flame->boxes) : UINT32_MAX};
	if (parent) {
		box->begin = parent->begin + parent->value - parent->self;
		box->depth = parent->depth + 1;
		parent->self -= box->value < parent->self ? box->value : parent->self;
	}
	if (box->depth + 1 > flame->levels)
		flame->levels = box->depth + 1;
	placing->boxes[number] = flame->count++;
}

static void set_ends(struct flame *flame)
{
	for (uint32_t i = flame->count; i-- > 0;) {
		struct flame_box *box = &flame->boxes[i];

		if (!box->end)
			box->end = i + 1;
		if (box->parent != UINT32_MAX && flame->boxes[box->parent].end < box->end)
			flame->boxes[box->parent].end = box->end;
	}
}

static void place(struct placing *placing)
{
	size_t at = 0;

	placing->numbers[at++] = 0;
	while (at) {
		uint32_t number = placing->numbers[--at];

		put_box(placing, number);
		at = push_children(placing, at, number);
	}
	set_ends(placing->flame);
}

int flame_lay(struct flame *flame, const struct profile *profile, bool is_bottom_up, size_t metric,
	struct arena *arena, struct error *error)
{
	struct merge merge = {.profile = profile, .metric = metric, .is_bottom_up = is_bottom_up};
	struct placing placing = {.flame = flame};
	bool is_there;

	*flame = (struct flame){0};
	if (!profile->count || metric >= profile->metric_count)
		return 0;
	flame->metric = profile->metrics[metric].name;
	flame->unit = profile->metrics[metric].unit;
	key_ids_init(&merge.keys, sizeof(struct node_key));
	merge.nodes = calloc(profile->count, sizeof(*merge.nodes));
	merge.node_of = calloc(profile->count, sizeof(*merge.node_of));
	is_there = merge.nodes && merge.node_of;
	for (size_t i = 0; i < profile->count && is_there; i++)
		is_there = merge_row(&merge, (uint32_t)i);
	placing.nodes = merge.nodes;
	placing.numbers = calloc((size_t)merge.count + 1, sizeof(*placing.numbers));
	placing.boxes = calloc((size_t)merge.count + 1, sizeof(*placing.boxes));
	flame->boxes = arena_calloc(arena, (size_t)merge.count + 1, sizeof(*flame->boxes));
	is_there = is_there && placing.numbers && placing.boxes && flame->boxes;
	if (is_there) {
		place(&placing);
		flame->total = flame->boxes[0].value;
	}
	free(placing.numbers);
	free(placing.boxes);
	free(merge.nodes);
	free(merge.node_of);
	key_ids_fini(&merge.keys);
	return is_there ? 0 : error_memory(error);
}

/* ---- columns ---- */

static uint32_t column_of(uint64_t at, const struct flame_box *within, uint32_t columns)
{
	return within->value ? (uint32_t)((__uint128_t)at * columns / within->value) : 0;
}

size_t flame_row(const struct flame *flame, uint32_t within, uint32_t depth, uint32_t columns,
	struct flame_span *spans)
{
	const struct flame_box *whole = &flame->boxes[within];
	size_t count = 0;

	if (depth <= whole->depth) {
		uint32_t box = within;

		while (flame->boxes[box].depth > depth)
			box = flame->boxes[box].parent;
		spans[0] = (struct flame_span){box, 0, columns};
		return columns > 0;
	}
	for (uint32_t i = within + 1; i < whole->end;) {
		const struct flame_box *box = &flame->boxes[i];
		uint32_t first, last;

		if (box->depth < depth) {
			i++;
			continue;
		}
		first = column_of(box->begin - whole->begin, whole, columns);
		last = column_of(box->begin - whole->begin + box->value, whole, columns);
		if (last > first)
			spans[count++] = (struct flame_span){i, first, last};
		i = box->end;
	}
	return count;
}

/* ---- text ---- */

/* The first characters of a name, control bytes as '?'. */
static void put_name(char *line, const struct flame_span *span, const char *name)
{
	uint32_t room = span->last - span->first - 1;

	line[span->first] = '|';
	for (uint32_t i = 0; i < room && name[i]; i++)
		line[span->first + 1 + i] =
			(uint8_t)name[i] < 0x20 || (uint8_t)name[i] > 0x7e ? '?' : name[i];
}

void flame_print(const struct flame *flame, uint32_t columns, FILE *out)
{
	struct flame_span *spans = calloc((size_t)columns + 1, sizeof(*spans));
	char *line = malloc((size_t)columns + 2);

	for (uint32_t depth = 0; spans && line && depth < flame->levels; depth++) {
		size_t count = flame_row(flame, 0, depth, columns, spans);
		uint32_t end = 0;

		memset(line, ' ', (size_t)columns + 1);
		for (size_t i = 0; i < count; i++) {
			put_name(line, &spans[i], flame->boxes[spans[i].box].name);
			end = spans[i].last;
			line[end] = '|';
		}
		if (!count)
			break; /* all below is narrower than a column */
		if (depth == FLAME_LEVELS) {
			fprintf(out, "... %u more levels\n", flame->levels - depth);
			break;
		}
		fprintf(out, "%.*s\n", (int)(end + 1 > columns ? columns : end + 1), line);
	}
	free(line);
	free(spans);
}

/* ---- SVG ---- */

#define SVG_WIDTH 1200.0
#define SVG_ROW 18
#define SVG_TOP 44
#define SVG_LEAST 0.1 /* px; narrower boxes are left out */

static const char svg_script[] =
	"<script><![CDATA[\n"
	"{const own=document.currentScript.parentNode,all=[...own.querySelectorAll('g.f')],W=1200;\n"
	"function lay(x0,w){for(const g of all){const b=+g.dataset.b,v=+g.dataset.v;let "
	"x=(b-x0)*W/w,n=v*W/w;\n"
	"if(x<0){n+=x;x=0}n=Math.min(n,W-x);g.style.display=n>0.3?'':'none';\n"
	"const r=g.children[1],t=g.children[2];r.setAttribute('x',x);r.setAttribute('width',Math.max(n,0));\n"
	"t.setAttribute('x',x+3);const c=Math.floor((n-6)/7.4);t.textContent=c<3?'':g.dataset.n.length>c?\n"
	"g.dataset.n.slice(0,c-1)+'\\u2026':g.dataset.n}}\n"
	"for(const g of all)g.onclick=()=>lay(+g.dataset.b,+g.dataset.v);\n"
	"own.querySelector('.find').onclick=()=>{const q=prompt('function "
	"contains:');if(q===null)return;\n"
	"let s=0,e=-1,T=0;for(const g of all){const "
	"m=q&&g.dataset.n.includes(q);if(g.dataset.r){e=-1;T+=+g.dataset.v}"
	"g.children[1].style.stroke=m?'#d0d':'';\n"
	"g.children[1].style.strokeWidth=m?2:0;const "
	"b=+g.dataset.b;if(m&&b>=e){s+=+g.dataset.v;e=b+(+g.dataset.v)}}\n"
	"own.querySelector('.found').textContent=q?q+': '+(100*s/T).toFixed(1)+' "
	"%':''};\n"
	"lay(0,+all[0].dataset.v)}\n"
	"]]></script>\n";

/* A name comes from a traced program. */
static void put_xml(FILE *out, const char *text)
{
	struct store_bytes escaped = {0};

	escape_xml(&escaped, text, strlen(text));
	fwrite(escaped.data, 1, escaped.size, out);
	store_bytes_fini(&escaped);
}

/* One warm colour a name, the same in every picture. */
static unsigned colour_of(const char *name)
{
	uint64_t hash = store_hash64(name, strlen(name), 0);

	return (unsigned)(205 + hash % 50) << 16 | (unsigned)(80 + hash / 64 % 130) << 8 |
	       (unsigned)(hash / 16384 % 60);
}

static unsigned drawn_levels(const struct flame *flame)
{
	unsigned most = flame->is_chart ? CHART_LEVELS : FLAME_LEVELS;

	return flame->levels < most ? flame->levels : most;
}

static void put_title(const struct flame *flame, const struct flame_box *box, FILE *out)
{
	char human[REPORT_HUMAN_MAX];

	put_xml(out, box->name);
	if (flame->is_chart) {
		report_human_duration(human, box->value);
		fprintf(out, ": %s", human);
	} else {
		fprintf(out, ": %.2f %%, itself %.2f %%", 100.0 * (double)box->value / (double)flame->total,
			100.0 * (double)box->self / (double)flame->total);
	}
}

static void put_svg_box(const struct flame *flame, const struct flame_box *box, FILE *out)
{
	double scale = SVG_WIDTH / (double)flame->total, width = (double)box->value * scale;
	unsigned y = SVG_TOP + box->depth * SVG_ROW;

	if (width < SVG_LEAST || box->depth >= drawn_levels(flame))
		return;
	fprintf(out, "<g class=\"f\" %sdata-b=\"%llu\" data-v=\"%llu\" data-n=\"",
		box->parent == UINT32_MAX ? "data-r=\"1\" " : "", (unsigned long long)box->begin,
		(unsigned long long)box->value);
	put_xml(out, box->name);
	fputs("\"><title>", out);
	put_title(flame, box, out);
	fprintf(out,
		"</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>"
		"<text x=\"%.2f\" y=\"%u\">",
		(double)box->begin * scale, y, width, SVG_ROW - 1, colour_of(box->name),
		(double)box->begin * scale + 3, y + 13);
	if (width > 40) {
		char name[160];

		snprintf(name, sizeof(name), "%.*s", (int)((width - 6) / 7.4), box->name);
		put_xml(out, name);
	}
	fputs("</text></g>\n", out);
}

void flame_svg(const struct flame *flame, const char *title, FILE *out)
{
	unsigned height = SVG_TOP + (drawn_levels(flame) + 1) * SVG_ROW;

	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" ", out);
	if (flame->is_chart) /* as long as it is: a page scrolls */
		fprintf(out, "width=\"1200\" height=\"%u\" ", height);
	fprintf(out,
		"viewBox=\"0 0 1200 %u\" font-family=\"monospace\" "
		"font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"3\" y=\"16\" font-weight=\"bold\">",
		height);
	put_xml(out, title);
	if (flame->levels > drawn_levels(flame))
		fprintf(out, " (%u more levels)", flame->levels - drawn_levels(flame));
	fputs("</text>\n<text class=\"find\" x=\"3\" y=\"34\" style=\"cursor:pointer\" "
	      "fill=\"#06c\">find</text>"
	      "<text class=\"found\" x=\"60\" y=\"34\"></text>\n",
		out);
	for (uint32_t i = 0; i < flame->count; i++)
		put_svg_box(flame, &flame->boxes[i], out);
	if (flame->count)
		fputs(svg_script, out);
	fputs("</svg>\n", out);
}
