"""Honest certificates of every mechanism and node, and the rules by which they are forged."""

import importlib
import json
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.certification.digits import least, most, stated
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Model, Neighbours
from dpaudit.model.codec import decode_declaration
from mechanisms import NAMES, DiscreteLaplace, Gaussian, Laplace, RandomisedResponse
from tests.checker.proofs.folds import proved_again

Data = dict[str, Any]
UNIT = "one person"


def gaussian(stddev: float, neighbours: Neighbours = "replace_one") -> Gaussian:
    """Noise for a query that moves by 1."""
    return Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours)


def laplace(scale: float, neighbours: Neighbours = "replace_one") -> Laplace:
    """Noise for a query that moves by 1."""
    return Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours)


def release(mechanism: Any, label: str = "sum", printed: dp.Printed | None = None) -> dp.Release:
    """A leaf."""
    return dp.Release(label=label, mechanism=mechanism, printed=printed)


def trees() -> Iterator[tuple[dp.Declaration, Neighbours]]:
    """Every mechanism once and repeated, and every node, with the relation that it is read for."""
    for name in NAMES:
        for example in importlib.import_module(f"mechanisms.{name}").EXAMPLES:
            yield release(example), example.neighbours
            yield dp.Repeat(part=release(example), times=6), example.neighbours
    told = dp.Stated(epsilon=0.2, delta=1e-9, source="a vendor")
    noisy, heavy = release(gaussian(5.0)), release(laplace(8.0), "counts")
    bits = release(RandomisedResponse(epsilon=0.4, neighbours="replace_one"), "bit")
    lattice = release(DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one"), "lattice")
    yield dp.Sequential(parts=(noisy, heavy, told)), "replace_one"
    yield dp.Parallel(parts=(noisy, heavy), key="the day of arrival"), "replace_one"
    yield dp.Repeat(part=dp.Parallel(parts=(noisy, heavy), key="the arm shown"), times=5), "replace_one"
    yield dp.Repeat(part=dp.Parallel(parts=(told, told), key="the arm shown"), times=4), "replace_one"
    yield dp.Repeat(part=dp.Parallel(parts=(lattice, bits), key="the arm shown"), times=4), "replace_one"
    yield dp.Repeat(part=dp.Parallel(parts=(lattice, noisy, bits), key="the arm shown"), times=4), "replace_one"
    yield dp.Group(part=dp.Repeat(part=noisy, times=3), size=2), "replace_one"
    yield dp.PostProcess(part=heavy, steps=("rounding", "a table")), "replace_one"
    yield dp.Billboard(part=dp.Sequential(parts=(noisy, bits)), reads=("their own context",)), "replace_one"
    yield dp.Billboard(part=noisy), "replace_one"
    yield dp.Local(part=bits), "replace_one"
    cells = dp.Cells(inside=release(laplace(9.0), "bins"), touched=release(laplace(9.0, "add_remove"), "bins"))
    yield cells, "replace_one"
    yield dp.Cells(inside=noisy, touched=release(gaussian(5.0, "add_remove"))), "add_remove"
    for rate in (0.01, 0.2):
        sampled = dp.Subsample(part=release(gaussian(1.5, "add_remove"), "gradient"), rate=rate)
        yield sampled, "add_remove"
        yield dp.Repeat(part=sampled, times=20), "add_remove"
    yield dp.Subsample(part=heavy, rate=0.1, scheme="without_replacement"), "replace_one"
    yield dp.Sequential(parts=tuple(release(laplace(10.0 + i)) for i in range(12))), "replace_one"
    steps = dp.Printed(rule="laplace", epsilon=0.125)
    argued = dp.Repeat(
        part=release(laplace(8.0), printed=steps), times=8, printed=dp.Printed(rule="basic", epsilon=1.0, slots=8)
    )
    yield argued, "replace_one"
    yield replace(argued, times=9), "replace_one"
    classic = dp.Printed(rule="classic_gaussian", epsilon=0.9, delta=1e-6)
    yield dp.Billboard(part=release(gaussian(5.9), printed=classic)), "replace_one"
    yield release(gaussian(6.0), printed=replace(classic, rule="classic_gaussian_2")), "replace_one"


def sampled_trees() -> Iterator[tuple[dp.Declaration, Neighbours]]:
    """Samples of every scheme, secret steps, shuffled reports and batches, and persons with several records."""
    added, moved = release(gaussian(2.0, "add_remove")), release(gaussian(2.0))
    counts = release(laplace(2.0, "add_remove"), "counts")
    yield dp.Repeat(part=dp.Subsample(part=counts, rate=0.1), times=20), "add_remove"
    yield dp.Repeat(part=dp.Subsample(part=added, rate=0.1), times=20), "replace_one"
    fixed = dp.Subsample(part=moved, rate=0.1, scheme="without_replacement")
    yield dp.Repeat(part=fixed, times=20), "replace_one"
    fixed = dp.Subsample(part=moved, rate=0.1, scheme="without_replacement", population=50, batch_size=5)
    yield dp.Repeat(part=fixed, times=20), "add_remove"
    cut = dp.Subsample(part=added, rate=0.1, scheme="truncated_poisson", population=100, batch_bound=14)
    yield dp.Repeat(part=cut, times=20), "add_remove"
    yield dp.Allocate(part=added, steps=20, per_epoch=3), "add_remove"
    yield dp.Allocate(part=counts, steps=10, epochs=2), "add_remove"
    batches = dp.Parallel(parts=(moved,) * 20, key="the shuffled order", visibility="secret")
    yield dp.Repeat(part=batches, times=2), "replace_one"
    answer = release(RandomisedResponse(epsilon=1.0, neighbours="replace_one"), "answer")
    yield dp.Shuffle(part=answer, users=500), "replace_one"
    yield dp.Repeat(part=dp.Shuffle(part=answer, users=500), times=3), "replace_one"
    yield dp.Group(part=dp.Repeat(part=dp.Subsample(part=added, rate=0.01), times=20), size=3), "add_remove"
    draws = dp.Subsample(part=moved, rate=0.1, scheme="with_replacement", population=50, batch_size=5)
    yield dp.Repeat(part=draws, times=5), "replace_one"
    yield dp.Allocate(part=added, steps=10), "add_remove"
    yield dp.Allocate(part=added, steps=20, epochs=4, positions="repeated"), "add_remove"
    yield dp.Allocate(part=added, steps=20, epochs=2), "replace_one"
    yield dp.Allocate(part=added, steps=3, per_epoch=2), "add_remove"


def sampled(
    claims: tuple[tuple[float, float], ...] = ((1e-6, 1.25), (1e-6, 0.7)), every: int = 1
) -> Iterator[dp.Certificate]:
    """Certificates of these, of claims (delta, epsilon relative to what is proved)."""
    for tree, relation in islice(sampled_trees(), 0, None, every):
        form = dp.fold(tree, relation)
        for delta, factor in claims:
            epsilon = min(dp.bracket_epsilon(form, delta).upper * factor, 50.0)
            yield dp.certify(tree, dp.Claim(epsilon=epsilon, delta=delta, neighbours=relation, unit=UNIT))


def honest(model: Model = "central", every: int = 1) -> Iterator[dp.Certificate]:
    """Certificates of each tree: of a claim that holds, of one that does not, and of a tiny delta."""
    for tree, relation in islice(trees(), 0, None, every):
        form = dp.fold(tree, relation)
        for delta, factor in ((1e-6, 1.25), (1e-6, 0.7), (1e-14, 1.1)):
            upper = dp.bracket_epsilon(form, delta).upper
            claim = dp.Claim(
                epsilon=min(upper * factor, 50.0), delta=delta, neighbours=relation, model=model, unit=UNIT
            )
            yield dp.certify(tree, claim)
        if relation == "replace_one":
            yield dp.certify(tree, dp.Claim(epsilon=1.0, delta=1e-3, neighbours=relation, model="joint", unit=UNIT))


def drawn(rng: np.random.Generator) -> dp.Certificate:
    """The certificate of a random tree of quick mechanisms, for a random claim."""
    claim = dp.Claim(
        epsilon=float(rng.uniform(0.1, 3)), delta=float(10 ** rng.uniform(-9, -2)), neighbours="replace_one", unit=UNIT
    )
    text = "Every run took the scheduled number of people."
    looked = (dp.Condition(kind="public_schedule", about=("people",), text=text, status="checked"),)
    return dp.certify(_drawn(rng, 2), claim, conditions=looked if rng.random() < 0.3 else ())


def _drawn(rng: np.random.Generator, depth: int) -> dp.Declaration:
    """A random tree."""
    size = float(rng.uniform(2, 12))
    match int(rng.integers(0, 9 if depth else 3)):
        case 0 | 1:
            return release(gaussian(size))
        case 2:
            return release(laplace(size))
        case 3 | 4:
            return dp.Sequential(parts=tuple(_drawn(rng, depth - 1) for _ in range(int(rng.integers(1, 4)))))
        case 5:
            return dp.Repeat(part=_drawn(rng, depth - 1), times=int(rng.integers(1, 9)))
        case 6:
            parts = tuple(_drawn(rng, 0) for _ in range(int(rng.integers(1, 4))))
            return dp.Parallel(parts=parts, key="the day of arrival")
        case 7:
            return dp.PostProcess(part=_drawn(rng, depth - 1), steps=("rounding",))
        case _:
            return dp.Sequential(parts=(_drawn(rng, depth - 1), dp.Stated(epsilon=0.1, source="a vendor")))


def resealed(data: Data) -> str:
    """The text of a forged certificate whose digest was computed anew."""
    return json.dumps(data | {"digest": digest_of(data)})


def leaves(node: Any) -> Iterator[Data]:
    """Every table inside a declaration, the outermost first."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from leaves(value)
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value)


def _first(data: Data, key: str) -> Data | None:
    """The first table of the declaration with a key."""
    return next((table for table in leaves(data["declaration"]) if key in table), None)


def _narrow(data: Data, name: str) -> bool:
    """Whether a bracket is so narrow that any edit by a tenth leaves it."""
    low, high = (data["tight"][name][side] for side in ("lower", "upper"))
    return high != "inf" and low != "inf" and high > 1e-9 and low >= 0.99 * high


def _scaled_end(name: str, side: str, factor: float) -> Callable[[Data], None]:
    """A rule that tightens one end of a bracket and keeps the words in step with it."""

    def rule(data: Data) -> None:
        ends = data["tight"][name]
        assert _narrow(data, name)
        said, ends[side] = ends[side], min(ends[side] * factor, 1.0 if name == "delta" else 1e300)
        ends["lower" if side == "upper" else "upper"] = ends[side]
        data["reasons"] = [text.replace(_written(said, side), _written(ends[side], side)) for text in data["reasons"]]

    return rule


def _written(end: float, side: str) -> str:
    """An end of a bracket as a reason writes it."""
    return least(end) if side == "lower" else most(end, math.inf)


def _smaller_claim(data: Data) -> None:
    """A claim of half of what is proved at least, certified all the same, every number in step."""
    low = data["tight"]["epsilon"]["lower"]
    assert data["verdict"] == "certified"
    assert low != "inf"
    assert low > 0.01
    data["claim"]["epsilon"] = claimed = low / 2
    data["tight"]["epsilon"] = {"lower": claimed / 2, "upper": claimed}
    data.pop("slack", None)
    data.pop("printed", None)
    data["reasons"] = [
        f"The declared releases are proved to cost at most epsilon {most(claimed, claimed)} at delta "
        f"{stated(data['claim']['delta'])}, within the claimed {stated(claimed)}."
    ]


def _tiny_delta(data: Data) -> None:
    """A delta of 1e-30 where far more is lost, certified all the same."""
    low = data["tight"]["delta"]["lower"]
    assert data["verdict"] == "certified"
    assert low > 1e-25
    data["claim"]["delta"] = 1e-30
    data["tight"]["delta"] = {"lower": 0.0, "upper": 1e-30}
    data.pop("slack", None)
    data.pop("printed", None)
    data["reasons"] = [text.replace(f"{_said(data)}", "1e-30") for text in data["reasons"]]


def _said(data: Data) -> str:
    """The claimed delta as the reason writes it."""
    return data["reasons"][0].split(" at delta ")[1].split(",")[0]


def _nothing_lost(data: Data) -> None:
    """Aliasing: a hundred thousand times the releases, and nothing is lost at all."""
    table = _first(data, "times")
    assert table is not None
    assert data["verdict"] == "certified"
    assert data["tight"]["epsilon"]["lower"] > 0
    table["times"] = 100_000
    data["tight"] = {name: {"lower": 0.0, "upper": 0.0} for name in ("epsilon", "delta")}
    data.pop("slack", None)
    claim = data["claim"]
    data["reasons"] = [
        f"The declared releases are proved to cost at most epsilon 0 at delta {stated(claim['delta'])}, "
        f"within the claimed {stated(claim['epsilon'])}."
    ]


def _flipped(data: Data) -> None:
    others = {"certified": "refuted", "refuted": "certified", "not_proved": "certified", "stated": "certified"}
    data["verdict"] = others[data["verdict"]]


def _flipped_with_its_reason(data: Data) -> None:
    """Refuted, and the words say certified."""
    assert data["verdict"] == "refuted"
    data["verdict"], claim = "certified", data["claim"]
    upper = data["tight"]["epsilon"]["upper"]
    upper = float("inf") if upper == "inf" else upper
    data["reasons"] = [
        f"The declared releases are proved to cost at most epsilon {most(upper, claim['epsilon'])} at delta "
        f"{stated(claim['delta'])}, within the claimed {stated(claim['epsilon'])}."
    ]


def _half_the_noise(data: Data) -> None:
    table = _first(data, "stddev") or _first(data, "scale")
    assert table is not None
    assert data["declaration"]["node"] != "cells"  # of its two losses the smaller decides nothing
    assert _narrow(data, "epsilon")
    table["stddev" if "stddev" in table else "scale"] *= 0.5


def _ten_times_as_often(data: Data) -> None:
    table = _first(data, "times")
    assert table is not None
    assert _narrow(data, "epsilon")
    table["times"] *= 10


def _more_parts(data: Data) -> None:
    table = _first(data, "parts")
    assert table is not None
    assert table["node"] == "sequential"
    assert _narrow(data, "epsilon")
    table["parts"] = [*table["parts"], *table["parts"]]


def _condition(change: Callable[[Data], object]) -> Callable[[Data], None]:
    """A rule that edits the first condition that the declaration needs."""

    def rule(data: Data) -> None:
        assert data["conditions"]
        change(data)

    return rule


def _needed(data: Data) -> list[Data]:
    """The conditions that the declaration needs, and no run has looked at."""
    return [row for row in data["conditions"] if row["status"] == "assumed"]


def _negated(row: Data) -> None:
    """The same sentence with its sense turned round."""
    swaps = (("No ", "Some "), ("never ", "always "), ("holds", "fails"), (" is ", " is not "), ("A ", "No "))
    old, new = next(pair for pair in (*swaps, ("E", "Not e"), ("B", "Not b")) if pair[0] in row["text"])
    row["text"] = row["text"].replace(old, new, 1)


def _upgraded(row: Data) -> None:
    """Fresh noise or the noise's arithmetic, said to have been checked."""
    row["status"] = "checked"


def _weaker(key: str, factor: float) -> Callable[[Data], None]:
    """A rule that changes a number of a sample so that it costs more, and leaves what is stated."""

    def rule(data: Data) -> None:
        table = _first(data, key)
        assert table is not None
        assert _narrow(data, "epsilon")
        assert isinstance(table[key], int | float)
        table[key] = type(table[key])(table[key] * factor)

    return rule


def _renamed_key(data: Data) -> None:
    table = _first(data, "key")
    assert table is not None
    table["key"] = "the record's own value"


def _quoted(key: str) -> Callable[[Data], None]:
    """A rule that writes a number as a string."""

    def rule(data: Data) -> None:
        table = _first(data, key)
        assert table is not None
        table[key] = str(table[key])

    return rule


def _reason_with_another_number(data: Data) -> None:
    text = data["reasons"][0]
    place = next(i for i, letter in enumerate(text) if letter.isdigit() and letter != "9")
    data["reasons"][0] = f"{text[:place]}{int(text[place]) + 1}{text[place + 1 :]}"


def _set(path: tuple[Any, ...], value: Any) -> Callable[[Data], None]:
    """A rule that puts a value at a place."""

    def rule(data: Data) -> None:
        held = data
        for key in path[:-1]:
            held = held[key]
        assert held.get(path[-1]) != value
        held[path[-1]] = value

    return rule


def _broken_signs(data: Data) -> None:
    """Signs of a schedule as floating-point numbers of the same value."""
    table = _first(data, "signs")
    assert table is not None
    table["signs"] = [float(sign) for sign in table["signs"]]


def _other_slack(data: Data) -> None:
    assert "slack" in data
    data["slack"]["epsilon_ratio"] *= 1.01


def _other_neighbours(data: Data) -> None:
    """A part that is stated for the neighbours of the claim is true of any others; a mechanism names its own."""
    assert _first(data, "mechanism") is not None
    claim = data["claim"]
    claim["neighbours"] = "add_remove" if claim["neighbours"] == "replace_one" else "replace_one"


def _loosened(name: str, side: str, factor: float) -> Callable[[Data], None]:
    """A rule that moves one end of a sharp bracket to its safe side, which leaves a true bound of something else.

    The upper end of delta is moved by so much beyond what a thousandth of epsilon is worth, which is told from nothing.
    """

    def rule(data: Data) -> None:
        ends, told = data["tight"][name], json.dumps(data["declaration"])
        assert not any(f'"{node}"' in told for node in ("subsample", "allocate", "shuffle", "secret"))
        choice = any(f'"{node}"' in told for node in ("parallel", "cells"))
        choice = choice or told.count('"node"') > 9  # known to five in a hundred, as sums of many kinds are
        moved = factor**8 if choice else factor
        assert ends[side] != "inf"
        assert ends[side] > 1e-15
        if (name, side) == ("delta", "upper"):
            moved *= _steepness(data)
        assert name != "delta" or ends[side] * moved < 1
        if (name, side) != ("epsilon", "upper"):
            data.pop("slack", None)
        elif "slack" in data:  # its ratios are kept in step
            data["slack"]["epsilon_ratio"] /= moved
            data["slack"]["factors"][-1]["factor"] /= moved
        said, ends[side] = ends[side], ends[side] * moved
        data["reasons"] = [text.replace(_written(said, side), _written(ends[side], side)) for text in data["reasons"]]

    return rule


def _steepness(data: Data) -> float:
    """Return how much larger delta is proved to be at an epsilon that is smaller by a thousandth."""
    claim = data["claim"]
    form = dp.fold(decode_declaration(data["declaration"], claim["neighbours"]), claim["neighbours"])
    most_there = dp.bracket_delta(form, 0.999 * float(claim["epsilon"])).upper
    return max(1.0, most_there / float(data["tight"]["delta"]["upper"]))


def _other_noise(factor: float) -> Callable[[Data], None]:
    """A rule that moves the ratio of declared to needed noise, with the last factor and its sentence in step."""

    def rule(data: Data) -> None:
        assert data["slack"]["factors"] if "slack" in data else False
        assert "discrete_gaussian" not in json.dumps(data["declaration"])
        row = data["slack"]["factors"][-1]
        assert 0 < data["slack"]["noise_ratio"] < 1e9
        assert data["claim"]["delta"] == 0 or data["claim"]["delta"] > 1e-15
        data["slack"]["noise_ratio"] *= factor
        said, row["noise_factor"] = row["noise_factor"], row["noise_factor"] * factor
        row["sentence"] = row["sentence"].replace(f"{said:.2f}", f"{row['noise_factor']:.2f}")

    return rule


def _no_slack(data: Data) -> None:
    assert "slack" in data
    assert "stated" not in json.dumps(data["declaration"])
    del data["slack"]


def _other_population(data: Data) -> None:
    table = _first(data, "population")
    assert table is not None
    assert "batch_size" in table
    table["population"] *= 2


def _witness_of_nothing(data: Data) -> None:
    assert data["witnesses"]
    data["witnesses"].append(data["witnesses"][0] | {"labels": ["no such release"], "plan": []})


def _validity(data: Data) -> None:
    assert "printed" in data
    data["printed"]["valid"] = not data["printed"]["valid"]


RULES: dict[str, Callable[[Data], None]] = {
    "epsilon's upper end lowered": _scaled_end("epsilon", "upper", 0.9),
    "epsilon's lower end raised": _scaled_end("epsilon", "lower", 1.1),
    "delta's upper end lowered": _scaled_end("delta", "upper", 0.8),
    "delta's lower end raised": _scaled_end("delta", "lower", 1.2),
    "a smaller claim": _smaller_claim,
    "a tiny delta": _tiny_delta,
    "mass that comes back": _nothing_lost,
    "epsilon's upper end loosened": _loosened("epsilon", "upper", 1.01),
    "epsilon's lower end loosened": _loosened("epsilon", "lower", 0.99),
    "delta's upper end loosened": _loosened("delta", "upper", 1.01),
    "delta's lower end loosened": _loosened("delta", "lower", 0.99),
    "more noise to save": _other_noise(1.05),
    "less noise to save": _other_noise(0.95),
    "no slack": _no_slack,
    "another population": _other_population,
    "a witness of nothing": _witness_of_nothing,
    "verdict flipped": _flipped,
    "verdict and reason flipped": _flipped_with_its_reason,
    "half the noise": _half_the_noise,
    "ten times as often": _ten_times_as_often,
    "more parts": _more_parts,
    "twice the rate": _weaker("rate", 2.0),
    "half the secret steps": _weaker("steps", 0.5),
    "a tenth of the users": _weaker("users", 0.1),
    "twice the records of a person": _weaker("size", 2.0),
    "condition removed": _condition(lambda data: data["conditions"].pop(0)),
    "last condition removed": _condition(lambda data: data["conditions"].remove(_needed(data)[-1])),
    "condition negated": _condition(lambda data: _negated(data["conditions"][0])),
    "condition upgraded": _condition(
        lambda data: _upgraded(next(row for row in data["conditions"] if row["kind"] == "fresh_noise"))
    ),
    "condition violated, unsaid": _condition(lambda data: data["conditions"][0].update(status="violated")),
    "condition twice": _condition(lambda data: data["conditions"].append(data["conditions"][0])),
    "condition of another status": _condition(lambda data: data["conditions"][0].update(status="proved")),
    "key by the record's value": _renamed_key,
    "no reason": lambda data: data.update(reasons=[]),
    "another reason": lambda data: data["reasons"].append("The noise is fresh."),
    "reason with another number": _reason_with_another_number,
    "finding unsaid": lambda data: data["findings"].append({"rule": "DPA213", "where": "x", "message": "y"}),
    "unknown key at the top": _set(("approved",), True),
    "unknown key in the claim": _set(("claim", "note"), "fine"),
    "unknown key in a node": _set(("declaration", "note"), "fine"),
    "unknown key in a mechanism": lambda data: (_first(data, "neighbours") or {}).update(note="fine"),
    "string for a number in the claim": lambda data: data["claim"].update(epsilon=str(data["claim"]["epsilon"])),
    "truth for a number": lambda data: data["claim"].update(delta=False),
    "string for times": _quoted("times"),
    "string for stddev": _quoted("stddev"),
    "string for scale": _quoted("scale"),
    "infinite claim": _set(("claim", "epsilon"), "inf"),
    "other neighbours": _other_neighbours,
    "empty unit": _set(("claim", "unit"), " "),
    "another slack": _other_slack,
    "a sign that is no whole number": _broken_signs,
    "another validity": _validity,
    "no engine": _set(("engines",), []),
    "unknown engine": _set(("engines",), ["oracle"]),
}


def forgeries(certificate: dp.Certificate) -> Iterator[tuple[str, str]]:
    """Every forgery that the rules make of one certificate, with the digest computed anew, and four of its text."""
    data = json.loads(certificate.to_json())
    for name, rule in RULES.items():
        changed = deepcopy(data)
        try:
            rule(changed)
        except (AssertionError, StopIteration):
            continue
        if json.dumps(changed) != json.dumps(data):  # 1.0 and 1 are equal, and not the same text
            yield name, resealed(proved_again(changed))
    text = json.dumps(data)
    yield "old digest", text.replace('"epsilon": ', '"epsilon": 1', 1)
    yield "key twice", text.replace('"verdict": ', '"verdict": "certified", "verdict": ', 1)
    yield "no number", text.replace('"delta": ', '"delta": NaN, "delta": ', 1)
    yield "too large a number", text.replace('"delta": ', '"delta": 1e999, "was": ', 1)
