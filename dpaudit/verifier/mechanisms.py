"""The loss of one release from a mechanism's published parameters: (from above, from below)."""

import math
from collections.abc import Callable

from dpaudit.verifier.losses import Loss, Multiset, times
from dpaudit.verifier.reading import Table, positive, require, whole

Sides = tuple[Multiset, Multiset]


def sides_of(fields: Table, relation: str) -> Sides:
    """Return what bounds one release from above and what some pair attains; equal where the loss is exact."""
    name = fields["name"]
    require(name in _READERS, f"mechanism {name!r} cannot be derived again by this checker")
    require(fields.get("neighbours", relation) == relation, f"{name}: its sensitivity is for other neighbours")
    return _READERS[name](fields, relation)


def _exact(loss: Loss) -> Sides:
    """Return a loss known from both sides."""
    return {loss: 1}, {loss: 1}


def _discrete(atoms: list[tuple[float, float]], infinite: float = 0.0, other: float = 0.0) -> Loss:
    """Return a discrete loss with sorted atoms."""
    return ("discrete", tuple(sorted(atoms)), infinite, other)


def _symmetric_gaussian(fields: Table, relation: str) -> Sides:
    """(G + G^T)/sqrt(2) has sqrt(2) times the effective noise; the other two symmetrisations keep it."""
    symmetry = fields.get("symmetry", "half")
    require(symmetry in ("half", "mirror", "sqrt2"), f"unknown symmetry {symmetry!r}")
    gain = math.sqrt(2) if symmetry == "sqrt2" else 1.0
    return _exact(("gaussian", positive(fields, "l2_sensitivity") / (gain * positive(fields, "stddev"))))


def _joint_gaussian(fields: Table, relation: str) -> Sides:
    """A Gram matrix and a target vector: the worst angle between the features of a replaced pair."""
    bound, target = positive(fields, "feature_bound"), positive(fields, "target_bound")
    matrix = (bound**2 / positive(fields, "matrix_stddev")) ** 2
    vector = (bound * target / positive(fields, "vector_stddev")) ** 2
    cosine = -min(1.0, vector / matrix / 2)
    square = 2 * matrix * (1 - cosine**2) + 2 * vector * (1 - cosine)
    return _exact(("gaussian", math.sqrt(matrix + vector if relation == "add_remove" else square)))


def _tree(fields: Table, relation: str) -> Sides:
    """A leaf lies in at most floor(log2 horizon) + 1 nodes; an add and a later removal part on two paths."""
    horizon, signs = whole(fields, "horizon"), tuple(fields.get("signs", (1,)))
    require(fields.get("separation", 1) == 1 and signs in ((1,), (1, -1)), "a tree's schedule cannot be derived again")
    upper, lower = sides_of(fields["leaf"], relation)
    nodes = horizon.bit_length() if signs == (1,) else _parted_paths(horizon)
    return times(upper, nodes), times(lower, nodes)


def _parted_paths(horizon: int) -> int:
    """Return the most nodes that hold one of two leaves but not both: the diameter of the tree of nodes.

    The nodes that hold leaf n are n, then n plus its lowest bit, and so on up to the horizon.
    """
    require(horizon <= 10**6, "a tree with removals beyond 10^6 leaves cannot be derived again by this checker")
    deepest, best = [0] * (horizon + 1), 0
    for node in range(1, horizon + 1):
        parent = node + (node & -node) if node + (node & -node) <= horizon else 0
        best = max(best, deepest[parent] + deepest[node] + 1)
        deepest[parent] = max(deepest[parent], deepest[node] + 1)
    return best


def _response(fields: Table, relation: str) -> Sides:
    """Randomised response exists under replacement only."""
    require(relation == "replace_one", "randomised response is stated for other neighbours than replace_one")
    epsilon, others = positive(fields, "epsilon"), fields.get("categories", 2) - 1
    require(isinstance(others, int) and others >= 1, "randomised response needs two categories or more")
    if others == 1:
        return _exact(("approximate", epsilon, 0.0))
    truth = 1 / (1 + others * math.exp(-epsilon))
    lie = truth * math.exp(-epsilon)
    return _exact(_discrete([(epsilon, truth), (0.0, (others - 1) * lie), (-epsilon, lie)]))


def _discrete_laplace(fields: Table, relation: str) -> Sides:
    """Two-sided geometric noise against itself moved by a whole distance."""
    distance, scale = whole(fields, "l1_sensitivity"), positive(fields, "scale")
    ratio = math.exp(-1 / scale)
    tail, inside = 1 / (1 + ratio), (1 - ratio) / (1 + ratio)
    atoms = [((2 * k - distance) / scale, inside * ratio ** (distance - k)) for k in range(1, distance)]
    return _exact(_discrete([*atoms, (distance / scale, tail), (-distance / scale, tail * ratio**distance)]))


def _exponential(fields: Table, relation: str) -> Sides:
    """Bounded range: the envelope (e^(eps/2) - e^(e/2))^2 / (e^eps - 1) above, two even candidates below."""
    epsilon, steps = positive(fields, "epsilon"), 1000
    points = [epsilon * i / steps for i in range(-steps, steps + 1)]
    curve = [(math.exp(epsilon / 2) - math.exp(e / 2)) ** 2 / math.expm1(epsilon) for e in points]
    curve[0] = -math.expm1(-epsilon)
    left, right = math.expm1(-epsilon / steps), math.expm1(epsilon / steps)
    masses = [0.0] * len(points)
    for i in range(len(points)):
        masses[i] += 1 - curve[0] if i == 0 else (curve[i] - curve[i - 1]) / left
        masses[i] += (curve[i + 1] - curve[i]) / right if i + 1 < len(points) else 0.0
    return {_discrete(list(zip(points, masses, strict=True))): 1}, {("approximate", epsilon / 2, 0.0): 1}


def _noisy_max(fields: Table, relation: str) -> Sides:
    """Twice the shift from above; two candidates that swap places from below."""
    gap = positive(fields, "linf_sensitivity") / positive(fields, "scale")
    behind = 0.5 * math.exp(-gap) * (1 + gap / 2)
    return {("laplace", 2 * gap): 1}, {("approximate", math.log1p(-behind) - math.log(behind), 0.0): 1}


def _one_sided_wishart(fields: Table, relation: str) -> Sides:
    """Noise on a cone: an output outside it is impossible for the other neighbour."""
    c = positive(fields, "trace_sensitivity") / (2 * positive(fields, "scale"))
    attained = _discrete([(-c, math.exp(-c))], -math.expm1(-c))
    if relation == "add_remove":
        return _exact(attained)
    return {_discrete([(0.0, math.exp(-c))], -math.expm1(-c), -math.expm1(-c)): 1}, {attained: 1}


def _symmetrised_wishart(fields: Table, relation: str) -> Sides:
    """The nuclear norm over twice the scale, as for Laplace noise; below, one orthant of outputs."""
    shift = positive(fields, "nuclear_sensitivity") / (2 * positive(fields, "scale"))
    dimension = whole(fields, "dimension")
    if dimension == 1:
        return _exact(("laplace", shift))
    above = 2.0 ** (-dimension * (dimension + 1) / 2)
    otherwise = math.log1p(-above) - math.log1p(-above * math.exp(-shift))
    return {("laplace", shift): 1}, {_discrete([(shift, above), (otherwise, 1 - above)]): 1}


_READERS: dict[str, Callable[[Table, str], Sides]] = {
    "gaussian": lambda f, r: _exact(("gaussian", positive(f, "l2_sensitivity") / positive(f, "stddev"))),
    "laplace": lambda f, r: _exact(("laplace", positive(f, "l1_sensitivity") / positive(f, "scale"))),
    "randomised_response": _response,
    "tree_aggregation": _tree,
    "symmetric_gaussian": _symmetric_gaussian,
    "joint_gaussian": _joint_gaussian,
    "discrete_laplace": _discrete_laplace,
    "exponential": _exponential,
    "report_noisy_max": _noisy_max,
    "one_sided_wishart": _one_sided_wishart,
    "symmetrised_wishart": _symmetrised_wishart,
}

NOISE: dict[str, tuple[tuple[str, ...], int]] = {
    "gaussian": (("stddev",), 1),
    "laplace": (("scale",), 1),
    "randomised_response": (("epsilon",), -1),
    "symmetric_gaussian": (("stddev",), 1),
    "joint_gaussian": (("matrix_stddev", "vector_stddev"), 1),
    "discrete_laplace": (("scale",), 1),
    "exponential": (("epsilon",), -1),
    "report_noisy_max": (("scale",), 1),
    "one_sided_wishart": (("scale",), 1),
    "symmetrised_wishart": (("scale",), 1),
}
"""Which fields hold a mechanism's noise, and the power with which they grow with it."""
