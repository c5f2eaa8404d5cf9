"""Exact expectations for uniform routing, written apart from the simulator so that the two check
each other: T tokens each select k of E experts without replacement, experts lie E/R to a rank.
"""

from math import comb

import numpy as np


def activated_distributions(experts, k, tokens_max):
    """Yields (T, P(D = d)) for T = 1 ..: the number of activated experts D is a Markov chain."""
    probability = np.zeros(experts + 1)
    probability[0] = 1
    # A token that finds d experts activated adds `new` of the others: hypergeometric.
    step = np.zeros((experts + 1, experts + 1))
    for d in range(experts + 1):
        for new in range(max(0, k - d), min(k, experts - d) + 1):
            step[d, d + new] = comb(experts - d, new) * comb(d, k - new) / comb(experts, k)
    for tokens in range(1, tokens_max + 1):
        probability = probability @ step
        yield tokens, probability


def mean_max_given_activated(experts, ranks):
    """E[max over ranks of activated experts | D], for D = 0 .. E. Given D, the activated set is any
    D-subset alike, so P(max <= m | D) = [x^D] (sum_{j<=m} C(E/R, j) x^j)^R / C(E, D)."""
    per_rank = experts // ranks
    ways_of_one = np.array([float(comb(per_rank, j)) for j in range(per_rank + 1)])
    all_ways = np.array([float(comb(experts, d)) for d in range(experts + 1)])
    mean = np.zeros(experts + 1)
    for m in range(per_rank):
        ways = np.ones(1)
        for _ in range(ranks):
            ways = np.convolve(ways, ways_of_one[: m + 1])
        at_most_m = np.zeros(experts + 1)
        at_most_m[: len(ways)] = ways / all_ways[: len(ways)]
        mean += 1 - at_most_m  # E[max] = sum over m of P(max > m)
    return mean


def exact_curves(experts, k, ranks, tokens_max):
    """Arrays by T = 1 .. tokens_max: activated experts, activated-expert imbalance as the mean over
    layers of max/mean, the same as ratio of the means, and P(a given rank is idle)."""
    max_given = mean_max_given_activated(experts, ranks)
    d = np.arange(experts + 1)
    ratio_given = np.divide(max_given * ranks, d, out=np.zeros(experts + 1), where=d > 0)
    activated, mean_of_ratio, ratio_of_means = [], [], []
    for _, probability in activated_distributions(experts, k, tokens_max):
        activated.append(probability @ d)
        mean_of_ratio.append(probability @ ratio_given)
        ratio_of_means.append(probability @ max_given * ranks / activated[-1])
    one = comb(experts - experts // ranks, k) / comb(experts, k)
    tokens = np.arange(1, tokens_max + 1)
    return {
        "tokens": tokens,
        "activated_experts": np.array(activated),
        "expert_imbalance": np.array(mean_of_ratio),
        "expert_imbalance_of_means": np.array(ratio_of_means),
        "idle_rank_probability": one ** tokens.astype(float),
    }


def pair_imbalance_normal(experts, k, ranks, tokens):
    """Approximation for many tokens: loads of ranks as R normals of equal correlation,
    1 + z_R sqrt((E - k) / (E - 1)) / sqrt(T k / R), z_R = mean of the largest of R normals."""
    z = np.linspace(-9, 9, 20001)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    cumulative = np.cumsum(density) * (z[1] - z[0])
    z_max = np.sum(z * ranks * density * cumulative ** (ranks - 1)) * (z[1] - z[0])
    return 1 + z_max * np.sqrt((experts - k) / (experts - 1)) / np.sqrt(tokens * k / ranks)
