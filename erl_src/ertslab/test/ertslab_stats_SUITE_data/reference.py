#!/usr/bin/env python3
"""Reference values for ertslab_stats_SUITE, as Erlang terms on stdout.

    python3 reference.py > reference.terms

Needs NumPy and SciPy; without them the exit status is 3. Nothing here shares
a method with the Erlang code: p values of untied samples are SciPy's, those
of tied ones are counted over all 2^n signs, intervals are found by testing
between the Walsh averages, and Holm's adjustment is the closed test.
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
    for prob in (1e-12, 0.001, 0.025, 0.2, 0.5, 0.8, 0.95, 0.975, 0.9999):
        emit('normal_quantile', prob, float(stats.norm.ppf(prob)))
    for n, scale in ((8, 1.05), (20, 1.02), (55, 0.99)):
        baseline, variant = times(n, n, 1000.0), times(n + 1, n, 1000 * scale)
        emit('ratio', baseline, variant, analysed(baseline, variant))


if __name__ == '__main__':
    main()
