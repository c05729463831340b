"""The loss of one release from a mechanism's published parameters: (from above, from below)."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.integers import LATTICE, noise_law
from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, on_sample, options, reverse, times
from dpaudit.verifier.numerics.rates import log_ratio
from dpaudit.verifier.polygons import larger
from dpaudit.verifier.refusals import Table, exact_ratio, float_above, positive, ratio, require, require_sizes
from dpaudit.verifier.shape import TABLES, walk
from dpaudit.verifier.strategies import squared_move

Sides = tuple[Multiset, Multiset]


def sides_of(fields: Table, relation: str) -> Sides:
    """Return what bounds one release from above and what some pair attains; equal where the loss is exact."""
    require(fields.get("neighbours", relation) == relation, f"{fields['name']} is stated for other neighbours")
    if "stated" in fields:
        upper, lower = (_stated_together(fields["stated"][side]) for side in ("upper", "lower"))
        one_way = [row.get("one_order", row["loss"] != "discrete") for row in fields["stated"]["upper"]]
        require(all(k or x == reverse(x) for k, x in zip(one_way, upper, strict=False)), "a stated law has both orders")
        gaussian = {option[0] == "gaussian" for loss in upper for option in options(loss)}
        # Of several parts nothing says that each is a release of its own, but for Gaussian ones, which are one shift.
        require(gaussian <= {True} or (gaussian == {False} and upper.total() == 1), "a plug-in states several parts")
        return upper, lower
    require_sizes(fields)
    return _READERS[fields["name"]](fields, relation)


def of_records(fields: Table, records: int) -> Table | None:
    """Return the mechanism whose law dominates records that change one after another; None where none is known.

    Whole shifts of log-concave noise add up along a chain, and so do the ranges of the losses of a choice.
    """
    key = _ADDING_UP.get(fields["name"])
    if records == 1 or key is None or "stated" in fields:
        return fields if records == 1 else None
    exact = Fraction(repr(fields[key])) * records
    moved: float = int(exact) if isinstance(fields[key], int) else float_above(exact)
    return {**fields, key: moved} if moved <= _FURTHEST[fields["name"]](fields) else None


def with_leaves(fields: Table) -> list[Table]:
    """Return a mechanism, its leaf, the leaf of that leaf, and so on."""
    leaf = fields.get("leaf")
    return [fields, *with_leaves(leaf)] if isinstance(leaf, dict) else [fields]


def plug_ins(tree: Table) -> list[str]:
    """Return the names of the mechanisms whose losses are stated, because no checker can derive them."""
    parts = [part for node in walk(tree) if "mechanism" in node for part in with_leaves(node["mechanism"])]
    return list(dict.fromkeys(part["name"] for part in parts if "stated" in part))


def _stated_together(rows: list[Table]) -> Multiset:
    """Return the losses that a plug-in states of itself, with how often each is met in all rows."""
    return sum((Counter({loss: times}) for loss, times in map(_stated, rows)), start=Counter())


def _stated(row: Table) -> tuple[Loss, int]:
    """Return a loss that a plug-in states of itself, and how often it is met; a law must sum to one on both sides."""
    if row["loss"] == "approximate":
        loss = black_box(row["epsilon"], row["delta"])
    elif row["loss"] == "sampled_gaussian":
        loss = on_sample("gaussian", float(row["mu"]), float(row["rate"]))
        loss = loss if row["order"] == "remove" else reverse(loss)
    elif row["loss"] == "choice":
        options_met = _stated_together(row["options"])
        require({*options_met.values()} == {1}, "a plug-in states an option twice")
        loss = ("choice", frozenset(options_met))
    elif row["loss"] != "discrete":
        loss = (row["loss"], float(row["mu" if row["loss"] == "gaussian" else "shift"]))
    else:
        atoms = list(zip(row["losses"], row["probabilities"], strict=True))
        leaks = row["infinite_mass"], row["reverse_infinite_mass"]
        both = ([p for _, p in atoms], [p * math.exp(-v) for v, p in atoms])
        sums = [math.fsum(masses) + leak for masses, leak in zip(both, leaks, strict=True)]
        blurs = [1e-14 + 2.0**-51 * math.fsum(p * abs(v) for p, (v, _) in zip(m, atoms, strict=True)) for m in both]
        require(all(abs(s - 1) <= b for s, b in zip(sums, blurs, strict=True)), "a stated law does not sum to one")
        loss = discrete(atoms, *leaks)
    return loss, row["times"]


def rescaled(tree: Any, factor: float) -> Any:
    """Return a tree (or a part of its JSON) with the noise of every mechanism scaled."""
    if isinstance(tree, list):
        return [rescaled(item, factor) for item in tree]
    if not isinstance(tree, dict):
        return tree
    noise = {key: power for key, power in TABLES["noise"].items() if "name" in tree and key in tree}
    changed = {key: branch if key == "printed" else rescaled(branch, factor) for key, branch in tree.items()}
    return changed | {key: tree[key] * factor**power for key, power in noise.items()}


def _sides(upper: Loss, lower: Loss | None = None) -> Sides:
    """Return one loss from above and one from below, the same where it is exact."""
    return Counter([upper]), Counter([lower or upper])


def _gaussian(fields: Table, relation: str) -> Sides:
    """A query that moves by its l2 sensitivity."""
    return _sides(("gaussian", ratio(fields, "l2_sensitivity", "stddev")))


def _laplace(fields: Table, relation: str) -> Sides:
    """A query that moves by its l1 sensitivity."""
    return _sides(("laplace", ratio(fields, "l1_sensitivity", "scale")))


def _ball_laplace(fields: Table, relation: str) -> Sides:
    """A Euclidean move is at most sqrt(dimension) times as long in l1, and is so long when it is spread evenly."""
    if fields["l2_sensitivity"] == 0:
        return Counter(), Counter()
    dimension, shift = fields["dimension"], exact_ratio(fields, "l2_sensitivity", "scale")
    root = Fraction(math.isqrt(dimension))
    if root**2 != dimension:
        root = Fraction(math.sqrt(dimension)) * (1 + Fraction(1, 10**15))
    require(shift * dimension < 10**300, "a sensitivity over a scale is out of range")
    return Counter([("laplace", float(shift * root))]), Counter({("laplace", float(shift / root)): dimension})


def _symmetric_gaussian(fields: Table, relation: str) -> Sides:
    """(G + G^T)/sqrt(2) has sqrt(2) times the effective noise; the other two symmetrisations keep it."""
    gain = {"half": 1.0, "mirror": 1.0, "sqrt2": math.sqrt(2)}[fields.get("symmetry", "half")]
    return _sides(("gaussian", positive(fields, "l2_sensitivity") / (gain * positive(fields, "stddev"))))


def _joint_gaussian(fields: Table, relation: str) -> Sides:
    """A Gram matrix and a target vector: the worst angle between the features of a replaced pair."""
    bound, target = positive(fields, "feature_bound"), positive(fields, "target_bound")
    noise = {"matrix_stddev": bound * bound, "vector_stddev": bound * target}
    fits = all(1e-150 * positive(fields, key) <= product <= 1e150 * fields[key] for key, product in noise.items())
    require(fits, "the noise of a matrix or a vector is out of range")
    matrix = (bound**2 / positive(fields, "matrix_stddev")) ** 2
    vector = (bound * target / positive(fields, "vector_stddev")) ** 2
    cosine = -min(1.0, vector / matrix / 2)
    square = 2 * matrix * (1 - cosine**2) + 2 * vector * (1 - cosine)
    return _sides(("gaussian", math.sqrt(square if relation == "replace_one" else matrix + vector)))


def _leaf(fields: Table, relation: str) -> Sides:
    """Return both sides of a leaf, which is a mechanism that adds noise to an answer, and no stream itself."""
    leaf = fields["leaf"]
    require(leaf["name"] in TABLES["additive"] or "stated" in leaf, f"the leaf {leaf['name']} adds no noise")
    return sides_of(leaf, relation)


def _tree_aggregation(fields: Table, relation: str) -> Sides:
    """A record is met by the nodes that hold its elements, each counted by the square of their sum of signs."""
    signs, separation = tuple(fields.get("signs", (1,))), fields.get("separation", 1)
    upper, lower = _leaf(fields, relation)
    alternating = all(signs[i] == -signs[i + 1] for i in range(len(signs) - 1))
    require(alternating or all(loss[0] == "gaussian" for loss in upper), "only Gaussian leaves may move one way twice")
    require((len(signs) * separation) ** 3 <= 10**6, "a tree's schedule is too long to be derived again")
    nodes = squared_nodes(fields["horizon"], signs, separation)
    return times(upper, nodes), times(lower, nodes)


def squared_nodes(horizon: int, signs: tuple[int, ...], separation: int) -> int:
    """Return the largest sum over nodes of (sum of the signs inside)^2 for elements `separation` or more apart.

    A prefix is read from blocks of 2^k elements, the largest first; a block is a node, and so are the left halves
    inside it. `best` places signs first .. last - 1 among `length` elements, the outer `lead` and `trail` of which
    stay free; elements on both sides of the middle leave `separation` - 1 free between them.
    """

    @cache
    def best(length: int, shape: str, first: int, last: int, lead: int, trail: int) -> float:
        if first == last:
            return 0.0
        if length <= lead + trail or (shape == "block" and length == 1):
            return 0.0 if length > lead + trail and last - first == 1 else -math.inf
        left = length // 2 if shape == "block" else 1 << length.bit_length() - 1
        right = length - left
        largest = best(right, shape, first, last, max(0, lead - left), trail)
        for middle in range(first + 1, last + 1):
            node = sum(signs[first:middle]) ** 2
            for gap in range(separation) if middle < last else [max(0, trail - right)]:
                before = node + best(left, "block", first, middle, lead, gap)
                largest = max(largest, before + best(right, shape, middle, last, separation - 1 - gap, trail))
        return largest

    return int(max(best(horizon, "prefix", 0, last, 0, 0) for last in range(1, len(signs) + 1)))


def _matrix(fields: Table, relation: str) -> Sides:
    """A strategy's rows move by the root of a sum over pairs of participations; the leaf is Gaussian."""
    upper, lower = _leaf(fields, relation)
    require(upper == lower and [loss[0] for loss in upper] == ["gaussian"], "a strategy's leaf is no Gaussian noise")
    (low, high), ((_, mu),) = squared_move(fields), upper
    if low == high == int(low):
        return times(upper, int(low)), times(lower, int(low))
    return _sides(("gaussian", mu * math.sqrt(high)), ("gaussian", mu * math.sqrt(low)))


def _randomised_response(fields: Table, relation: str) -> Sides:
    """A report that names one category, each false one with e^-epsilon times the probability of the truth."""
    others, lie = fields.get("categories", 2) - 1, math.exp(-positive(fields, "epsilon"))
    truth = 1 / (1 + others * lie)
    return _report(fields, relation, truth, (others - 1) * truth * lie)


def _unary_encoding(fields: Table, relation: str) -> Sides:
    """Two bits change: the one that was set, and the one that is."""
    lie = math.exp(-positive(fields, "epsilon") / 2)
    if fields.get("encoding") == "optimised":
        return _report(fields, relation, 0.5 / (1 + lie**2), 0.5)
    return _report(fields, relation, 1 / (1 + lie) ** 2, 2 * lie / (1 + lie) ** 2)


def _subset_selection(fields: Table, relation: str) -> Sides:
    """The set holds the first of two categories, and not the second one."""
    size, others = fields["subset_size"], fields["categories"] - fields["subset_size"]
    require(size >= 1 <= others, "a set of categories holds all of them, or none")
    lie = math.exp(-positive(fields, "epsilon"))
    more = size / (size + others * lie) * others / (size + others - 1)
    return _report(fields, relation, more, more * ((size - 1) / others + (others - 1) / size * lie))


def _report(fields: Table, relation: str, more: float, alike: float) -> Sides:
    """A report that names one of two categories alone with probability `more`, or e^-epsilon times this; else alike."""
    require(relation == "replace_one", f"{fields['name']} is stated for other neighbours than replace_one")
    epsilon = positive(fields, "epsilon")
    require(fields.get("categories", 2) >= 2 and epsilon <= 700, "a report needs two categories and epsilon <= 700")
    return _sides(discrete([(epsilon, more), (0.0, alike), (-epsilon, more * math.exp(-epsilon))]))


def _integer_noise(fields: Table, relation: str) -> Sides:
    """Whole numbers against themselves moved; what lies beyond all that is counted may be lost."""
    _, masses, away, beyond = noise_law(fields)
    met = np.isfinite(away)
    lost = min(1.0, float(masses[~met].sum())) if "cut" in fields else 0.0
    atoms = list(zip((-away[met]).tolist(), masses[met].tolist(), strict=True))
    return _sides(discrete(atoms, lost + beyond, lost + beyond), discrete(atoms, lost, lost))


def _finite(fields: Table, relation: str) -> Sides:
    """Two laws, outcome by outcome, in an order that queries may change."""
    rows = rows_of_table(fields)
    lost, other = (sum((row[i] for row in rows if not row[1 - i]), start=Fraction(0)) for i in (0, 1))
    losses = [(log_ratio(p / q) if p >= q else -log_ratio(q / p), float(p)) for p, q in rows if p and q]
    loss: Multiset = Counter([discrete(losses, float(lost), float(other))])
    even = sorted(rows) == sorted((q, p) for p, q in rows)
    return loss if even else larger([row for row in rows if all(row)], lost, other), loss


def rows_of_table(fields: Table) -> list[tuple[Fraction, Fraction]]:
    """Return the probabilities of each outcome under two laws, stated or as counts, drawn to their mean if diluted."""
    laws = [[Fraction(repr(float(entry))) for entry in fields[key]] for key in ("first", "second")]
    are_counts = all(entry.denominator == 1 for law in laws for entry in law)
    sums = [sum(law) for law in laws]
    require(all(total and (total == 1 or are_counts) for total in sums), "a law of a table does not sum to 1")
    share = (1 - 1 / Fraction(repr(positive({"dilution": 1.0} | fields, "dilution")))) / 2
    plain = [(p / sums[0], q / sums[1]) for p, q in zip(*laws, strict=True)]
    rows = [(p + (q - p) * share, q + (p - q) * share) for p, q in plain]
    require(min(map(min, rows)) >= 0, "a table is diluted so little that no such laws exist")
    return rows


def _exponential(fields: Table, relation: str) -> Sides:
    """Any pair of losses within a range of epsilon, or of half of it where a record moves all utilities one way."""
    require(fields["epsilon"] <= 300, "an exponential mechanism is out of range")
    return _sides(("range", positive(fields, "epsilon") / (2 if fields.get("utilities") == "monotone" else 1)))


def _report_noisy_max(fields: Table, relation: str) -> Sides:
    """Twice the shift from above; two candidates that swap places from below."""
    gap = positive(fields, "linf_sensitivity") / positive(fields, "scale")
    ahead = -math.expm1(-gap) - math.exp(-gap) * gap / 2  # how much likelier one candidate is than the other
    epsilon = gap + math.log((1 + ahead) / (1 + gap / 2)) if gap > 1 else math.log1p(ahead) - math.log1p(-ahead)
    return _sides(("laplace", 2 * gap), black_box(epsilon))


def _noisy_plurality(fields: Table, relation: str) -> Sides:
    """One number of votes rises and another falls, by as many; below, two labels that swap places."""
    mu = float(exact_ratio({"voters": 1} | fields, "voters", "stddev"))
    swapped = float(log_ndtr(mu / math.sqrt(2)) - log_ndtr(-mu / math.sqrt(2)))
    return Counter({("gaussian", mu): 2}), Counter([black_box(swapped)])


def _above_threshold(fields: Table, relation: str) -> Sides:
    """A threshold that moves once and queries up to the cutoff; below, the pattern of many below, and then above.

    The pattern has the mean of F(z)^b (1 - F(z))^a over the threshold's noise z, F being the queries' distribution
    function; its queries are at s / 2, and after the move b at 3 s / 2 and a at -s / 2, or at s / 2 where all move up.
    """
    cutoff, horizon = int(fields.get("cutoff", 1)), int(fields.get("horizon", 62))
    ways = 1 if fields.get("queries") == "monotone" else 2
    require(cutoff <= horizon <= 62, "a sparse vector has more answers than queries, or too many queries")
    first = exact_ratio(fields, "linf_sensitivity", "threshold_scale")
    if fields["query_scale"] == 0:  # the threshold may lie between two queries that change places
        between = -math.expm1(-float(first)) / 2 * (1 - 1e-10) * (horizon > 1)
        return _sides(black_box(math.inf), discrete([(math.log1p(-between), 1 - between)], between))
    each = exact_ratio(fields, "linf_sensitivity", "query_scale")
    epsilon = float_above(first + ways * cutoff * each)
    upper = black_box(epsilon)
    if epsilon > 700:  # a pattern's probability may be no double
        return _sides(upper, discrete([(0.0, 1.0)]))
    told = min(cutoff, horizon // 2)
    move, ratio_of = float(each), float(first / each)  # in scales of the queries, and those of the threshold
    far, near_a_break = 45 * max(1.0, 1 / ratio_of) + 2 * move, min(1.0, 1 / ratio_of) / 4
    nodes, weights = np.polynomial.legendre.leggauss(24)
    panels = np.geomspace(near_a_break, far, 2 + int(1.5 * math.log2(far / near_a_break)))
    edges = np.unique([b + d for b in (0.0, *(move * k / 2 for k in (-1, 1, 3))) for d in (*-panels, 0.0, *panels)])
    half = np.diff(edges)[:, None] / 2
    z = edges[:-1, None] + half * (1 + nodes)
    density = half * weights * np.exp(-np.abs(z) * ratio_of) * ratio_of / 2

    def pattern(below: float, above: float) -> float:
        logs = (horizon - told) * _log_laplace(z - below) + told * _log_laplace(above - z)
        return float((density * np.exp(logs)).sum())

    p, q = pattern(move / 2, move / 2) * (1 - 1e-10), pattern(1.5 * move, move / 2 - move * (ways - 1)) * (1 + 1e-10)
    return _sides(upper, _event(p, math.log1p((p - q) / q)) if p > q > 1e-300 else discrete([(0.0, 1.0)]))


def _above_threshold_answers(fields: Table, relation: str) -> Sides:
    """All noisy answers from above; below, queries at the threshold that all rise: some printed, and none above 0."""
    cutoff, horizon = int(fields.get("cutoff", 1)), int(fields.get("horizon", 62))
    require(cutoff <= horizon <= 62, "a sparse vector has more answers than queries, or too many queries")
    epsilon = float_above(horizon * exact_ratio(fields, "linf_sensitivity", "query_scale"))
    upper, r = black_box(epsilon), fields["query_scale"] / fields["threshold_scale"]
    p = 0.0
    for printed in range(1, cutoff + 1):
        ways = math.comb(horizon, printed) if printed < cutoff else math.comb(horizon - 1, printed - 1)
        at = r + horizon - printed  # r/2 B(at, printed + 1) of each way, divided out
        p += ways * r / 2 * math.prod(k / (at + k) for k in range(1, printed + 1)) / at / 2**horizon
    low = epsilon * (1 - 2.0**-48)
    seen = low <= 700 and p * math.exp(-low) > 1e-300
    return _sides(upper, _event(p, low) if seen else discrete([(0.0, 1.0)]))


def _event(chance: float, epsilon: float) -> Loss:
    """An event of a probability, and of e^-epsilon times it for the other neighbour, or its absence."""
    absent = math.log1p(chance * math.expm1(-epsilon) / (1 - chance * math.exp(-epsilon)))
    return discrete([(epsilon, chance), (absent, 1 - chance)])


def _log_laplace(x: Any) -> Any:
    """Return the logarithm of the distribution function of unit Laplace noise."""
    return np.where(x > 0, np.log1p(-np.exp(-np.abs(x)) / 2), -np.abs(x) - math.log(2))


def _permute_and_flip(fields: Table, relation: str) -> Sides:
    """Laplace noise on the gap of two candidates, each point by its own pair; below, the gap that tells most apart.

    The one ahead by x wins with P = 1 - e^-x / 2, and then with Q = e^(x - shift) / 2. The divergence grows with x
    while (1 - P) (logit P - logit Q) is more than P - (1 - P) Q / (1 - Q).
    """
    shift = exact_ratio(fields, "linf_sensitivity", "scale") * (1 if fields.get("scores") == "monotone" else 2)
    require(shift <= 700, "a permute-and-flip is out of range")
    low, high = 0.0, float(shift)
    for _ in range(80):
        x = (low + high) / 2
        other, after = math.exp(-x) / 2, math.exp(x - float(shift)) / 2
        told = float(shift) + math.log(2 * (1 - other)) + math.log(2 * (1 - after))
        low, high = (x, high) if other * told > 1 - other - other * after / (1 - after) else (low, x)
    after, first = float(shift) - low, (1 - math.exp(-low) / 2, math.exp(-low) / 2)
    above, below = after + math.log1p(-math.expm1(-low)), -low - math.log1p(-math.expm1(-after))
    threshold_loss = ("laplace", float(shift), "threshold")
    return _sides(threshold_loss, ("once", threshold_loss, discrete([(above, first[0]), (below, first[1])])))


def _one_sided_wishart(fields: Table, relation: str) -> Sides:
    """Noise on a cone: an output outside it is impossible for the other neighbour."""
    c = positive(fields, "trace_sensitivity") / (2 * positive(fields, "scale"))
    attained = discrete([(-c, math.exp(-c))], -math.expm1(-c))
    both = discrete([(0.0, math.exp(-c))], -math.expm1(-c), -math.expm1(-c))
    return _sides(attained if relation == "add_remove" else both, attained)


def _symmetrised_wishart(fields: Table, relation: str) -> Sides:
    """The nuclear norm over twice the scale, as for Laplace noise; below, two opposite orthants of outputs."""
    shift = positive(fields, "nuclear_sensitivity") / (2 * positive(fields, "scale"))
    dimension = fields["dimension"]
    if dimension == 1:
        return _sides(("laplace", shift))
    above = 2.0 ** (-dimension * (dimension + 1) / 2)
    below = above * math.exp(-shift)
    return _sides(("laplace", shift), discrete([(shift, above), (0.0, 1 - above - below), (-shift, below)]))


def _win_clock(fields: Table, relation: str) -> Sides:
    """Whether a counter has been called at all: the two neighbours are told apart for certain."""
    return _sides(discrete([], 1.0, 1.0))


def _removal_clock(fields: Table, relation: str) -> Sides:
    """Nothing is promised; attained is a loss without bound, of a probability known to be positive and no more."""
    return _sides(discrete([], 1.0, 1.0), discrete([(0.0, 1.0)], math.ulp(0.0), math.ulp(0.0)))


_ADDING_UP = {
    "discrete_laplace": "l1_sensitivity",
    "discrete_gaussian": "l2_sensitivity",
    "truncated_discrete_gaussian": "l2_sensitivity",
    "exponential": "epsilon",
}
_FURTHEST: dict[str, Callable[[Table], float]] = {
    "discrete_laplace": lambda fields: min(500 * fields["scale"], 10**5),
    "discrete_gaussian": lambda fields: 10 * fields["stddev"],
    "truncated_discrete_gaussian": lambda fields: math.inf,
    "exponential": lambda fields: 300,
}

_NAMES = tuple(form.removeprefix("name ") for form in TABLES["forms"] if form.startswith("name "))
_READERS: dict[str, Callable[[Table, str], Sides]] = {
    name: _integer_noise if name in LATTICE else globals()[f"_{name}"] for name in _NAMES
}
"""The function of each mechanism that has a form: it is called like the mechanism."""
