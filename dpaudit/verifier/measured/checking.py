"""A certificate in its own measure, derived again: its form, its ends, its verdict and its reasons."""

import math
from collections import Counter
from typing import Any

from dpaudit.verifier.losses import Multiset, reverse
from dpaudit.verifier.measured.bounds import Bounds, added, apart, between, lost
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.numerics.decimals import above, below, full
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.proof.rules import above as upper_side
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import TABLES, walk
from dpaudit.verifier.stated_ends import Outcome
from dpaudit.verifier.verdicts import covers, model, pair_sentence, sources, without_word

_AT = {"renyi": "order", "profile": "epsilon"}
_NARROW, _SHARE = 1e-6, 1e-9  # of a bracket inside which an end is not decided; of the share on trust
_INFINITE = {"refuted": "refuted infinite", "unproved": "infinite"}
_HELD = ("mechanism", "leaf", "inside", "touched", "part")  # where a node or a mechanism holds one other
_BESIDE = ("attained", "printed_premise")


def rows_of(data: Table) -> list[tuple[float, float, float, float]]:
    """Return each point of the claim: where, what is claimed, and both stated ends."""
    claim, measure = data["claim"], data["claim"]["measure"]
    held = data["tight"][measure]
    ends, points = (held, claim[measure]) if measure in _AT else ([held], [claim[measure]])
    require(len(ends) == len(points), "the ends are not those of the claim's points")
    rows = []
    for end, point in zip(ends, points, strict=True):
        at, claimed = 0.0, point
        if measure in _AT:
            at, claimed = (float(point[key]) for key in (_AT[measure], "delta" if measure == "profile" else "epsilon"))
            require(end[_AT[measure]] == at, "an end is not at a point of the claim")
        low, high = float(end["lower"]), float(end["upper"])
        require(0 <= low <= high, "a bracket is empty or negative")
        rows.append((at, float(claimed), low, high))
    require(measure != "renyi" or all(at > 1 for at, *_ in rows), "an order is not above 1")
    return rows


def complaints(data: Table, found: list[Multiset]) -> list[str]:
    """Return where verdict, reasons and trust are not those that follow from the stated ends."""
    texts: Table = TABLES["measured"]
    claim, measure, rows = data["claim"], data["claim"]["measure"], rows_of(data)
    require("printed" not in data and "slack" not in data, "a claim in this measure has no printed argument or slack")
    broken = [row for row in rows if row[2] > row[1]]
    failing = broken or [row for row in rows if row[3] > row[1]]
    reasons = []
    for at, claimed, low, high in failing:
        words = {"name": _name(measure, at), "claimed": full(claimed), "low": below(low), "high": above(high, math.inf)}
        words |= {"mass": below(lost(found)), "pairs": " ".join(map(pair_sentence, data["witnesses"]))}
        against = ("refuted", low) if broken else ("unproved", high)
        kind = _INFINITE[against[0]] if against[1] == math.inf else against[0]
        reasons.append(str(texts[kind]).format(**words))
    if not covers(held := model(data["declaration"]), claim):
        reasons.append(TABLES["reasons"]["model"].format(held=held, claim=claim))
    violated = [row for row in data["conditions"] if row["status"] == "violated" and row["kind"] != "attained"]
    reasons += [TABLES["reasons"]["violated"].format(**row) for row in violated]
    reasons += [TABLES["reasons"]["disagrees"].format(**row) for row in data["findings"]]
    verdict = "refuted" if broken else "not_proved" if reasons else "stated" if sources(data) else "certified"
    require(("trust" in data) == (verdict == "stated"), f"what is on trust is not as a {verdict} claim says it")
    within = [
        str(texts["certified"]).format(name=_name(measure, r[0]), high=above(r[3], r[1]), claimed=full(r[1]))
        for r in rows
    ]
    reasons = reasons or (_on_trust(data, rows[0]) if verdict == "stated" else within)
    stated = [(data["verdict"], verdict), *zip(data["reasons"], reasons, strict=False)]
    wrong = [f"{said!r} does not follow, but {follows!r} does" for said, follows in stated if said != follows]
    return wrong + ([f"{len(reasons)} reasons follow"] if len(reasons) != len(data["reasons"]) else [])


def numbers(data: Table, rows: list[Row], found: list[Multiset]) -> Outcome:
    """Compare every stated end with this checker's own bounds."""
    measure = data["claim"]["measure"]
    tree, told = apart(data["declaration"], measure)
    whole = _by_pairs(rows, tree, measure)
    void = any(row["status"] == "violated" and row["kind"] not in _BESIDE for row in data["conditions"])
    outcome = Outcome()
    for at, claimed, low, high in rows_of(data):
        upper, attained = added(measure, at, between(measure, at, whole), told), between(measure, at, found)
        if void and high < math.inf:
            outcome = outcome.joined(Outcome(("a condition is violated, and an upper end is stated all the same",)))
        ends = (
            ("upper", high, high < attained[0], "below", low <= claimed and high < upper[1], upper[1], upper),
            ("lower", low, low > attained[1], "above", claimed < low and low > attained[0], attained[0], attained),
        )
        for side, end, wrong, beyond, is_open, proved, bracket in ends:
            said = f"the {side} bound on {_name(measure, at)}, {end:.9g}, is"
            if wrong:
                outcome = outcome.joined(Outcome((f"{said} {beyond} what a pair attains",)))
            elif is_open and not _inside(end, bracket):
                outcome = outcome.joined(Outcome((), (f"{said} not confirmed: this checker proves {proved:.9g}",)))
    return outcome.joined(_proved_alone(data, rows))


def _by_pairs(rows: list[Row], tree: Table, measure: str) -> list[Multiset]:
    """Return what bounds a tree from above in a measure, where divergences know more than the curve of both orders.

    Discrete Gaussian noise has at most the Renyi divergences of Gaussian noise, which is proved of releases, not of
    samples. A table in either order costs the larger one of its divergences, not that of the larger curve.
    Source: Canonne, Kamath and Steinke (2020), Theorem 4.
    """
    if measure not in ("rho", "renyi") or any(
        node["node"] in ("subsample", "allocate", "shuffle") for node in walk(tree)
    ):
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
        Counter({(("choice", orders[loss]) if loss in orders else loss): n for loss, n in held.items()})
        for held in upper_side(rows, normal)
    ]


def _gaussian(fields: Table) -> Table:
    """Return a node or a mechanism with Gaussian noise in the place of discrete Gaussian noise, down to its leaves."""
    held: Table = {key: _gaussian(fields[key]) for key in _HELD if isinstance(fields.get(key), dict)}
    if "parts" in fields:
        held["parts"] = [_gaussian(part) for part in fields["parts"]]
    if fields.get("name") == "discrete_gaussian":
        held["name"] = "gaussian"
    return fields | held


def _inside(end: float, bracket: Bounds) -> bool:
    """Return whether an end lies in a narrow bracket, where this checker does not decide its side."""
    return bracket[0] <= end <= bracket[1] <= bracket[0] * (1 + _NARROW)


def _name(measure: str, at: float) -> str:
    """Return the name of a number of the claim."""
    names = {"renyi": "the Renyi divergence of order {}", "profile": "delta at epsilon {}"}
    return names.get(measure, measure).format(full(at))


def _on_trust(data: Table, row: tuple[float, float, float, float]) -> list[str]:
    """Return the reasons of a stated claim: a line for each source, and of a mixture what is proved without them."""
    trust, measure, (at, claimed, _, whole) = data["trust"], data["claim"]["measure"], row
    require(trust["sources"] == sources(data), "the sources of what is on trust are not those of the declaration")
    lines = [str(TABLES["reasons"]["alone"]).format(source=source) for source in trust["sources"]]
    if "proved" not in trust:
        require(trust["share"] == 1, "the share on trust is not that of the ends")
        return lines
    proved, power = float(trust["proved"]), 2 if measure == "mu" else 1
    share = max(0.0, 1 - (proved / whole) ** power) if 0 < whole < math.inf else 1.0
    require(abs(trust["share"] - share) <= _SHARE, "the share on trust is not that of the ends")
    ends = {"proved": above(proved, claimed), "whole": above(whole, claimed), "share": f"{100 * trust['share']:.3g}"}
    return [*lines, str(TABLES["measured"]["mixed"]).format(measure=_name(measure, at), **ends)]


def _proved_alone(data: Table, rows: list[Row]) -> Outcome:
    """Compare what is said to be proved of the other parts with this checker's own bound on them."""
    stated: Any = data.get("trust", {}).get("proved")
    if stated is None:
        return Outcome()
    claim, at = data["claim"], rows_of(data)[0][0]
    bracket = between(claim["measure"], at, upper_side(rows, without_word(data["declaration"])))
    confirmed = float(stated) >= bracket[1] or _inside(float(stated), bracket)
    return Outcome((), () if confirmed else ("what is proved without the stated parts is not confirmed",))


def notes(data: Table) -> tuple[str, ...]:
    """Return what was taken from the certificate."""
    named = dict.fromkeys(node["source"] for node in walk(data["declaration"]) if node["node"] == "stated")
    told = [f"Taken on trust, as the declaration says: what {source} states." for source in named]
    measure = data["claim"]["measure"]
    return (*told, f"The ends were bounded again in {measure}; inside of a bracket of 1e-6 no side is decided.")
