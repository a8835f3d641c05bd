/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_profile.c - the program of S4 10.4.2 with its numbers, and on random runs a twin that knows no
 * trees: it looks at every sample and its whole path.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/profile/profile.h"

/* ---- asking ---- */

struct answer {
	struct select *select;
	struct profile profile;
	struct arena arena;
};

static void ask(struct answer *answer, struct run *run, enum profile_view view, const char *time,
	const char *streams, const char *context)
{
	struct error error = {0};

	*answer = (struct answer){0};
	assert_int_equal(select_new(&answer->select, &error), 0);
	if (time)
		assert_int_equal(select_option(answer->select, "time", time, &error), 0);
	if (streams)
		assert_int_equal(select_option(answer->select, "streams", streams, &error), 0);
	if (context)
		assert_int_equal(select_option(answer->select, "context", context, &error), 0);
	if (select_bind(answer->select, run, &error) ||
		profile_compute(&answer->profile, run, answer->select, view, &answer->arena, &error))
		fail_msg("%s", error.text);
}

static void answer_fini(struct answer *answer)
{
	select_free(answer->select);
	arena_fini(&answer->arena);
}

static uint64_t whole(const struct answer *answer)
{
	return answer->profile.count > 0 ? answer->profile.rows[0].inclusive[0].number : 0;
}

/* "depth kind name file:line inclusive exclusive" of each row, to compare a view as one text. */
static char *view_text(const struct profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_row *row = &profile->rows[i];

		fprintf(out, "%u %s %.*s %s:%u %" PRIu64 " %" PRIu64 "\n", row->depth,
			profile_kind_name(row->kind), (int)row->name_bytes, row->name, row->file, row->line,
			row->inclusive[0].number, row->exclusive[0].number);
	}
	fclose(out);
	return text;
}

static void assert_view(struct run *run, enum profile_view view, const char *want)
{
	struct answer answer;
	char *text;

	ask(&answer, run, view, NULL, NULL, NULL);
	text = view_text(&answer.profile);
	assert_string_equal(text, want);
	free(text);
	answer_fini(&answer);
}

/* ---- programs with names and lines ---- */

struct program {
	struct small_run small;
	uint32_t module, stream, metric;
	uint64_t time_ns;
};

static void program_begin(struct program *program)
{
	struct store_module module = {.kind = STORE_MODULE_ELF};

	small_begin(&program->small);
	module.path = small_text(program->small.writer, "/bin/program");
	program->module = store_writer_module(program->small.writer, &module);
	program->metric = store_writer_metric(program->small.writer, "CPUTIME", "ns", false);
	program->stream = small_cpu(program->small.writer, 0, 0, 1000);
	program->time_ns = 0;
	small_span(program->small.writer, program->stream, 0, 1000, STORE_OP_MONITORED, 0, "metric=CPUTIME");
}

/* What stands at an offset: scopes as "function file declared line", outermost first. */
static void program_place(struct program *program, uint64_t offset, size_t count, const char *const names[],
	const char *file, const uint32_t declared[], const uint32_t lines[])
{
	struct store_scope scopes[4] = {{0}};

	for (size_t i = 0; i < count; i++)
		scopes[i] = (struct store_scope){.kind = i > 0 ? STORE_SCOPE_INLINE : STORE_SCOPE_FUNCTION,
			.name = small_text(program->small.writer, names[i]),
			.file = small_text(program->small.writer, file),
			.decl_file = small_text(program->small.writer, file),
			.line = lines[i],
			.decl_line = declared[i]};
	store_writer_symbol(program->small.writer, program->module, offset, scopes, count);
}

static void program_line(struct program *program, uint64_t offset, const char *name, const char *file,
	uint32_t declared, uint32_t line)
{
	program_place(program, offset, 1, &name, file, &declared, &line);
}

/* A sample whose frames are these offsets, from main on. */
static void program_sample(struct program *program, uint64_t weight, size_t count, const uint64_t offsets[])
{
	uint32_t context = STORE_CONTEXT_PROGRAM_ROOT;

	for (size_t i = 0; i < count; i++)
		context = store_writer_context(program->small.writer, context, program->module, offsets[i]);
	program->time_ns += 10;
	small_sample(
		program->small.writer, program->stream, program->time_ns, context, program->metric, weight);
}

/* S4 10.4.2, Figures 10.2 to 10.5. */
static void test_recursion(void **state)
{
	enum { M_CALLS_F = 1, M_CALLS_G, F, F_CALLS_G, G, G_CALLS_G, G_CALLS_H, H };
	struct program program;

	(void)state;
	program_begin(&program);
	program_line(&program, M_CALLS_F, "m", "file1.c", 5, 6);
	program_line(&program, M_CALLS_G, "m", "file1.c", 5, 7);
	program_line(&program, F, "f", "file1.c", 1, 2);
	program_line(&program, F_CALLS_G, "f", "file1.c", 1, 3);
	program_line(&program, G, "g", "file2.c", 2, 2);
	program_line(&program, G_CALLS_G, "g", "file2.c", 2, 3);
	program_line(&program, G_CALLS_H, "g", "file2.c", 2, 4);
	program_line(&program, H, "h", "file2.c", 6, 7);
	program_sample(&program, 1, 2, (uint64_t[]){M_CALLS_F, F});
	program_sample(&program, 1, 3, (uint64_t[]){M_CALLS_F, F_CALLS_G, G});
	program_sample(&program, 1, 4, (uint64_t[]){M_CALLS_F, F_CALLS_G, G_CALLS_G, G});
	program_sample(&program, 4, 5, (uint64_t[]){M_CALLS_F, F_CALLS_G, G_CALLS_G, G_CALLS_H, H});
	program_sample(&program, 3, 2, (uint64_t[]){M_CALLS_G, G});
	small_ready(&program.small);
	assert_view(program.small.run, PROFILE_TOP_DOWN,
		"0 root <program root> :0 10 0\n"
		"1 function m file1.c:5 10 0\n"
		"2 function f file1.c:6 7 1\n"
		"3 function g file1.c:3 6 1\n"
		"4 function g file2.c:3 5 1\n"
		"5 function h file2.c:4 4 4\n"
		"6 line file2.c:7 file2.c:7 4 4\n"
		"5 line file2.c:2 file2.c:2 1 1\n"
		"4 line file2.c:2 file2.c:2 1 1\n"
		"3 line file1.c:2 file1.c:2 1 1\n"
		"2 function g file1.c:7 3 3\n"
		"3 line file2.c:2 file2.c:2 3 3\n");
	assert_view(program.small.run, PROFILE_BOTTOM_UP,
		"0 root <program root> :0 10 0\n"
		"1 function m file1.c:5 10 0\n"
		"1 function g file2.c:2 9 5\n" /* g_a: g_1 and g_3, g_2 being inside g_1 */
		"2 function f file1.c:3 6 1\n"
		"3 function m file1.c:6 6 1\n"
		"2 function g file2.c:3 5 1\n"
		"3 function f file1.c:3 5 1\n"
		"4 function m file1.c:6 5 1\n"
		"2 function m file1.c:7 3 3\n"
		"1 function f file1.c:1 7 1\n"
		"2 function m file1.c:6 7 1\n"
		"1 function h file2.c:6 4 4\n"
		"2 function g file2.c:4 4 4\n"
		"3 function g file2.c:3 4 4\n"
		"4 function f file1.c:3 4 4\n"
		"5 function m file1.c:6 4 4\n");
	assert_view(program.small.run, PROFILE_FLAT,
		"0 root <program root> :0 10 0\n"
		"1 module program :0 10 10\n"
		"2 file file1.c file1.c:0 10 1\n"
		"3 function m file1.c:5 10 0\n"
		"3 function f file1.c:1 7 1\n"
		"4 line file1.c:2 file1.c:2 1 1\n"
		"2 file file2.c file2.c:0 9 9\n"
		"3 function g file2.c:2 9 5\n" /* g_x */
		"4 line file2.c:2 file2.c:2 5 5\n"
		"3 function h file2.c:6 4 4\n"
		"4 line file2.c:7 file2.c:7 4 4\n");
	small_end(&program.small);
}

/* Two calls of one function are two rows; an inlined function is a scope of its own, also in the flat view.
 */
static void test_call_sites_and_inlines(void **state)
{
	enum { FIRST = 1, SECOND, PLAIN, INLINED };
	struct program program;

	(void)state;
	program_begin(&program);
	program_line(&program, FIRST, "main", "a.c", 1, 10);
	program_line(&program, SECOND, "main", "a.c", 1, 11);
	program_line(&program, PLAIN, "work", "b.c", 20, 21);
	program_place(&program, INLINED, 2, (const char *[]){"work", "tiny"}, "b.c", (uint32_t[]){20, 30},
		(uint32_t[]){22, 31});
	program_sample(&program, 5, 2, (uint64_t[]){FIRST, PLAIN});
	program_sample(&program, 7, 2, (uint64_t[]){SECOND, INLINED});
	program_sample(&program, 2, 2, (uint64_t[]){FIRST, INLINED});
	small_ready(&program.small);
	assert_view(program.small.run, PROFILE_TOP_DOWN,
		"0 root <program root> :0 14 0\n"
		"1 function main a.c:1 14 0\n"
		"2 function work a.c:10 7 5\n"
		"3 line b.c:21 b.c:21 5 5\n"
		"3 inline tiny b.c:22 2 2\n"
		"4 line b.c:31 b.c:31 2 2\n"
		"2 function work a.c:11 7 0\n"
		"3 inline tiny b.c:22 7 7\n"
		"4 line b.c:31 b.c:31 7 7\n");
	assert_view(program.small.run, PROFILE_FLAT,
		"0 root <program root> :0 14 0\n"
		"1 module program :0 14 14\n"
		"2 file a.c a.c:0 14 0\n"
		"3 function main a.c:1 14 0\n"
		"2 file b.c b.c:0 14 14\n"
		"3 function work b.c:20 14 5\n"
		"4 inline tiny b.c:22 9 9\n"
		"5 line b.c:31 b.c:31 9 9\n"
		"4 line b.c:21 b.c:21 5 5\n");
	small_end(&program.small);
}

/* ---- random runs and their twin ---- */

#define STREAMS 3
#define SAMPLES 400
#define DEPTH_MAX 9
#define NAMES 5

struct sample {
	uint32_t stream, depth;
	uint64_t time_ns, weight;
	uint8_t path[DEPTH_MAX]; /* functions, from the root */
};

struct world {
	struct small_run small;
	struct sample samples[SAMPLES];
};

static void world_begin(struct world *world)
{
	uint32_t metric, streams[STREAMS];

	small_begin(&world->small);
	metric = store_writer_metric(world->small.writer, "CPUTIME", "ns", false);
	for (uint32_t s = 0; s < STREAMS; s++) {
		streams[s] = small_cpu(world->small.writer, s, 0, 10000);
		small_span(
			world->small.writer, streams[s], 0, 10000, STORE_OP_MONITORED, 0, "metric=CPUTIME");
	}
	for (int i = 0; i < SAMPLES; i++) {
		struct sample *sample = &world->samples[i];
		char path[3 * DEPTH_MAX] = "";

		*sample = (struct sample){.stream = (uint32_t)small_below(STREAMS),
			.depth = 1 + (uint32_t)small_below(DEPTH_MAX),
			.time_ns = small_below(10000),
			.weight = small_below(100)};
		for (uint32_t d = 0; d < sample->depth; d++) {
			sample->path[d] = d == 0 ? 0 : (uint8_t)small_below(NAMES);
			sprintf(path + strlen(path), "%s%c", d > 0 ? ";" : "", 'a' + sample->path[d]);
		}
		small_sample(world->small.writer, streams[sample->stream], sample->time_ns,
			small_path(world->small.writer, path), metric, sample->weight);
	}
	small_ready(&world->small);
}

/* Names from the root to the row, as indices; false for a row that is no function. */
static uint32_t row_path(const struct profile *profile, const struct profile_row *row, uint8_t path[])
{
	uint32_t depth = 0;

	for (; row->parent != UINT32_MAX; row = &profile->rows[row->parent])
		path[depth++] = (uint8_t)(row->name[0] - 'a');
	return depth;
}

/* Sums over samples that one row stands for: `is_in`, and `is_leaf` for those that are exclusive. */
struct twin {
	uint64_t inclusive, exclusive;
};

static struct twin top_down_twin(const struct world *world, const uint8_t reversed[], uint32_t depth)
{
	struct twin twin = {0};

	for (int i = 0; i < SAMPLES; i++) {
		const struct sample *sample = &world->samples[i];
		bool is_in = sample->depth >= depth;

		for (uint32_t d = 0; is_in && d < depth; d++)
			is_in = sample->path[d] == reversed[depth - 1 - d];
		twin.inclusive += is_in ? sample->weight : 0;
		twin.exclusive += is_in && sample->depth == depth ? sample->weight : 0;
	}
	return twin;
}

/* callers[0] is the function, callers[1] its caller, ... : a sample counts once if that chain is anywhere in
 * its path, and is exclusive if it ends there. */
static struct twin bottom_up_twin(const struct world *world, const uint8_t callers[], uint32_t depth)
{
	struct twin twin = {0};

	for (int i = 0; i < SAMPLES; i++) {
		const struct sample *sample = &world->samples[i];
		bool is_anywhere = false, is_leaf = false;

		for (uint32_t end = depth; end <= sample->depth; end++) {
			bool is_here = true;

			for (uint32_t d = 0; d < depth; d++)
				is_here &= sample->path[end - 1 - d] == callers[d];
			is_anywhere |= is_here;
			is_leaf |= is_here && end == sample->depth;
		}
		twin.inclusive += is_anywhere ? sample->weight : 0;
		twin.exclusive += is_leaf ? sample->weight : 0;
	}
	return twin;
}

static void test_top_down_twin(void **state)
{
	struct world world;
	struct answer answer;
	uint64_t exclusive = 0;

	(void)state;
	small_seed("top_down_twin");
	world_begin(&world);
	ask(&answer, world.small.run, PROFILE_TOP_DOWN, NULL, NULL, NULL);
	for (size_t i = 0; i < answer.profile.count; i++) {
		const struct profile_row *row = &answer.profile.rows[i];
		uint8_t path[DEPTH_MAX + 1];
		uint32_t depth = row_path(&answer.profile, row, path);
		struct twin twin = top_down_twin(&world, path, depth);

		assert_int_equal(row->depth, depth);
		assert_int_equal(row->inclusive[0].number, twin.inclusive);
		assert_int_equal(row->exclusive[0].number, twin.exclusive);
		exclusive += row->exclusive[0].number;
	}
	assert_int_equal(exclusive, whole(&answer));
	assert_true(answer.profile.count > 100);
	answer_fini(&answer);
	small_end(&world.small);
}

static void test_bottom_up_twin(void **state)
{
	struct world world;
	struct answer answer;
	uint64_t exclusive = 0;

	(void)state;
	small_seed("bottom_up_twin");
	world_begin(&world);
	ask(&answer, world.small.run, PROFILE_BOTTOM_UP, NULL, NULL, NULL);
	for (size_t i = 1; i < answer.profile.count; i++) {
		const struct profile_row *row = &answer.profile.rows[i];
		uint8_t path[DEPTH_MAX + 1], callers[DEPTH_MAX + 1];
		uint32_t depth = row_path(&answer.profile, row, path);
		struct twin twin;

		for (uint32_t d = 0; d < depth; d++)
			callers[d] = path[depth - 1 - d];
		twin = bottom_up_twin(&world, callers, depth);
		assert_int_equal(row->inclusive[0].number, twin.inclusive);
		assert_int_equal(row->exclusive[0].number, twin.exclusive);
		exclusive += depth == 1 ? row->exclusive[0].number : 0;
	}
	assert_int_equal(exclusive, whole(&answer));
	assert_true(answer.profile.count > 100);
	answer_fini(&answer);
	small_end(&world.small);
}

static void test_flat_twin(void **state)
{
	struct world world;
	struct answer answer;
	uint64_t exclusive = 0;

	(void)state;
	small_seed("flat_twin");
	world_begin(&world);
	ask(&answer, world.small.run, PROFILE_FLAT, NULL, NULL, NULL);
	for (size_t i = 0; i < answer.profile.count; i++) {
		const struct profile_row *row = &answer.profile.rows[i];
		struct twin twin;

		if (row->kind != PROFILE_FUNCTION) {
			assert_int_equal(row->inclusive[0].number, whole(&answer));
			continue;
		}
		twin = bottom_up_twin(&world, (uint8_t[]){(uint8_t)(row->name[0] - 'a')}, 1);
		assert_int_equal(row->inclusive[0].number, twin.inclusive);
		assert_int_equal(row->exclusive[0].number, twin.exclusive);
		exclusive += row->exclusive[0].number;
	}
	assert_int_equal(exclusive, whole(&answer));
	answer_fini(&answer);
	small_end(&world.small);
}

/* Law 4: time x streams x contexts, cut anywhere, sums to the whole. */
static void test_parts_sum_to_the_whole(void **state)
{
	static const char *const streams[] = {"thread=0", "thread=1", "thread=2"};
	static const char *const contexts[] = {"a", "a;a*", "a;b*", "a;c*", "a;d*", "a;e*"};
	struct world world;
	struct answer answer;
	uint64_t cut, all = 0, parts = 0;

	(void)state;
	small_seed("parts_sum_to_the_whole");
	cut = 1 + small_below(9998);
	world_begin(&world);
	for (int i = 0; i < SAMPLES; i++)
		all += world.samples[i].weight;
	for (int half = 0; half < 2; half++)
		for (size_t s = 0; s < 3; s++)
			for (size_t c = 0; c < 6; c++) {
				char window[64];

				if (half)
					sprintf(window, "%" PRIu64 "ns..", cut);
				else
					sprintf(window, "..%" PRIu64 "ns", cut);
				ask(&answer, world.small.run, (enum profile_view)small_below(3), window,
					streams[s], contexts[c]);
				parts += whole(&answer);
				answer_fini(&answer);
			}
	assert_int_equal(parts, all);
	ask(&answer, world.small.run, PROFILE_TOP_DOWN, NULL, NULL, NULL);
	assert_int_equal(whole(&answer), all);
	answer_fini(&answer);
	small_end(&world.small);
}

static void two_calls(struct program *program, uint32_t metric, uint64_t weight_a, uint64_t weight_b)
{
	enum { MAIN_A = 1, MAIN_B, A, B };

	program->metric = metric;
	program_line(program, MAIN_A, "main", "f.c", 1, 2);
	program_line(program, MAIN_B, "main", "f.c", 1, 3);
	program_line(program, A, "a", "f.c", 5, 6);
	program_line(program, B, "b", "f.c", 8, 9);
	program_sample(program, weight_a, 2, (uint64_t[]){MAIN_A, A});
	program_sample(program, weight_b, 2, (uint64_t[]){MAIN_B, B});
	small_ready(&program->small);
}

/* What comes out as nothing is still there, with what it calls: 1.5 and -1.5, here by their bits. */
static void test_sums_of_nothing(void **state)
{
	struct program program;

	(void)state;
	program_begin(&program);
	two_calls(&program, store_writer_metric(program.small.writer, "CPUTIME", "", true),
		UINT64_C(4609434218613702656), UINT64_C(13832806255468478464));
	assert_view(program.small.run, PROFILE_TOP_DOWN,
		"0 root <program root> :0 0 0\n"
		"1 function main f.c:1 0 0\n"
		"2 function a f.c:2 4609434218613702656 4609434218613702656\n"
		"3 line f.c:6 f.c:6 4609434218613702656 4609434218613702656\n"
		"2 function b f.c:3 13832806255468478464 13832806255468478464\n"
		"3 line f.c:9 f.c:9 13832806255468478464 13832806255468478464\n");
	assert_view(program.small.run, PROFILE_BOTTOM_UP,
		"0 root <program root> :0 0 0\n"
		"1 function a f.c:5 4609434218613702656 4609434218613702656\n"
		"2 function main f.c:2 4609434218613702656 4609434218613702656\n"
		"1 function main f.c:1 0 0\n"
		"1 function b f.c:8 13832806255468478464 13832806255468478464\n"
		"2 function main f.c:3 13832806255468478464 13832806255468478464\n");
	small_end(&program.small);
}

/* Whole numbers that 64 bits do not hold together are no answer, though each of them is. */
static void test_sums_too_wide(void **state)
{
	struct program program;
	struct profile profile;
	struct arena arena = {0};
	struct select *select;
	struct error error = {0};

	(void)state;
	program_begin(&program);
	two_calls(&program, program.metric, (uint64_t)1 << 63, (uint64_t)1 << 63);
	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_bind(select, program.small.run, &error), 0);
	assert_int_equal(
		profile_compute(&profile, program.small.run, select, PROFILE_TOP_DOWN, &arena, &error),
		-ERROR_USAGE);
	assert_non_null(strstr(error.text, "--streams"));
	select_free(select);
	arena_fini(&arena);
	small_end(&program.small);
}

/* Very deep recursion: no stack of ours grows with it, and the bottom-up view stays of bounded size. */
static void test_deep_recursion(void **state)
{
	struct small_run small;
	struct answer answer;
	uint32_t module, metric, stream, context = STORE_CONTEXT_PROGRAM_ROOT;

	(void)state;
	small_begin(&small);
	module = store_writer_text_module(small.writer);
	metric = store_writer_metric(small.writer, "CPUTIME", "ns", false);
	stream = small_cpu(small.writer, 0, 0, 1000);
	small_span(small.writer, stream, 0, 1000, STORE_OP_MONITORED, 0, "metric=CPUTIME");
	for (int i = 0; i < 20000; i++)
		context = store_writer_context(small.writer, context, module, small_text(small.writer, "f"));
	small_sample(small.writer, stream, 10, context, metric, 3);
	small_ready(&small);
	for (int view = 0; view < PROFILE_VIEW_COUNT; view++) {
		ask(&answer, small.run, (enum profile_view)view, NULL, NULL, NULL);
		assert_int_equal(whole(&answer), 3);
		assert_int_equal(answer.profile.count, view == PROFILE_TOP_DOWN ? 20001
						       : view == PROFILE_FLAT	? 4
										: 1 + PROFILE_CALLERS_MAX);
		for (size_t i = 0; i < answer.profile.count; i++)
			assert_int_equal(answer.profile.rows[i].inclusive[0].number, 3);
		answer_fini(&answer);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_call_sites_and_inlines),
		cmocka_unit_test(test_top_down_twin),
		cmocka_unit_test(test_bottom_up_twin),
		cmocka_unit_test(test_flat_twin),
		cmocka_unit_test(test_parts_sum_to_the_whole),
		cmocka_unit_test(test_sums_of_nothing),
		cmocka_unit_test(test_sums_too_wide),
		cmocka_unit_test(test_deep_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
