"""What no audit can see: `python -m benchmarks.information_limit`.

A claim (epsilon, delta) allows every pair of laws whose two hockey-stick divergences are at most delta. The allowed
pair nearest in relative entropy to the true one gives the e-value of largest growth (Gruenwald, de Heide and Koolen
2024), and bounds every other test: with n runs on fair coins, a test of significance a finds the true pair with
probability b only if b ln(b/a) + (1-b) ln((1-b)/(1-a)) <= n growth. Nothing is learned, no run is lost.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

Masses = NDArray[np.float64]
SIGNIFICANCE, NIGHTS, RUNS = 1e-3, 14, 5_000
CELLS = 20_001
CASES = ((0.5, 0.05), (1.0, 0.01), (1.0, 1e-3), (1.0, 1e-4), (1.0, 1e-5))


def growth(p: Masses, q: Masses, epsilon: float, delta: float) -> float:
    """Return the least mean relative entropy of (p, q) to a pair that (epsilon, delta) allows, in nats a run.

    The problem is convex. For a multiplier `nu` of the two divergences each cell has its minimum in closed form; the
    common multiplier of the totals and `nu` are roots of monotone functions. Symmetric pairs only: p reversed is q.
    """
    factor = math.exp(epsilon)

    def nearest(total: float, nu: float) -> tuple[Masses, Masses]:
        first, second = p / total, q / total
        for small, large, out_small, out_large in ((p, q, first, second), (q, p, second, first)):
            over = large > factor * small
            a, b = small[over], large[over]
            free, cut = a / (total - nu * factor), b / (total + nu)
            edge = (a + b) / (total * (1 + factor))
            inside = cut < factor * free
            out_small[over] = np.where(inside, edge, free)
            out_large[over] = np.where(inside, factor * edge, cut)
        return first, second

    def solved(nu: float) -> tuple[Masses, Masses]:
        total = brentq(lambda t: float(nearest(t, nu)[0].sum()) - 1, max(1.0001 * nu * factor, 0.5), 2.0)
        return nearest(total, nu)

    def excess(nu: float) -> float:
        first, second = solved(nu)
        return float(np.maximum(0.0, second - factor * first).sum()) - delta

    if excess(0.0) <= 0:
        return 0.0
    high = 1e-6
    while excess(high) > 0:
        high *= 2
    first, second = solved(brentq(excess, 0.0, high))
    return float((p * np.log(p / first)).sum() + (q * np.log(q / second)).sum()) / 2


def gaussian(mu: float) -> tuple[Masses, Masses]:
    """Return the cells of N(-mu/2, 1) and N(mu/2, 1)."""
    middles = np.linspace(-9, 9, CELLS)
    edges = np.concatenate([[-np.inf], (middles[1:] + middles[:-1]) / 2, [np.inf]])
    p = np.maximum(np.diff(norm.cdf(edges, loc=-mu / 2)), 1e-300)
    return p, p[::-1].copy()


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return delta at epsilon of a Gaussian release with this mu (Balle and Wang 2018)."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the mu whose delta at epsilon is `delta`."""
    return float(brentq(lambda mu: gaussian_delta(mu, epsilon) - delta, 1e-3, 20.0))


def best_chance(runs: int, rate: float, significance: float) -> float:
    """Return the largest probability with which a test of this significance finds the true pair in so many runs."""
    nats = runs * rate

    def left(b: float) -> float:
        return b * math.log(b / significance) + (1 - b) * math.log((1 - b) / (1 - significance)) - nats

    return 1.0 if left(1 - 1e-12) <= 0 else float(brentq(left, significance, 1 - 1e-12))


def main() -> None:
    runs = NIGHTS * RUNS
    print(f"Gaussian noise, significance {SIGNIFICANCE}; best chance within {NIGHTS} nights of {RUNS} runs")
    print("| claim | noise | growth a run | runs to 1 / significance | best chance |\n|---|---|---|---|---|")
    for epsilon, delta in CASES:
        for factor in (0.8, 0.5):
            rate = growth(*gaussian(gaussian_mu(epsilon, delta) / factor), epsilon, delta)
            needed, chance = -math.log(SIGNIFICANCE) / rate, best_chance(runs, rate, SIGNIFICANCE)
            print(f"| ({epsilon:g}, {delta:g}) | {factor:g} | {rate:.3g} | {needed:,.0f} | {chance:.3f} |")


if __name__ == "__main__":
    main()
