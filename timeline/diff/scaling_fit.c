/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_fit.c - see scaling_fit.h: a line through the points of each model, weighted; leave one out. */
#include "timeline/diff/scaling_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define LEAST_COST 1e-3	    /* of the largest cost: smaller ones weigh no more than this */
#define PLAIN_ERROR 0.2	    /* noise is less than this: where a constant is off by more it is none, ... */
#define PLAIN_GAIN 3	    /* ... if another model is off by a third of that */
#define LEAST_CONSTANT 0.05 /* of the largest cost: a model may begin so far below zero */

struct hypothesis {
	enum scaling_model model;
	double exponent;
};

static const struct hypothesis hypotheses[] = {{SCALING_CONSTANT, 0}, {SCALING_LOG, 0}, {SCALING_LINEAR, 1},
	{SCALING_POWER, 0.5}, {SCALING_POWER, 1.5}, {SCALING_POWER, 2}, {SCALING_POWER, 3},
	{SCALING_POWER, -0.5}, {SCALING_POWER, -1}};
#define HYPOTHESES (sizeof hypotheses / sizeof *hypotheses)

/* Student's 99.75 % quantiles of 1.. degrees of freedom: one in 200 constants alone is taken for another. */
static const double students[] = {
	127.32, 14.089, 7.4533, 5.5976, 4.7733, 4.3168, 4.0293, 3.8325, 3.6897, 3.5814};
#define STUDENTS (sizeof students / sizeof *students)

const char *scaling_model_name(enum scaling_model model)
{
	static const char *const names[SCALING_MODEL_COUNT] = {"constant", "log", "linear", "power"};

	return names[model];
}

/* ---- one model ---- */

struct points {
	const double *parts, *costs;
	size_t count, left_out; /* left_out: a point that does not count; `count`: none */
	double most;
};

static double basis(const struct hypothesis *of, double parts)
{
	if (of->model == SCALING_CONSTANT)
		return 0;
	return of->model == SCALING_LOG ? log2(parts) : pow(parts, of->exponent);
}

/* A point's weight: the square of its relative precision. */
static double weight(const struct points *points, size_t i)
{
	double cost = fmax(points->costs[i], points->most * LEAST_COST);

	return i == points->left_out ? 0 : 1 / (cost * cost);
}

/* The line y = constant + coefficient x of least weighted squares. */
static struct scaling_fit fit_line(const struct points *points, const struct hypothesis *of)
{
	struct scaling_fit fit = {.model = of->model, .exponent = of->exponent};
	double all = 0, mean_x = 0, mean_y = 0, squares = 0, products = 0;

	for (size_t i = 0; i < points->count; i++) {
		all += weight(points, i);
		mean_x += weight(points, i) * basis(of, points->parts[i]);
		mean_y += weight(points, i) * points->costs[i];
	}
	mean_x /= all;
	mean_y /= all;
	for (size_t i = 0; i < points->count; i++) {
		double off = basis(of, points->parts[i]) - mean_x;

		squares += weight(points, i) * off * off;
		products += weight(points, i) * off * (points->costs[i] - mean_y);
	}
	fit.coefficient = squares > 0 ? products / squares : 0;
	fit.constant = mean_y - fit.coefficient * mean_x;
	return fit;
}

double scaling_fit_value(const struct scaling_fit *fit, double parts)
{
	struct hypothesis of = {fit->model, fit->exponent};

	return fit->constant + fit->coefficient * basis(&of, parts);
}

static double squares_of(const struct points *points, const struct scaling_fit *fit)
{
	double sum = 0;

	for (size_t i = 0; i < points->count; i++) {
		double off = points->costs[i] - scaling_fit_value(fit, points->parts[i]);

		sum += weight(points, i) * off * off;
	}
	return sum;
}

/* ---- the choice ---- */

/* How badly each point is foretold by the others. */
static double foretold(struct points points, const struct hypothesis *of)
{
	double sum = 0;

	for (size_t i = 0; i < points.count; i++) {
		struct scaling_fit fit;
		double off, of_point;

		points.left_out = points.count;
		of_point = weight(&points, i);
		points.left_out = i;
		fit = fit_line(&points, of);
		off = points.costs[i] - scaling_fit_value(&fit, points.parts[i]);
		sum += of_point * off * off;
	}
	return sum;
}

static double error_of(const struct points *points, const struct scaling_fit *fit)
{
	double sum = 0;

	for (size_t i = 0; i < points->count; i++) {
		double value = scaling_fit_value(fit, points->parts[i]);
		double scale = (fabs(points->costs[i]) + fabs(value)) / 2;

		sum += scale > 0 ? fabs(points->costs[i] - value) / scale : 0;
	}
	return sum / (double)points->count;
}

/* What the model explains beyond a constant is more than chance would (F test of one more number), or the
 * constant is none that anyone would see. */
static bool is_certain(
	const struct points *points, const struct scaling_fit *constant, const struct scaling_fit *fit)
{
	double without = squares_of(points, constant), with = squares_of(points, fit);
	size_t freedom = points->count - 2;
	double quantile = students[(freedom < STUDENTS ? freedom : STUDENTS) - 1];
	double off = error_of(points, constant);

	if (off > PLAIN_ERROR && off > PLAIN_GAIN * error_of(points, fit))
		return true;
	return without - with > quantile * quantile * with / (double)freedom;
}

struct scaling_fit scaling_fit_make(const double *parts, const double *costs, size_t count)
{
	struct points points = {.parts = parts, .costs = costs, .count = count, .left_out = count};
	struct scaling_fit constant, best;
	double least;

	for (size_t i = 0; i < count; i++)
		points.most = fmax(points.most, costs[i]);
	if (points.most <= 0)
		return (struct scaling_fit){.model = SCALING_CONSTANT};
	constant = best = fit_line(&points, &hypotheses[0]);
	least = foretold(points, &hypotheses[0]);
	for (size_t i = 1; i < HYPOTHESES && count >= SCALING_POINTS_LEAST; i++) {
		struct scaling_fit fit = fit_line(&points, &hypotheses[i]);
		double off = foretold(points, &hypotheses[i]);

		if (off < least && fit.constant >= -LEAST_CONSTANT * points.most) {
			least = off;
			best = fit;
		}
	}
	if (best.model != SCALING_CONSTANT && !is_certain(&points, &constant, &best))
		best = constant;
	best.error = error_of(&points, &best);
	return best;
}

void scaling_fit_text(char text[SCALING_TEXT], const struct scaling_fit *fit,
	void (*human)(char *text, size_t size, double amount, const char *unit), const char *unit)
{
	char constant[40], coefficient[40], power[24];

	human(constant, sizeof constant, fit->constant, unit);
	human(coefficient, sizeof coefficient, fabs(fit->coefficient), unit);
	snprintf(power, sizeof power, "p^%g", fit->exponent);
	if (fit->model == SCALING_CONSTANT)
		snprintf(text, SCALING_TEXT, "%s", constant);
	else
		snprintf(text, SCALING_TEXT, "%s %c %s %s", constant, fit->coefficient < 0 ? '-' : '+',
			coefficient,
			fit->model == SCALING_LOG      ? "log2(p)"
			: fit->model == SCALING_LINEAR ? "p"
						       : power);
}
