"""Several releases inside one sample whose record is replaced: outcome by outcome, under three laws at once.

Each release has an outcome's mass without the record, and the logarithms of what the record and its opposite make of
it. These add up over releases; then the sample is drawn. Integer noise and tables of two laws are listed as they are,
Gaussian and Laplace noise in cells of outputs.
"""

import math
from collections import Counter

import numpy as np

from dpaudit.verifier.integers import LATTICE, noise_law
from dpaudit.verifier.losses import SHIFTS, Loss, Multiset, discrete, merged, reverse, times
from dpaudit.verifier.mechanisms import sides_of, with_leaves
from dpaudit.verifier.numerics.rates import sampled
from dpaudit.verifier.polygons import smaller
from dpaudit.verifier.refusals import Array, Table, follow
from dpaudit.verifier.shifts import UNIT

_MOST, _ALIKE, _NEAR = 4_000_000, 1e-13, 1e-11  # outcomes; logarithms alike; losses near 0
_CELLS, _FEW, _LARGEST = 1800, 6e5, 20  # cells of a noise, outcomes of all, the largest shift
_KNOTS = 6000
_UNSEEN = -160.0  # the logarithm of a mass that is not listed
_REACH, _BEYOND = 13.0, 2e-38  # deviations, and more than lies beyond
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
Outcomes = tuple[Array, Array, Array]  # masses, and the two logarithms
Seen = tuple[Outcomes, float]  # outcomes, and at least what is left out under any law
Held = tuple[Outcomes, float, float, bool]  # outcomes, mass on others, mass not counted, whether both sides are alike


def together(node: Table, rate: float, labels: list[str], *, low: bool) -> Loss:
    """Return the loss of all releases of `labels` (all there are, if empty) on a sample; nothing for other parts."""
    all_releases = releases(node, 1)
    if any("stated" in part for release, _ in all_releases for part in with_leaves(release["mechanism"])):
        return ()
    moved = [(release["mechanism"], n) for release, n in all_releases if not labels or release["label"] in labels]
    listed = [(fields, n) for fields, n in moved if fields["name"] in (*LATTICE, "finite")]
    shifts = _shifts([(fields, n) for fields, n in moved if fields["name"] not in (*LATTICE, "finite")])
    rows = [(_outcomes(fields, low=low), n) for fields, n in listed]
    if sum(n for _, n in moved) < 2 or shifts is None:
        return ()
    if not shifts:
        return _together(rows, rate, low=low)
    count = math.prod(math.comb(len(outcomes[0][0]) + n - 1, n) for outcomes, n in rows)
    spans = {loss: loss[1] * (2 if loss[0] == "laplace" else 2 * _REACH) for loss in shifts}
    width = math.prod((2 * span) ** shifts[loss] * 1.0 for loss, span in spans.items()) * count / _FEW
    fewest = {loss: int(4 * loss[1]) + (8 if loss[0] == "laplace" else 120) for loss in shifts}  # sums are integrals
    sizes = {loss: min(_CELLS, int(s / width ** (1 / shifts.total())) + fewest[loss]) for loss, s in spans.items()}
    cuts = [[(_cut(loss, sizes[loss], low=below), n) for loss, n in shifts.items()] for below in (False, True)]
    return ("between", *(_together([*rows, *cut], rate, low=low, side=1 - 2 * i) for i, cut in enumerate(cuts)))


def _together(rows: list[tuple[Held, int]], rate: float, *, low: bool, side: int = 0) -> Loss:
    """Return the loss of all outcomes on a sample; from above, of laws that are not even, that of each sign."""
    total: Seen = ((np.ones(1), np.zeros(1), np.zeros(1)), 0.0)
    shared, others, beyond, even = 0.0, 0.0, 0.0, True  # logarithms of what nothing lacks
    for (outcomes, alone, missed, mirrored), n in rows:
        power: Seen = (outcomes, 0.0)
        for bit_index, bit in enumerate(reversed(f"{n:b}")):
            power = _joined(power, power) if bit_index else power
            total = _joined(total, power) if bit == "1" else total
        each = n * math.log1p(-min(alone, 1 - UNIT))
        shared, others, beyond, even = shared + each, others + each * mirrored, beyond + n * missed, even and mirrored
    (listed, unseen), ends = total, [-rate * math.expm1(logs) for logs in (shared, others)]
    if not low and side >= 0:
        ends = [end + unseen for end in ends]
    loss = _sampled(listed, rate, (beyond + ends[0], ends[1]), even=even, side=side)
    return loss if low or even else ("halves", loss, reverse(loss))


def _shifts(moved: list[tuple[Table, int]]) -> Multiset | None:
    """Return the shifts of Gaussian and Laplace noise, Gaussian ones as one; None where there is other noise."""
    shifts: Multiset = Counter()
    for fields, n in moved:
        upper, lower = sides_of(fields, "add_remove")
        if upper != lower or not {loss[0] for loss in upper} <= {*SHIFTS}:
            return None
        shifts += times(upper, n)
    return None if any(loss[1] > _LARGEST for loss in merged(shifts)) else merged(shifts)


def releases(node: Table, often: int) -> list[tuple[Table, int]]:
    """Return each release in sequence and how often it is met; nothing where there are other nodes."""
    if node["node"] == "release":
        return [(node, often)]
    if node["node"] in ("repeat", "post_process", "billboard"):
        return releases(node["part"], often * node.get("times", 1))
    each = [releases(part, often) for part in node["parts"]] if node["node"] == "sequential" else [[]]
    return [release for part in each for release in part] if all(each) else []


def _outcomes(fields: Table, *, low: bool) -> Held:
    """Return the outcomes of a mechanism, the record's mass on others, what is not counted, and whether it is even."""
    if fields["name"] != "finite":
        _, masses, away, beyond = noise_law(fields)
        alone = float(masses[np.isinf(away)].sum()) * ("cut" in fields)
        return (masses, away, away[::-1]), alone, beyond * (not low), True
    upper, exact = sides_of(fields, "add_remove")
    ((loss, _),) = (smaller(exact) if low else upper).items()
    atoms = [(p * math.exp(-v), v) for v, p in loss[1]] + [(loss[3], -math.inf)] * (loss[3] > 0)
    masses, away = (np.array(column) for column in zip(*atoms, strict=True))
    return (masses, away, np.zeros(len(away))), loss[2], 0.0, False


def _cut(shift: Loss, cells: int, *, low: bool) -> Held:
    """Return cells of a noise: each as one outcome, or its points shared between corners around their arc.

    The two ratios run along a line for Laplace noise, else along a hyperbola inside the triangle of two tangents.
    """
    noise, mu = shift
    flat = noise == "laplace"
    z = np.linspace(0, mu, cells // 2 + 1) if flat else np.linspace(-_REACH - mu, _REACH + mu, cells + 1)
    wide, width = np.diff(z)[:, None], z[1] - z[0]
    at = z[:-1, None] + wide * (1 + _PLACES) / 2
    mass = wide * _WEIGHTS / 2 * (np.exp(-at) / 2 if flat else np.exp(-at * at / 2) / math.sqrt(2 * math.pi))
    pull, base = (2.0, mu) if flat else (mu, mu * mu / 2)
    if low:
        sums = [(mass * np.exp(sign * pull * at - base)).sum(axis=1) / mass.sum(axis=1) for sign in (1, -1)]
        masses, more, less = mass.sum(axis=1), np.log(sums[0]), np.log(sums[1])
    else:
        u, top = np.exp(pull * (at - z[:-1, None])), math.exp(pull * width)
        power = 1 if flat else 2
        left, right = (top - u) ** power, (u - 1) ** power * (1 if flat else top)
        shares = [side / (top - 1) ** power / (1 if flat else u) for side in (left, right)]
        middle = 0 * u if flat else (u - 1) * (top - u) * (top + 1) / (top - 1) ** 2 / u
        masses = np.concatenate([(mass * share).sum(axis=1) for share in (*shares, middle)])
        ends, bend = (pull * end - base for end in (z[:-1], z[1:])), math.log(2 / (1 + top))
        first, second = ends
        more = np.concatenate([first, second, second + bend])
        less = np.concatenate([-first, -second, -first + bend]) - 2 * base
    if not flat:
        return (masses, more, less), 0.0, 0.0 if low else _BEYOND, True
    masses, more = np.append(masses, math.exp(-mu) / 2), np.append(more, mu)
    still = np.full(len(masses), -mu)
    return (np.tile(masses, 2), np.append(more, still), np.append(still, more)), 0.0, 0.0, True


def _joined(first_seen: Seen, second_seen: Seen) -> Seen:
    """Return both together; outcomes whose logarithms agree become one, and those that hardly happen are left out."""
    (left, lost), (right, other) = first_seen, second_seen
    follow(len(left[0]) * len(right[0]) <= _MOST, "the outcomes of several releases are too many for this checker")
    masses = np.outer(left[0], right[0]).ravel()
    logs = [np.add.outer(a, b).ravel() for a, b in zip(left[1:], right[1:], strict=True)]
    sizes = np.log(np.maximum(masses, 1e-300)) + np.maximum(0.0, np.maximum(*logs))
    seen = sizes > _UNSEEN
    lost += other + float(np.exp(sizes[~seen]).sum())
    masses, logs = masses[seen], [row[seen] for row in logs]
    keys = [np.rint(np.maximum(row, -1e4) / _width(row)) for row in logs]
    order = np.lexsort(keys)
    steps = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    first = np.flatnonzero(np.append(True, steps))
    return (np.add.reduceat(masses[order], first), logs[0][order][first], logs[1][order][first]), lost


def _width(logarithms: Array) -> float:
    """Return how far logarithms may lie apart that count as one: about their rounding, below what ends are held to."""
    return _ALIKE * max(1.0, float(np.abs(logarithms[np.isfinite(logarithms)]).max(initial=0.0)) / 8)


def _few(loss: Array, first: Array, side: int) -> tuple[list[float], list[float]]:
    """Return outcomes on few losses, which keeps both laws: shared between two (side 1), or a cell as one (side -1)."""
    if not side or len(loss) < _KNOTS:
        return loss.tolist(), first.tolist()
    knots = np.unique(np.append(0.0, np.linspace(loss.min(), loss.max(), _KNOTS)))
    at = np.clip(np.searchsorted(knots, loss, side="right") - 1, 0, len(knots) - 2)
    if side > 0:
        up = np.clip(np.expm1(knots[at] - loss) / np.expm1(knots[at] - knots[at + 1]), 0, 1) * first
        return knots.tolist(), (np.bincount(at + 1, up, len(knots)) + np.bincount(at, first - up, len(knots))).tolist()
    p, q = np.bincount(at, first), np.bincount(at, first * np.exp(-loss))
    possible = (p > 1e-290) & (q > 1e-290)
    return np.log(p[possible] / q[possible]).tolist(), p[possible].tolist()


def _sampled(outcomes: Outcomes, rate: float, ends: tuple[float, float], *, even: bool, side: int) -> Loss:
    """Return the loss of the record against its opposite, each in the sample with probability `rate`.

    `ends` are the masses that only the first and only the second law has.
    """
    masses, *logs = outcomes
    logp, logq = (sampled(row, rate) for row in logs)
    both = np.isfinite(logp) & np.isfinite(logq)
    first, loss = masses * np.exp(logp), logp - np.where(np.isfinite(logq), logq, 0.0)
    lost, other = (
        min(1.0, end + float((masses * np.exp(row))[~both].sum())) for end, row in zip(ends, (logp, logq), strict=True)
    )
    near = even & (np.abs(loss) <= _NEAR)  # rounding hides which of two opposite outcomes has the positive loss
    loss, first = np.where(near, np.abs(loss), loss), np.where(near, first / 2, first)
    both &= (loss > 0) | (not even)
    mass_at: dict[float, float] = {}
    for value, mass in zip(*_few(loss[both], first[both], side), strict=True):
        mass_at[value] = mass_at.get(value, 0.0) + mass
    if not even:
        return discrete(list(mass_at.items()), lost, other)
    above = [(v, p) for v, p in mass_at.items() if v > 0]
    zero_mass = 1 - lost - math.fsum(p * (1 + math.exp(-v)) for v, p in above)
    return discrete([*above, *((-v, p * math.exp(-v)) for v, p in above), (0.0, max(0.0, zero_mass))], lost, lost)
