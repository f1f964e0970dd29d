#!/usr/bin/env python3
"""Reference values for ertslab_stats_SUITE, as Erlang terms on stdout.

    python3 reference.py > reference.terms

Needs NumPy and SciPy; without them the exit status is 3. Nothing here shares
a method with the Erlang code: p values of untied samples are SciPy's, those
of tied ones are counted over all 2^n signs, intervals are found by testing
between the Walsh averages or the slopes of pairs, and Holm's adjustment is the
closed test.
"""

import itertools
import sys
import warnings

try:
    import numpy as np
    from scipy import stats
except ImportError:
    sys.exit(3)

EXACT_MAX = 50
CONFIDENCES = [0.90, 0.95, 0.99]


# Samples

def uniform(seed, n):
    """n numbers in (0, 1), the same on every machine (Park and Miller)."""
    numbers = []
    for _ in range(n):
        seed = seed * 48271 % 2147483647
        numbers.append(seed / 2147483647)
    return numbers


def shifted(seed, n, shift):
    return [round(x - 0.5 + shift, 6) for x in uniform(seed, n)]


def times(seed, n, scale):
    return [round(scale * (1 + x * x / 10), 6) for x in uniform(seed, n)]


DEPRESSION_X = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
DEPRESSION_Y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]

SAMPLES = {
    'depression': [y - x for x, y in zip(DEPRESSION_X, DEPRESSION_Y)],
    'darwin': [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48],
    'six': shifted(6, 6, 0.6),
    'seven': shifted(7, 7, 0.1),
    'twelve': shifted(12, 12, 0.2),
    'twenty_five': shifted(25, 25, -0.15),
    'fifty': shifted(50, 50, 0.1),
    'fifty_one': shifted(51, 51, 0.1),
    'seventy': shifted(70, 70, -0.05),
}

TIED_SAMPLES = {
    'ties': [1, -1, 2, 2, -2, 3, 4, 4, 5, -5, 6],
    'ties_and_zeros': [0, 0, 3, 3, 3, -3, 1, -1, 2, 7, 0, 9],
    'all_tied': [2, 2, 2, 2, -2, 2, 2],
    'zeros': [0, 0, 0],
    'one': [-4],
    'tied_sixty': [(k * 37) % 23 - 8 for k in range(60)],
}

FAMILIES = [
    [0.01, 0.04, 0.03, 0.005],
    [0.01, 0.02, 0.03, 0.04, 0.05],
    [0.2, 0.01, 0.01, 0.9, 0.04, 0.6],
    [0.03],
    [0.5, 0.6, 0.7],
]


def line(seed, n, slope, noise):
    """Points whose x differ by unequal steps, in no order of theirs."""
    wobble = uniform(seed, 2 * n)
    points = [(round(10 * k + 5 * wobble[k], 6),
               round(slope * 10 * k + noise * (wobble[n + k] - 0.5), 6))
              for k in range(n)]
    return points[1::2] + points[0::2]


LINES = {
    'sen': list(zip([1, 2, 3, 4, 10, 12, 18], [9, 15, 19, 20, 45, 55, 78])),
    'cloud_seeding': list(zip([1, 2, 3, 4, 5], [1.26, 1.27, 1.12, 1.16, 1.03])),
    'four': line(4, 4, 1.0, 3.0),
    'ten': line(10, 10, 2672.0, 4000.0),
    'flat_twelve': line(12, 12, 0.0, 1.0),
    'thirty': line(30, 30, -0.5, 20.0),
    'fifty': line(50, 50, 3.0, 100.0),
    'fifty_one': line(51, 51, 3.0, 100.0),
    'eighty': line(80, 80, 0.1, 10.0),
}

GROUPS = [
    [shifted(3, 7, 0.0), shifted(4, 7, 0.3)],
    [shifted(5, 7, 0.0), shifted(6, 7, 0.0), shifted(8, 6, 0.4)],
    [shifted(9, 5, 0.1 * k) for k in range(4)],
    [shifted(10 + k, 4, 0.2 * k) for k in range(7)],
    [[1, 2, 2, 3], [2, 2, 4], [0, 5, 5, 5, 1]],
]


# The reference methods

def scipy_p(sample, exact, **options):
    mode = 'exact' if exact else 'approx'
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            test = stats.wilcoxon(sample, method=mode, **options)
        except TypeError:
            test = stats.wilcoxon(sample, mode=mode, **options)
    return float(test.pvalue)


def untied_p(sample):
    exact = len(sample) <= EXACT_MAX
    return scipy_p(sample, exact, correction=not exact)


def tied_p(sample):
    nonzero = np.array([x for x in sample if x != 0], dtype=float)
    if len(nonzero) > EXACT_MAX:
        return scipy_p(sample, False, correction=True, zero_method='wilcox')
    ranks = stats.rankdata(np.abs(nonzero))
    centre = ranks.sum() / 2
    distance = abs(ranks[nonzero > 0].sum() - centre)
    signs = itertools.product([0, 1], repeat=len(ranks))
    far = sum(abs(np.dot(s, ranks) - centre) >= distance for s in signs)
    return float(far / 2 ** len(ranks))


def walsh(sample):
    pairs = itertools.combinations_with_replacement(sample, 2)
    return sorted((x + y) / 2 for x, y in pairs)


def inverted(sample, confidences):
    """For each confidence the bounds of the shifts the test keeps: it changes
    its mind only at Walsh averages, so it is asked between each two, and once
    below all of them."""
    def p_at(shift):
        return untied_p([x - shift for x in sample])
    averages = walsh(sample)
    gaps = [(low, high, p_at((low + high) / 2))
            for low, high in zip(averages, averages[1:]) if low < high]
    outside = p_at(averages[0] - 1)

    def bounds(alpha):
        if outside > alpha:
            return 'too_few'
        kept = [(low, high) for low, high, p in gaps if p > alpha]
        return kept[0][0], kept[-1][1]
    return [bounds(1 - confidence) for confidence in confidences]


def kendall_p(xs, ys):
    """SciPy's p value of Kendall's tau; where the Erlang code is asymptotic,
    with the continuity correction, which SciPy does not know."""
    n = len(xs)
    if n <= EXACT_MAX:
        return float(stats.kendalltau(xs, ys, method='exact').pvalue)
    s = abs(stats.kendalltau(xs, ys).correlation) * n * (n - 1) / 2
    deviation = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
    return float(2 * stats.norm.sf(max(0.0, s - 1) / deviation))


def slope_interval(points, confidences):
    """The slopes that the test of no slope keeps, by testing between each two
    slopes of pairs, as `inverted' does it."""
    xs, ys = map(np.array, zip(*points))

    def p_at(slope):
        return kendall_p(xs, ys - slope * xs)
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0])
                    for a, b in itertools.combinations(points, 2))
    gaps = [(low, high, p_at((low + high) / 2))
            for low, high in zip(slopes, slopes[1:]) if high - low > 1e-9]
    outside = p_at(slopes[0] - 1)

    def bounds(alpha):
        if outside > alpha:
            return ('too_few', 'too_few')
        kept = [(low, high) for low, high, p in gaps if p > alpha]
        return float(kept[0][0]), float(kept[-1][1])
    return [bounds(1 - confidence) for confidence in confidences]


def closed_test(ps):
    """Holm's method is the closed test of Bonferroni's: the adjusted p value
    is the largest of all sets of hypotheses with this one."""
    def adjusted(i):
        rest = [k for k in range(len(ps)) if k != i]
        sets = (set(c) | {i} for size in range(len(ps))
                for c in itertools.combinations(rest, size))
        return max(min(1.0, len(s) * min(ps[k] for k in s)) for s in sets)
    return [adjusted(i) for i in range(len(ps))]


def analysed(baseline, variant):
    logs = list(np.log(np.array(variant) / np.array(baseline)))
    wide, narrow = inverted(logs, CONFIDENCES[1::-1])
    values = [np.median(walsh(logs)), *wide, *narrow]
    return [float(np.exp(v)) for v in values] \
        + [untied_p(logs), float(np.std(logs, ddof=1))]


# Output

def term(value):
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return '{' + ', '.join(map(term, value)) + '}'
    if isinstance(value, list):
        return '[' + ', '.join(map(term, value)) + ']'
    if isinstance(value, int):
        return str(value)
    return '%.16e' % value


def emit(*values):
    print(term(values) + '.')


def main():
    print('%% Written by reference.py.')
    for name, sample in SAMPLES.items():
        emit('signed_rank_p', name, sample, untied_p(sample))
        emit('hodges_lehmann', name, sample, float(np.median(walsh(sample))))
        for confidence, bounds in zip(CONFIDENCES,
                                      inverted(sample, CONFIDENCES)):
            emit('interval', name, sample, confidence, bounds)
        emit('mad', name, sample,
             float(stats.median_abs_deviation(sample)))
        for prob in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
            emit('quantile', name, sample, prob,
                 float(np.quantile(sample, prob)))
    for name, sample in TIED_SAMPLES.items():
        emit('signed_rank_p', name, sample, tied_p(sample))
    for ps in FAMILIES:
        emit('holm', ps, closed_test(ps))
    for groups in GROUPS:
        emit('kruskal', groups, float(stats.kruskal(*groups).pvalue))
    for prob in (1e-12, 0.001, 0.025, 0.2, 0.5, 0.8, 0.95, 0.975, 0.9999):
        emit('normal_quantile', prob, float(stats.norm.ppf(prob)))
    for n, scale in ((8, 1.05), (20, 1.02), (55, 0.99)):
        baseline, variant = times(n, n, 1000.0), times(n + 1, n, 1000 * scale)
        emit('ratio', baseline, variant, analysed(baseline, variant))
    for name, points in LINES.items():
        xs, ys = zip(*points)
        estimate = float(stats.theilslopes(ys, xs)[0])
        for confidence, bounds in zip(CONFIDENCES,
                                      slope_interval(points, CONFIDENCES)):
            emit('slope', name, points, confidence, estimate, bounds)


if __name__ == '__main__':
    main()
