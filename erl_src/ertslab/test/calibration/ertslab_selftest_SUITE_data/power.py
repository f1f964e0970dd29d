#!/usr/bin/env python3
"""Reference power for ertslab_selftest_rates, as Erlang terms on stdout.

    python3 power.py [COMPARISONS] > power.terms

Needs NumPy and SciPy; without them the exit status is 3. It draws normal logs
of runs and iterations with the deviations of the noise model `independent',
and shares no code and no method with the Erlang program where another will do:
medians and ranks are NumPy's and SciPy's, the p value of a rank sum is looked
up in SciPy's own exact test, the interval of 95 % excludes 1 exactly where the
unadjusted p value is at most 0.05, and Holm's adjusted p value is the largest
product so far in the order of the p values.

A comparison has three arms (stock, its control, the variant) and two metrics.
The variant's first metric is faster by the effect. It counts as found where
that row is `changed', the interval of its ratio to the control is below 1 too,
and neither metric of the control is `changed', which would make the comparison
void.
"""

import sys

try:
    import numpy as np
    from scipy import stats
except ImportError:
    sys.exit(3)

RUN_SD = 0.015
ITERATION_SD = 0.025
ITERATIONS = 5
LEVEL = 0.05
BOUND = 0.01
PAIRS = [10, 20, 40]
EFFECTS = [0.01, 0.02, 0.05, 0.10]
CHUNK = 2000


def exact_p(pairs):
    """The p value of each rank sum from 0 to n(n+1)/2, by SciPy."""
    def sample(total):
        signs = []
        for rank in range(pairs, 0, -1):
            taken = total >= rank
            total -= rank if taken else 0
            signs.append(rank if taken else -rank)
        return signs
    sums = range(pairs * (pairs + 1) // 2 + 1)
    return np.array([stats.wilcoxon(sample(total), method='exact').pvalue
                     for total in sums])


def run_logs(random, comparisons, pairs):
    """Logs of runs: comparisons x arms x metrics x pairs."""
    shape = (comparisons, 3, 2, pairs)
    runs = RUN_SD * random.standard_normal(shape)
    iterations = ITERATION_SD * random.standard_normal(shape + (ITERATIONS,))
    return np.median(np.exp(runs[..., None] + iterations), axis=-1)


def hodges_lehmann(logs):
    first, second = np.triu_indices(logs.shape[-1])
    return np.median((logs[..., first] + logs[..., second]) / 2, axis=-1)


def holm(ps):
    order = np.argsort(ps, axis=-1)
    factors = np.arange(ps.shape[-1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(ps, order, -1) * factors, -1)
    adjusted = np.empty_like(ps)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1), -1)
    return adjusted


def p_values(logs, p_of):
    ranks = stats.rankdata(np.abs(logs), axis=-1)
    return p_of[np.rint(np.where(logs > 0, ranks, 0).sum(-1)).astype(int)]


def chunk(random, comparisons, pairs, effect, p_of):
    """How many of so many comparisons find the effect."""
    runs = run_logs(random, comparisons, pairs)
    runs[:, 2, 0] *= 1 - effect
    logs = np.log(runs[:, 1:] / runs[:, :1]).reshape(comparisons, 4, pairs)
    ps = p_values(logs, p_of)
    ratio = np.exp(hodges_lehmann(logs))
    to_control = np.log(runs[:, 2, 0] / runs[:, 1, 0])
    confirmed = ((p_values(to_control, p_of) <= LEVEL)
                 & (hodges_lehmann(to_control) < 0))
    changed = ((ps <= LEVEL) & (holm(ps) <= LEVEL)
               & ((ratio >= 1 + BOUND) | (ratio <= 1 - BOUND)))
    void = changed[:, 0] | changed[:, 1]
    return int((changed[:, 2] & (ratio[:, 2] < 1) & confirmed & ~void).sum())


def main():
    comparisons = int(sys.argv[1]) if len(sys.argv) > 1 else 50000
    print('%% Written by power.py: {Pairs, Effect, Comparisons, Found}.')
    for pairs in PAIRS:
        p_of = exact_p(pairs)
        for effect in EFFECTS:
            random = np.random.default_rng([pairs, round(1000 * effect)])
            sizes = [min(CHUNK, comparisons - start)
                     for start in range(0, comparisons, CHUNK)]
            found = sum(chunk(random, size, pairs, effect, p_of)
                        for size in sizes)
            print('{%d, %.2f, %d, %d}.' % (pairs, effect, comparisons, found))


if __name__ == '__main__':
    main()
