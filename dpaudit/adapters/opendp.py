"""OpenDP: a measurement maps a distance between inputs to a loss; that map is its claim."""

import math
from collections.abc import Mapping
from typing import Any

from dpaudit.adapters.awkward import AwkwardPair, awkward_records, awkward_values
from dpaudit.adapters.calls import Calls
from dpaudit.adapters.finding import library_module
from dpaudit.adapters.noise import noise, release
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.declaration import Declaration, PostProcess, Release, Repeat, Sequential
from dpaudit.model.measures.claims import RhoClaim

_LIBRARY = "opendp"
_UNORDERED = ("SymmetricDistance", "InsertDeleteDistance")
_CHANGED = ("ChangeOneDistance", "HammingDistance")
_CONVERSIONS = ("make_zCDP_to_approxDP", "make_pureDP_to_zCDP", "make_fix_delta", "make_approximate")
_ROUNDED = 1e-15
"""A map rounds up by no more than this share: its number is then that of the noise."""


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a measurement.

    The distance of neighbours follows from the metric: under symmetric distance a replaced record is two changes, an
    added one is one; other metrics need `distance`. A loss in zCDP is a claim in rho; with `delta` the library converts
    it. A measurement keeps its constructors and their parameters (from 0.13 on): Laplace, geometric and Gaussian noise,
    noisy maxima, randomised response, their chains, compositions and conversions are declared. Sensitivity is what the
    map of the transformation before the noise tells. All else is stated.
    Raises: UnsupportedError: no measurement, no distance, or a loss that needs delta and has none.
    """
    if not all(hasattr(subject, name) for name in ("map", "input_metric", "output_measure")):
        raise UnsupportedError(f"Expected an OpenDP measurement, got {type(subject).__name__}.")
    distance = _distance(str(subject.input_metric), question)
    claim, source = _claim(subject, distance, question)
    notes = _misuse(subject, question)
    declaration = _declared(subject, distance, question.neighbours)
    return question.answer(
        claim,
        source,
        declaration,
        "its constructors are not among those that the adapter declares",
        text=f"measurement on {subject.input_domain}",
        function=Calls(call=subject, released=question.released),
        awkward=_awkward(subject, question),
        notes=notes,
    )


def _declared(node: Any, distance: Any, neighbours: Neighbours) -> Declaration | None:
    """Return what a measurement does on data at a distance, by the constructors that its objects keep; else None."""
    made = getattr(node, "__opendp_dict__", None) or {}
    name, given = made.get("__function__", ""), made.get("__kwargs__", {})
    match name:
        case "make_chain_mt":
            return _declared(given["measurement1"], given["transformation0"].map(distance), neighbours)
        case "make_chain_pm":
            part = _declared(given["measurement0"], distance, neighbours)
            return None if part is None else PostProcess(part=part, steps=("a function of the output",))
        case "make_composition" | "make_basic_composition":
            parts = [_declared(part, distance, neighbours) for part in given["measurements"]]
            declared_parts = tuple(part for part in parts if part is not None)
            return Sequential(parts=declared_parts) if declared_parts and len(declared_parts) == len(parts) else None
        case "make_randomized_response_bitvec" if 0 < given["f"] < 1:
            return _bits(given, float(node.map(distance)), neighbours)
        case _ if name in _CONVERSIONS:
            return _declared(given["measurement"], distance, neighbours)
        case _:
            return _noise(name, given, node, distance, neighbours)


def _bits(given: Mapping[str, Any], told: float, neighbours: Neighbours) -> Declaration | None:
    """Return a response for each bit in which two vectors of bits of a largest weight may differ: twice the weight."""
    domain = getattr(given["input_domain"], "__opendp_dict__", {}).get("__kwargs__", {})
    moved = 2 * int(domain.get("max_weight") or 0)
    epsilon = math.log((2 - given["f"]) / given["f"])
    if moved and math.isclose(epsilon, told / moved, rel_tol=_ROUNDED):
        epsilon = told / moved
    response = release(f"{_LIBRARY} bits", "randomised_response", neighbours, epsilon=epsilon, categories=2)
    return Repeat(part=response, times=moved) if response and moved else None


def _noise(name: str, given: Mapping[str, Any], node: Any, distance: Any, neighbours: Neighbours) -> Release | None:
    """Return the noise of a constructor on data at a distance, or None for what no mechanism here has."""
    metric, domain, pure = str(node.input_metric), str(node.input_domain), str(node.output_measure) == "MaxDivergence"
    label, discrete = f"{_LIBRARY} {name.removeprefix('make_')}", "discrete_" if "T=f" not in domain else ""
    single = metric.startswith("AbsoluteDistance")
    adds = {"make_laplace": "laplace", "make_geometric": "laplace", "make_gaussian": "gaussian"}
    match adds.get(name, name):
        case "make_noise":
            return _noise("make_laplace" if pure else "make_gaussian", given, node, distance, neighbours)
        case "laplace" if single or metric.startswith("L1Distance"):
            return noise(label, f"{discrete}laplace", given["scale"], distance, neighbours)
        case "gaussian" if single or (metric.startswith("L2Distance") and not discrete):
            return noise(label, f"{discrete}gaussian", given["scale"], distance, neighbours)
        case "make_noisy_max" if metric.startswith("LInfDistance"):
            one_way, scale = "monotone" if "monotonic" in metric else "general", given["scale"]
            sizes = {"linf_sensitivity": float(distance)}
            if pure:
                return release(label, "permute_and_flip", neighbours, scale=scale, scores=one_way, **sizes)
            epsilon = 2 * float(distance) / scale
            return release(label, "exponential", neighbours, epsilon=epsilon, utilities=one_way, **sizes)
        case "make_randomized_response_bool" | "make_randomized_response" if 0 < given["prob"] < 1:
            categories = len(given.get("categories", (False, True)))
            odds, told = given["prob"] / (1 - given["prob"]) * (categories - 1), float(node.map(distance))
            epsilon = math.log(odds) if odds > 0 else 0.0
            epsilon = told if math.isclose(epsilon, told, rel_tol=_ROUNDED) else epsilon
            return release(label, "randomised_response", neighbours, epsilon=epsilon, categories=categories)
        case _:
            return None


def _distance(metric: str, question: Question) -> Any:
    """Return how far apart neighbours are in the measurement's metric."""
    if question.distance is not None:
        return question.distance
    if metric.startswith(_UNORDERED):
        return 2 if question.neighbours == "replace_one" else 1
    if metric.startswith(_CHANGED) and question.neighbours == "replace_one":
        return 1
    raise UnsupportedError(
        f"Expected distance=...: neighbours by {question.neighbours} have no fixed distance in {metric}."
    )


def _claim(subject: Any, distance: Any, question: Question) -> tuple[Claim, str]:
    """Return what the measurement claims, in rho where it counts so and no delta is asked for, and the call."""
    if question.delta is None and str(subject.output_measure) == "ZeroConcentratedDivergence":
        rho = float(subject.map(distance))
        claim: Claim = RhoClaim(rho=rho, neighbours=question.neighbours, unit=question.unit)
        return claim, f"measurement.map({distance})"
    epsilon, delta, source = _loss(subject, distance, question)
    return question.claim(epsilon, delta), source


def _loss(subject: Any, distance: Any, question: Question) -> tuple[float, float, str]:
    """Return epsilon, delta and the call that said them."""
    measure = str(subject.output_measure)
    if measure == "MaxDivergence":
        return float(subject.map(distance)), 0.0, f"measurement.map({distance})"
    if measure == "Approximate(MaxDivergence)":
        epsilon, delta = subject.map(distance)
        return float(epsilon), float(delta), f"measurement.map({distance})"
    if question.delta is None:
        raise UnsupportedError(f"Expected delta=...: the measurement's loss is {measure}, which the library converts.")
    combinators = library_module("opendp.prelude", _LIBRARY).c
    converted = combinators.make_zCDP_to_approxDP(subject) if measure == "ZeroConcentratedDivergence" else subject
    epsilon, delta = combinators.make_fix_delta(converted, question.delta).map(distance)
    return (
        float(epsilon),
        float(delta),
        f"make_fix_delta(make_zCDP_to_approxDP(...), {question.delta:g}).map({distance})",
    )


def _awkward(subject: Any, question: Question) -> tuple[AwkwardPair, ...]:
    """Return awkward neighbours inside the measurement's domain, where its metric says what neighbours are."""
    metric = str(subject.input_metric)
    if question.pair is None:
        return ()
    if metric.startswith("AbsoluteDistance"):
        return awkward_values(question.pair)
    if question.distance is None and metric.startswith((*_UNORDERED, *_CHANGED)):
        return awkward_records(question.pair, question.neighbours, subject.input_domain.member)
    return ()


def _misuse(subject: Any, question: Question) -> tuple[str, ...]:
    """Return a note on each data set that the measurement's domain does not hold."""
    if question.pair is None:
        return ()
    try:
        is_member = [bool(subject.input_domain.member(data)) for data in question.pair]
    except Exception:  # a library's own error about data that it cannot read: nothing is known of the domain
        return ()
    return () if all(is_member) else ("Misuse: the measurement's domain does not hold one of the data sets.",)
