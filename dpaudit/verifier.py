"""An independent checker of certificates: JSON in, complaints out.

It imports nothing of what produced the certificate (the standard library, numpy and scipy only), reads the tree
from its JSON, folds it with its own code, and computes the privacy loss by other means than the engines: the
inverse Laplace transform of the moment generating function along a vertical line (Alghamdi et al., 2023), and
where that converges too slowly a grid of losses convolved directly. Its numbers are witnesses, not proofs: a
stated bound on the wrong side of a witness by more than the witness's own error is a complaint.

    verify(text) -> Verification          accepted, or the list of complaints
"""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

Table = dict[str, Any]
Loss = tuple[Any, ...]
Multiset = dict[Loss, int]

_KEYS = {
    "verdict", "reasons", "claim", "tight", "conditions", "findings", "declaration",
    "engines", "versions", "source_digest", "digest",
}  # fmt: skip
_OPTIONAL = {"printed", "slack"}
_ENGINES = {"gaussian", "basic", "verified", "pld", "renyi", "zcdp", "optimal"}
_MODELS = ("local", "central", "joint")
_SEQUENTIAL_RULES = {"basic", "advanced", "advanced_refined", "advanced_short", "optimal"}
_TOLERANCE = 1e-6
_LOOSE = 0.05
_FLOOR = 1e-13


class Rejection(Exception):  # noqa: N818  # it ends one check, and its text is the complaint
    """A complaint that makes further checks pointless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The outcome: accepted when there is no complaint; `notes` are remarks that reject nothing."""

    verdict: str
    complaints: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Return whether nothing was found against the certificate."""
        return not self.complaints


def verify(text: str) -> Verification:
    """Return what an independent reading finds against the certificate in `text`.

    Guarantee: an accepted certificate's digest matches, its tree folds to the stated brackets within the
    checker's accuracy, and its verdict, printed reading and slack follow from them.
    Edge cases: whatever cannot be re-derived (an unknown mechanism) is a complaint, never accepted.
    """
    try:
        data = json.loads(text)
        _require(isinstance(data, dict), "the certificate is no JSON object")
        complaints = _complaints(data)
    except Rejection as complaint:
        return Verification(verdict="unreadable", complaints=(str(complaint),))
    except (json.JSONDecodeError, RecursionError) as error:
        return Verification(verdict="unreadable", complaints=(f"the certificate is no JSON (truncated?): {error}",))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        return Verification(verdict="unreadable", complaints=(f"malformed: {type(error).__name__} {error}",))
    return Verification(verdict=str(data["verdict"]), complaints=tuple(complaints))


def _require(holds: object, complaint: str) -> None:
    """Stop with `complaint` unless it holds."""
    if not holds:
        raise Rejection(complaint)


def _number(value: Any, name: str) -> float:
    """Return a JSON number, or infinity for its string."""
    if value == "inf":
        return math.inf
    _require(isinstance(value, int | float) and not isinstance(value, bool), f"{name}={value!r} is no number")
    _require(not math.isnan(value), f"{name} is NaN")
    return float(value)


def _complaints(data: Table) -> list[str]:
    """Return all complaints about a parsed certificate."""
    _require(set(data) >= _KEYS, f"missing fields: {', '.join(sorted(_KEYS - set(data)))}")
    _require(set(data) <= _KEYS | _OPTIONAL, f"unknown fields: {', '.join(sorted(set(data) - _KEYS - _OPTIONAL))}")
    rest = {key: value for key, value in data.items() if key != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    _require(hashlib.sha256(canonical).hexdigest() == data["digest"], "the digest does not match the content")
    claim = _claim(data["claim"])
    upper, lower = _fold(data["declaration"], claim["neighbours"])
    found: list[str] = []
    found += _bracket_complaints(data["tight"], claim, _Worst(upper), _Worst(lower))
    found += _verdict_complaints(data, claim)
    found += _condition_complaints(data)
    found += _printed_complaints(data.get("printed"), data["declaration"], claim)
    found += _slack_complaints(data.get("slack"), data, claim)
    found += _formal_complaints(data)
    return found


def _claim(claim: Table) -> Table:
    """Return the claim after checking its ranges."""
    _require(
        set(claim) == {"epsilon", "delta", "neighbours", "model", "unit"}, "the claim's fields are not the five known"
    )
    _require(0 <= _number(claim["epsilon"], "epsilon") < math.inf, "the claimed epsilon is out of range")
    _require(0 <= _number(claim["delta"], "delta") < 1, "the claimed delta is out of range")
    _require(claim["neighbours"] in ("replace_one", "add_remove"), "unknown neighbours")
    _require(claim["model"] in _MODELS, "unknown model")
    _require(isinstance(claim["unit"], str) and bool(claim["unit"].strip()), "the unit is empty")
    return claim


# --- the tree, folded anew -----------------------------------------------------------------------------------------


def _fold(node: Table, relation: str) -> tuple[list[Multiset], list[Multiset]]:
    """Return alternatives (multisets of losses) that bound from above and from below."""
    kind = node["node"]
    if kind == "release":
        held = _mechanism(node["mechanism"], relation)
        return [held], [held]
    if kind == "stated":
        _require(bool(node["source"].strip()), "a stated part names no source")
        loss = ("approximate", _number(node["epsilon"], "epsilon"), _number(node.get("delta", 0.0), "delta"))
        _require(loss[1] >= 0 and 0 <= loss[2] < 1, "a stated part is out of range")
        return [{loss: 1}], [{}]
    if kind == "cells":
        return _fold_cells(node, relation)
    if kind in ("sequential", "parallel"):
        _require(len(node["parts"]) > 0, f"a {kind} node has no parts")
        _require(kind == "sequential" or bool(node["key"].strip()), "a parallel node has no key")
        folded = [_fold(part, relation) for part in node["parts"]]
        if kind == "parallel":
            return [a for up, _ in folded for a in up], [a for _, low in folded for a in low]
        up: Multiset = {}
        low: list[Multiset] = [{}]
        for part_up, part_low in folded:
            up = _plus(up, _joined(part_up))
            low = [_plus(a, b) for a in low for b in _distinct(part_low)]
        return [up], low
    up_part, low_part = _fold(node["part"], relation)
    if kind == "repeat":
        times = node["times"]
        _require(
            isinstance(times, int) and times >= 1, "a part is repeated a number of times that is no positive integer"
        )
        return [_times(_joined(up_part), times)], [_times(a, times) for a in low_part]
    if kind == "group":
        size = node["size"]
        _require(isinstance(size, int) and size >= 1, "a group has no positive size")
        return _fold_group(up_part, low_part, size)
    _require(kind in ("post_process", "billboard", "local"), f"unknown or unsupported node {kind!r}")
    return up_part, low_part


def _fold_cells(node: Table, relation: str) -> tuple[list[Multiset], list[Multiset]]:
    """A replaced record empties one cell and fills another, or stays; a removed one empties one."""
    touched_up, touched_low = _fold(node["touched"], "add_remove")
    if relation == "add_remove":
        return touched_up, touched_low
    up, low = _fold(node["inside"], relation)
    twice = _plus(_joined(touched_up), _reversed(_joined(touched_up)))
    return [*up, twice], [*low, *(_plus(a, _reversed(a)) for a in touched_low)]


def _fold_group(up: list[Multiset], low: list[Multiset], size: int) -> tuple[list[Multiset], list[Multiset]]:
    """Shifts grow with the group; a black box grows by the group property."""
    lower = [
        {_moved(loss, size) if loss[0] in ("gaussian", "laplace") else loss: n for loss, n in a.items()} for a in low
    ]
    if size == 1 or len(_distinct(up)) == 1 or all(loss[0] == "gaussian" for a in up for loss in a):
        return [{_moved(loss, size): n for loss, n in a.items()} for a in up], lower
    _require(not any(_infinite_mass(loss) for a in up for loss in a), "a group spreads over parts that can fail")
    whole = max(sum(_supremum(loss) * n for loss, n in a.items()) for a in up)
    return [{_moved(("approximate", whole, 0.0), size): 1}], lower


def _moved(loss: Loss, size: int) -> Loss:
    """Return the loss of `size` records changed together."""
    if loss[0] in ("gaussian", "laplace"):
        return (loss[0], loss[1] * size)
    epsilon = max(0.0, _supremum(loss), _supremum(_reverse(loss)))
    delta = max(_infinite_mass(loss), _infinite_mass(_reverse(loss)))
    growth = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon else size
    return ("approximate", size * epsilon, min(1.0, delta * growth))


def _mechanism(fields: Table, relation: str) -> Multiset:
    """Return the losses of one release from its published parameters."""
    name = fields["name"]
    _require(name in _MECHANISMS, f"mechanism {name!r} cannot be re-derived by this checker")
    _require(fields.get("neighbours", relation) == relation, f"{name}: its sensitivity is for other neighbours")
    return _MECHANISMS[name](fields, relation)


def _positive(fields: Table, key: str) -> float:
    """Return a positive finite parameter."""
    value = _number(fields[key], key)
    _require(0 < value < math.inf, f"{key}={value} is not positive")
    return value


def _tree(fields: Table, relation: str) -> Multiset:
    """A leaf lies in at most floor(log2 horizon) + 1 nodes."""
    horizon = fields["horizon"]
    _require(isinstance(horizon, int) and horizon >= 1, "a tree's horizon is no positive integer")
    return _times(_mechanism(fields["leaf"], relation), horizon.bit_length())


def _response(fields: Table, relation: str) -> Multiset:
    """Randomised response: the extreme pair of its epsilon; it exists under replacement only."""
    _require(relation == "replace_one", "randomised response is stated for other neighbours than replace_one")
    return {("approximate", _positive(fields, "epsilon"), 0.0): 1}


_MECHANISMS: dict[str, Callable[[Table, str], Multiset]] = {
    "gaussian": lambda f, r: {("gaussian", _positive(f, "l2_sensitivity") / _positive(f, "stddev")): 1},
    "laplace": lambda f, r: {("laplace", _positive(f, "l1_sensitivity") / _positive(f, "scale")): 1},
    "randomised_response": _response,
    "tree_aggregation": _tree,
}


# --- multisets of losses -------------------------------------------------------------------------------------------


def _plus(a: Multiset, b: Multiset) -> Multiset:
    """Return the sum of two multisets."""
    return {loss: a.get(loss, 0) + b.get(loss, 0) for loss in a | b}


def _times(a: Multiset, times: int) -> Multiset:
    """Return `times` copies of a multiset."""
    return {loss: n * times for loss, n in a.items()}


def _distinct(alternatives: list[Multiset]) -> list[Multiset]:
    """Return alternatives without repetition."""
    return [a for i, a in enumerate(alternatives) if a not in alternatives[:i]]


def _joined(alternatives: list[Multiset]) -> Multiset:
    """Return one multiset that dominates every alternative, however it is picked."""
    distinct = _distinct(alternatives)
    if all(len(a) == 1 for a in distinct):
        kinds = {next(iter(a))[0] for a in distinct}
        if kinds == {"gaussian"}:
            return max(distinct, key=lambda a: next((loss[1] ** 2 * n for loss, n in a.items()), 0.0))
        if kinds == {"laplace"} and len({n for a in distinct for n in a.values()}) == 1:
            return max(distinct, key=lambda a: next(iter(a))[1])
    joined: Multiset = {}
    for alternative in distinct:
        joined = {loss: max(joined.get(loss, 0), alternative.get(loss, 0)) for loss in joined | alternative}
    return joined


def _reverse(loss: Loss) -> Loss:
    """Return the loss read from the other neighbour."""
    if loss[0] != "discrete":
        return loss
    _, atoms, infinite, other = loss
    return ("discrete", tuple(sorted((-v, p * math.exp(-v)) for v, p in atoms)), other, infinite)


def _reversed(a: Multiset) -> Multiset:
    """Return the multiset of reversed losses."""
    return {_reverse(loss): n for loss, n in a.items()}


def _supremum(loss: Loss) -> float:
    """Return the largest finite loss."""
    if loss[0] == "gaussian":
        return math.inf if loss[1] > 0 else 0.0
    return max((v for v, _ in loss[1]), default=0.0) if loss[0] == "discrete" else loss[1]


def _infinite_mass(loss: Loss) -> float:
    """Return the probability of an output that the other neighbour cannot produce."""
    return loss[2] if loss[0] in ("approximate", "discrete") else 0.0


# --- the privacy curve, computed anew ------------------------------------------------------------------------------


class _Curve:
    """delta(epsilon) of one multiset in order (P, Q), with a relative error for each value."""

    def __init__(self, losses: Multiset) -> None:
        self.certain = any(_infinite_mass(loss) == 1 for loss in losses)
        logs = (n * math.log1p(-_infinite_mass(loss)) for loss, n in losses.items() if _infinite_mass(loss) < 1)
        self.survival = math.exp(math.fsum(logs))
        self.finite = {loss: n for loss, n in losses.items() if _supremum(loss) > 0 or loss[0] == "discrete"}
        self.supremum = math.fsum(n * _supremum(loss) for loss, n in self.finite.items())
        self.grid: tuple[np.ndarray, np.ndarray, float] | None = None

    def __call__(self, epsilon: float) -> tuple[float, float]:
        """Return delta(epsilon) and the relative error of this witness."""
        if self.certain:
            return 1.0, 1e-12
        if not self.finite or self.supremum <= epsilon:
            return 1 - self.survival, 1e-12
        if all(loss[0] == "gaussian" for loss in self.finite):
            mu = math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in self.finite.items()))
            part, error = float(_many_curve(("gaussian", mu), np.array([epsilon]))[0]), 1e-9
        else:
            part, error = (None if self.grid else _contour(self.finite, epsilon)) or self._from_grid(epsilon)
        return (1 - self.survival) + self.survival * part, error

    def _from_grid(self, epsilon: float) -> tuple[float, float]:
        """Return the value that convolution on a grid gives, computing the grid once."""
        self.grid = self.grid or _grid(self.finite)
        losses, masses, infinite = self.grid
        held = losses > epsilon
        return infinite + float(np.sum(masses[held] * -np.expm1(epsilon - losses[held]))), 1e-4


class _Worst:
    """The largest delta(epsilon) over alternatives and both orders of the neighbours."""

    def __init__(self, alternatives: list[Multiset]) -> None:
        orders = _distinct([order for a in alternatives for order in (a, _reversed(a))])
        self.curves = [_Curve(a) for a in orders]

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return the largest value of the curves at `epsilon`, and its relative error."""
        return max((curve(epsilon) for curve in self.curves), key=lambda pair: pair[0])

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return the smallest epsilon with delta(epsilon) <= delta, and its relative error."""
        supremum = max(curve.supremum for curve in self.curves)
        if delta == 0:
            floor = max(1.0 if curve.certain else 1 - curve.survival for curve in self.curves)
            return (math.inf if floor > 0 else supremum), 1e-12
        room = 1e-12 * delta
        if self.delta(0.0)[0] <= delta + room:
            return 0.0, 1e-12
        low, high = 0.0, 1.0
        while self.delta(high)[0] > delta + room:
            low, high = high, 2 * high
            if high > 1e9:
                return math.inf, 1e-12
        while high - low > 1e-10 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle)[0] <= delta + room else (middle, high)
        return high, max(self.delta(high)[1], 1e-9)


def _log_moment(loss: Loss, s: Any) -> Any:
    """Return ln E_P[e^(s L)] for complex s."""
    if loss[0] == "gaussian":
        return loss[1] ** 2 / 2 * s * (1 + s)
    if loss[0] == "laplace":
        x = loss[1]
        return s * x + np.log((s + 1) / (2 * s + 1) + s / (2 * s + 1) * np.exp(-(1 + 2 * s) * x))
    if loss[0] == "approximate":
        e = loss[1]
        return s * e + np.log1p(np.exp(-(1 + 2 * s) * e)) - np.log1p(np.exp(-e))
    atoms = [(v, p / (1 - loss[2])) for v, p in loss[1]]
    top = max(v for v, _ in atoms)
    return s * top + np.log(sum(p * np.exp(s * (v - top)) for v, p in atoms))


def _contour(a: Multiset, epsilon: float) -> tuple[float, float] | None:
    """Invert the transform M(s) e^(-s epsilon) / (s (s + 1)) on the line through its saddle point.

    Returns None where the integrand decays too slowly (few events with atoms). Alghamdi et al. (2023), Theorem 3.1.
    """

    def log_integrand(s: Any) -> Any:
        total = -s * epsilon - np.log(s) - np.log(s + 1)
        for loss, n in a.items():
            total = total + n * _log_moment(loss, s)
        return total

    grid = np.exp(np.linspace(-14, 14, 4001))
    centre = grid[int(np.argmin(np.real(log_integrand(grid + 0j))))]
    peak = float(np.real(log_integrand(np.array([centre + 0j])))[0])
    step = centre * 1e-3
    bend = (
        float(np.real(log_integrand(np.array([centre + step + 0j])))[0])
        + float(np.real(log_integrand(np.array([centre - step + 0j])))[0])
        - 2 * peak
    ) / step**2
    width = 1 / math.sqrt(max(bend, 1e-30))
    for reach in (12, 40, 160, 640):
        t = np.linspace(0, reach * width, reach * 256 + 1)
        values = np.real(np.exp(log_integrand(centre + 1j * t) - peak))
        if np.max(np.abs(values[-64:])) < 1e-14:
            integral = (values.sum() - values[0] / 2) * (t[1] - t[0]) / math.pi
            return float(integral * math.exp(min(700.0, peak))), 1e-8
    return None


def _grid(a: Multiset) -> tuple[np.ndarray, np.ndarray, float]:
    """Convolve losses on a grid whose masses keep the curve at every grid point (connecting the dots).

    Returns losses, masses and the mass at infinity. The excess is of second order in the step.
    Doroshenko et al. (2022), Section 4.
    """
    width = math.fsum(n * _reach(loss) for loss, n in a.items())
    step = max(width / 2**18, 1e-7)
    masses, low, infinite = np.array([1.0]), 0, 0.0
    for loss, times in a.items():
        part, start, lost = _dots(loss, step)
        infinite += times * lost
        left = times
        while left:
            if left & 1:
                masses, low = _convolve(masses, part), low + start
            left >>= 1
            if left:
                part, start = _convolve(part, part), 2 * start
    return (low + np.arange(len(masses))) * step, masses, infinite


def _reach(loss: Loss) -> float:
    """Return how far a loss extends on the grid; Gaussian tails are cut at fourteen deviations."""
    return loss[1] ** 2 / 2 + 14 * loss[1] if loss[0] == "gaussian" else max(_supremum(loss), _supremum(_reverse(loss)))


def _dots(loss: Loss, step: float) -> tuple[np.ndarray, int, float]:
    """Return masses on the grid, the index of the first, and the mass at infinity."""
    high = math.ceil(_reach(loss) / step) + 1
    curve = _many_curve(loss, np.arange(-high, high + 1) * step)
    drop = np.diff(curve)
    left = np.concatenate(([1 - curve[0]], drop / np.expm1(-step)))
    right = np.concatenate((drop / np.expm1(step), [0.0]))
    return np.maximum(left + right, 0.0), -high, float(max(curve[-1], 0.0))


def _many_curve(loss: Loss, epsilon: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of one loss with its mass at infinity taken out, for an array of epsilons."""
    if loss[0] == "gaussian":
        mu = loss[1]
        a, b = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return np.asarray(-np.expm1(np.minimum(0.0, b - a)) * np.exp(a))
    if loss[0] == "laplace":
        x = loss[1]
        inner = np.where(epsilon <= -x, -np.expm1(np.minimum(epsilon, 0.0)), -np.expm1((epsilon - x) / 2))
        return np.where(epsilon >= x, 0.0, inner)
    pairs = loss[1] if loss[0] == "discrete" else _response_atoms(loss[1])
    kept = 1 - _infinite_mass(loss) if loss[0] == "discrete" else 1.0
    values: np.ndarray = np.zeros_like(epsilon)
    for v, p in pairs:
        values = values + np.where(v > epsilon, -np.expm1(np.minimum(0.0, epsilon - v)) * p / kept, 0.0)
    return values


def _response_atoms(epsilon: float) -> tuple[tuple[float, float], ...]:
    """Return the two atoms of randomised response."""
    truth = 1 / (1 + math.exp(-epsilon))
    return (epsilon, truth), (-epsilon, 1 - truth)


def _convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the convolution of two mass vectors."""
    size = len(a) + len(b) - 1
    if min(len(a), len(b)) < 64:
        return np.convolve(a, b)
    n = 1 << (size - 1).bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(a, n) * np.fft.rfft(b, n), n)[:size], 0.0)


# --- what follows from the numbers ---------------------------------------------------------------------------------


def _bracket_complaints(tight: Table, claim: Table, upper: _Worst, lower: _Worst) -> list[str]:
    """Compare the stated brackets with the witnesses: on the right side, and not implausibly wide."""
    _require(set(tight) == {"epsilon", "delta"}, "the brackets are not of epsilon and delta")
    _require(all(set(tight[key]) == {"lower", "upper"} for key in tight), "a bracket has no two ends")
    below = {"delta": lower.delta(claim["epsilon"]), "epsilon": lower.epsilon(claim["delta"])}
    above = {"delta": upper.delta(claim["epsilon"]), "epsilon": upper.epsilon(claim["delta"])}
    return [text for key in tight for text in _side(key, tight[key], below[key], above[key])]


def _side(name: str, stated: Table, below: tuple[float, float], above: tuple[float, float]) -> list[str]:
    """Return complaints where a witness lies outside a stated bracket, or the bracket far from the witness."""
    low, high = _number(stated["lower"], name), _number(stated["upper"], name)
    if not 0 <= low <= high:
        return [f"the bracket of {name} is empty or negative: [{low}, {high}]"]
    found: list[str] = []
    for side, end, (witness, error) in (("lower", low, below), ("upper", high, above)):
        near, far = max(error, _TOLERANCE), max(4 * error, _LOOSE)
        inward = end > witness * (1 + near) + _FLOOR if side == "lower" else end < witness * (1 - near) - _FLOOR
        outward = end < witness * (1 - far) - _FLOOR if side == "lower" else end > witness * (1 + far) + _FLOOR
        if inward:
            found.append(f"the {side} bound on {name}, {end:.9g}, is on the wrong side of the re-derived {witness:.9g}")
        if outward:
            found.append(f"the {side} bound on {name}, {end:.9g}, is far from the re-derived {witness:.9g}")
    return found


def _model(node: Table) -> str:
    """Return the view that a tree protects."""
    if node["node"] in ("local", "billboard"):
        return "local" if node["node"] == "local" else "joint"
    below = _children(node)
    return max((_model(child) for child in below), key=_MODELS.index) if below else "central"


def _children(node: Table) -> list[Table]:
    """Return the parts of a node."""
    return [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]


def _walk(node: Table) -> list[Table]:
    """Return all nodes, parents first."""
    return [node, *(below for child in _children(node) for below in _walk(child))]


def _covers(model: str, claim: Table) -> bool:
    """Return whether a proof for `model` carries over to the claim's."""
    if model == "local" and claim["model"] != "local" and claim["neighbours"] != "replace_one":
        return False
    return _MODELS.index(model) <= _MODELS.index(claim["model"])


def _verdict_complaints(data: Table, claim: Table) -> list[str]:
    """Derive the verdict from the brackets, the model, the conditions and the findings."""
    ends = {key: {side: _number(value, side) for side, value in data["tight"][key].items()} for key in data["tight"]}
    refuted = ends["delta"]["lower"] > claim["delta"] or ends["epsilon"]["lower"] > claim["epsilon"]
    met = ends["delta"]["upper"] <= claim["delta"] or ends["epsilon"]["upper"] <= claim["epsilon"]
    sound = _covers(_model(data["declaration"]), claim) and not data["findings"]
    sound = sound and all(condition["status"] != "violated" for condition in data["conditions"])
    verdict = "refuted" if refuted else "certified" if met and sound else "not_proved"
    if data["verdict"] != verdict:
        return [f"the verdict {data['verdict']!r} does not follow; the evidence says {verdict!r}"]
    return []


def _condition_complaints(data: Table) -> list[str]:
    """Every side-condition the tree brings is listed, by the words that the tree itself contains."""
    texts = [condition["text"] for condition in data["conditions"]]
    statuses = {condition["status"] for condition in data["conditions"]}
    found = [f"unknown status {status!r}" for status in statuses - {"checked", "assumed", "violated"}]
    for node in _walk(data["declaration"]):
        words = [
            word for key in ("key", "source", "reads", "steps", "size") for word in np.atleast_1d(node.get(key, []))
        ]
        found += [f"no condition speaks of {word!r}" for word in words if not any(str(word) in text for text in texts)]
    if any(node["node"] == "release" for node in _walk(data["declaration"])):
        needed = ("sensitivity", "fresh noise", "loating-point")
        found += [f"no condition speaks of {word!r}" for word in needed if not any(word in text for text in texts)]
    return found


def _printed_complaints(printed: Table | None, tree: Table, claim: Table) -> list[str]:
    """The printed reading is there if the tree carries one, ends at its root's budget, and is valid if flawless."""
    annotated = any("printed" in node for node in _walk(tree))
    if printed is None or not annotated:
        return [] if (printed is None) == (not annotated) else ["the printed reading is missing or has no basis"]
    found: list[str] = []
    root = tree.get("printed")
    if root is not None and (root["epsilon"], root.get("delta", 0.0)) != (printed["epsilon"], printed["delta"]):
        found.append("the printed reading does not end at the budget printed on the root")
    if printed["valid"] != (not printed["problems"]):
        found.append("the printed reading's validity contradicts its list of problems")
    broken = [node for node in _walk(tree) if "printed" in node and _breaks(node)]
    reaches = printed["epsilon"] <= claim["epsilon"] * (1 + 1e-9) and printed["delta"] <= claim["delta"] * (1 + 1e-9)
    if printed["valid"] and (broken or not reaches):
        found.append("the printed reading is called valid, but a step of it does not hold")
    if not printed["valid"] and not broken and reaches:
        found.append("the printed reading is called invalid, but no step of it fails")
    return found


def _budget(node: Table) -> tuple[float, float]:
    """Return the budget printed on a node, or implied by its parts."""
    if "printed" in node:
        return _number(node["printed"]["epsilon"], "epsilon"), _number(node["printed"].get("delta", 0.0), "delta")
    if node["node"] == "stated":
        return node["epsilon"], node.get("delta", 0.0)
    held = [_budget(child) for child in _children(node)]
    if not held:
        return math.inf, 0.0
    if node["node"] == "parallel":
        return max(e for e, _ in held), max(d for _, d in held)
    times = node.get("times", 1)
    return times * math.fsum(e for e, _ in held), times * math.fsum(d for _, d in held)


def _breaks(node: Table) -> bool:
    """Return whether one printed step does not follow by its own rule."""
    rule, epsilon, delta = node["printed"]["rule"], *_budget(node)
    parts = [_budget(child) for child in _children(node)]
    times = node.get("times", 1)
    events, slots = times * len(parts), node["printed"].get("slots", times * len(parts))
    e, d = max((b[0] for b in parts), default=0.0), max((b[1] for b in parts), default=0.0)
    enough = 1 + 1e-9
    if rule == "classic_gaussian":
        fields = node.get("mechanism", {})
        if fields.get("name") != "gaussian":
            return True
        need = (
            fields["l2_sensitivity"] * math.sqrt(2 * math.log(1.25 / delta)) / fields["stddev"] if delta else math.inf
        )
        return bool(need > epsilon * enough or epsilon >= 1)
    if rule == "basic":
        equal = "slots" in node["printed"]
        total = slots * e if equal else times * math.fsum(b[0] for b in parts)
        spent = slots * d if equal else times * math.fsum(b[1] for b in parts)
        return bool(total > epsilon * enough or spent > delta * enough or events > slots * (1 + 1e-12))
    if rule in ("advanced", "advanced_refined"):
        spare = delta - slots * d
        drift = math.expm1(e) if rule == "advanced" else math.tanh(e / 2)
        total = e * math.sqrt(2 * slots * math.log(1 / spare)) + slots * e * drift if spare > 0 else math.inf
        return bool(total > epsilon * enough)
    if rule == "advanced_short":
        total = e * math.sqrt(8 * slots * math.log(2 / delta)) if delta else math.inf
        return bool(total > epsilon * enough or epsilon > 1 or 2 * slots * d > delta * enough)
    if rule in ("parallel", "post_processing", "billboard", "local"):
        wrong = rule in ("billboard", "local") and node["node"] != rule
        return bool(wrong or e > epsilon * enough or d > delta * enough)
    if rule == "group":
        growth = math.expm1(node["size"] * e) / math.expm1(e) if e else node["size"]
        return bool(node["size"] * e > epsilon * enough or d * growth > delta * enough)
    if node["node"] == "release":
        held = _mechanism(node["mechanism"], node["mechanism"].get("neighbours", "replace_one"))
        return _Worst([held]).delta(epsilon * enough)[0] > delta * enough + _FLOOR
    raise Rejection(f"the printed rule {rule!r} cannot be re-derived by this checker")


def _slack_complaints(slack: Table | None, data: Table, claim: Table) -> list[str]:
    """Ratios follow from claim, brackets and noise; factors multiply to them."""
    if slack is None:
        return []
    found: list[str] = []
    tight = _number(data["tight"]["epsilon"]["upper"], "upper")
    ratio, noise = _number(slack["epsilon_ratio"], "epsilon_ratio"), _number(slack["noise_ratio"], "noise_ratio")
    expected = claim["epsilon"] / tight if tight else math.inf
    if not math.isclose(ratio, expected, rel_tol=_TOLERANCE):
        found.append(f"the epsilon ratio {ratio:.9g} is not claim over proved, {expected:.9g}")
    for key, whole in (("factor", ratio), ("noise_factor", noise)):
        product = math.prod(_number(factor[key], key) for factor in slack["factors"])
        if not math.isclose(product, whole, rel_tol=_TOLERANCE):
            found.append(f"the factors ({key}) multiply to {product:.9g}, not to {whole:.9g}")
    found += [
        f"the sentence on {factor['name']!r} does not state its factor"
        for factor in slack["factors"]
        if f"{_number(factor['noise_factor'], 'factor'):.2f}" not in factor["sentence"]
    ]
    if noise > 0:
        upper, _ = _fold(_rescaled(data["declaration"], 1 / noise), claim["neighbours"])
        delta, error = _Worst(upper).delta(claim["epsilon"])
        if abs(delta - claim["delta"]) > claim["delta"] * max(1e-3, 4 * error) + 1e-13:
            found.append(f"with 1/{noise:.9g} of the noise delta is {delta:.6g}, not the claimed {claim['delta']:g}")
    return found


_NOISE_FIELDS = {"gaussian": ("stddev", 1), "laplace": ("scale", 1), "randomised_response": ("epsilon", -1)}


def _rescaled(node: Any, factor: float) -> Any:
    """Return the tree with the noise of every mechanism scaled."""
    if isinstance(node, list):
        return [_rescaled(item, factor) for item in node]
    if not isinstance(node, dict):
        return node
    changed = {key: value if key == "printed" else _rescaled(value, factor) for key, value in node.items()}
    if node.get("name") in _NOISE_FIELDS:
        field, power = _NOISE_FIELDS[node["name"]]
        changed[field] = node[field] * factor**power
    return changed


def _formal_complaints(data: Table) -> list[str]:
    """Fields that no number depends on still have their form."""
    found: list[str] = []
    if not data["reasons"] or not all(isinstance(reason, str) and reason for reason in data["reasons"]):
        found.append("the verdict has no reasons")
    if not data["engines"] or not set(data["engines"]) <= _ENGINES:
        found.append(f"unknown engines: {data['engines']}")
    digest = data["source_digest"]
    if not (isinstance(digest, str) and len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
        found.append("the source digest is no SHA-256")
    if not {"python", "dpaudit"} <= set(data["versions"]):
        found.append("the versions do not name Python and dpaudit")
    return found
