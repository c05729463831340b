"""The ends of a claim in rho, mu, Renyi divergences or points of a profile, compared with this checker's own bounds."""

from collections import Counter

from dpaudit.verifier.losses import Multiset, reverse
from dpaudit.verifier.measured.divergences import OPEN, between, unmixed
from dpaudit.verifier.measured.squares import beyond, squares_of
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.proof.rules import above as upper_side
from dpaudit.verifier.refusals import Table
from dpaudit.verifier.shape import walk
from dpaudit.verifier.stated_ends import LEFT_OPEN, Outcome
from dpaudit.verifier.verdicts import name_at, points_of, without_word

_BROKEN = 1.05  # relative: a number so far above the claimed one that is attained should be told
_CURVES = {"subsample", "allocate", "shuffle", "best_of"}  # nodes whose rules read curves, not divergences alone
_HELD = ("mechanism", "leaf", "inside", "touched", "part")  # where a node or a mechanism holds one other


def points_compared(data: Table, rows: list[Row], attained: list[Multiset]) -> Outcome:
    """Compare every stated end, and what is said to be proved without the parts on trust, with bounds of this checker.

    An end is confirmed on its safe side of the bracket alone, or of the exact ratio where all losses have one, be it of
    releases whose sample or step is known; one that meets no claim need be true. Where some pair is not known to attain
    anything, a lower end beyond the others is open.
    """
    measure, outcome = data["claim"]["measure"], Outcome()
    normal = _gaussian(data["declaration"])
    above, squares = _by_pairs(rows, data["declaration"], measure), squares_of(rows, normal)
    unmixed_ways, every = [unmixed(way) for way in above], all(attained) and any(attained)
    known_draws = [unmixed(way) for way in upper_side(rows, normal)] if measure in ("rho", "renyi") else []
    for at, claimed, low, high in points_of(data):
        bracket, shown = between(measure, at, above), between(measure, at, attained) if any(attained) else OPEN
        if data["verdict"] != "refuted" and shown[0] > claimed * _BROKEN:
            outcome = outcome.joined(Outcome((), (LEFT_OPEN,)))
        offs = zip(above, beyond(measure, at, high, unmixed_ways, squares), strict=True)
        proved = bracket[1] <= high or all(off <= 0 or between(measure, at, [way])[1] <= high for way, off in offs)
        proved |= bool(known_draws) and all(off <= 0 for off in beyond(measure, at, high, known_draws, squares))
        attains = low <= shown[0] or any(off >= 0 for off in beyond(measure, at, low, attained, squares))
        ends = (
            ("upper", high, high < shown[0], "below", low <= claimed and not proved, bracket[1]),
            ("lower", low, every and low > shown[1], "above", not (attains or (every and low <= claimed)), shown[0]),
        )
        for side, end, wrong, where, is_open, own in ends:
            said = f"the {side} bound on {name_at(data, at)}, {end:.9g}, is"
            if wrong:
                outcome = outcome.joined(Outcome((f"{said} {where} what a pair attains",)))
            elif is_open:
                outcome = outcome.joined(Outcome((), (f"{said} not confirmed: this checker proves {own:.9g}",)))
    if (stated := data.get("trust", {}).get("proved")) is None:
        return outcome
    at, ways = points_of(data)[0].at, upper_side(rows, without_word(data["declaration"]))
    exact = all(off <= 0 for off in beyond(measure, at, float(stated), ways, squares))
    if exact or float(stated) >= between(measure, at, ways)[1]:
        return outcome
    return outcome.joined(Outcome((), ("what is proved without the stated parts is not confirmed",)))


def _by_pairs(rows: list[Row], tree: Table, measure: str) -> list[Multiset]:
    """Return what bounds a tree from above in a measure, where divergences know more than the curve of both orders.

    Discrete Gaussian noise has at most the Renyi divergences of Gaussian noise, which is proved of releases, not of
    samples and not of curves, by which the best of many runs is bounded. A table in either order costs the larger one
    of its divergences, not that of the larger curve.
    Source: Canonne, Kamath and Steinke (2020), Theorem 4.
    """
    if measure not in ("rho", "renyi") or {node["node"] for node in walk(tree)} & _CURVES:
        return upper_side(rows, tree)
    normal = _gaussian(tree)
    tables = [
        node["mechanism"]
        for node in walk(normal)
        if node["node"] == "release" and node["mechanism"]["name"] == "finite"
    ]
    sides = [sides_of(fields, fields.get("neighbours", "replace_one")) for fields in tables]
    orders = {next(iter(upper)): frozenset({*lower, *map(reverse, lower)}) for upper, lower in sides if upper != lower}
    return [
        Counter({(("choice", orders[loss]) if loss in orders else loss): n for loss, n in alternative.items()})
        for alternative in upper_side(rows, normal)
    ]


def _gaussian(fields: Table) -> Table:
    """Return a node or a mechanism with Gaussian noise in the place of discrete Gaussian noise, down to its leaves."""
    replaced: Table = {key: _gaussian(fields[key]) for key in _HELD if isinstance(fields.get(key), dict)}
    if "parts" in fields:
        replaced["parts"] = [_gaussian(part) for part in fields["parts"]]
    if fields.get("name") == "discrete_gaussian":
        replaced["name"] = "gaussian"
    return fields | replaced
