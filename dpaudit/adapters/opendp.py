"""OpenDP: a measurement maps a distance between inputs to a loss; that map is its claim."""

from typing import Any

from dpaudit.adapters.awkward import AwkwardPair, awkward_records, awkward_values
from dpaudit.adapters.calls import Calls, published
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.adapters.release import LibraryRelease, Question, stated
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Release
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.runtime.plugins import find_plugin

_LIBRARY = "opendp"
_UNORDERED = ("SymmetricDistance", "InsertDeleteDistance")
_CHANGED = ("ChangeOneDistance", "HammingDistance")


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a measurement.

    The distance of neighbours follows from the metric: under symmetric distance a replaced record is two changes, an
    added one is one; other metrics need `distance`. A loss in zCDP is a claim in rho; with `delta` the library converts
    it. A measurement says nothing of its noise, so that its declaration is its own claim.
    Raises: UnsupportedError: no measurement, no distance, or a loss that needs delta and has none.
    """
    version = installed_version(_LIBRARY)
    if not all(hasattr(subject, name) for name in ("map", "input_metric", "output_measure")):
        raise UnsupportedError(f"Expected an OpenDP measurement, got {type(subject).__name__}.")
    distance = _distance(str(subject.input_metric), question)
    claim, source = _claim(subject, distance, question)
    notes = _misuse(subject, question)
    return LibraryRelease(
        library=_LIBRARY,
        version=version,
        text=f"measurement on {subject.input_domain}",
        claim=claim,
        source=source,
        declaration=stated(claim, _LIBRARY, version, source),
        stated_because="a measurement tells its privacy map and not its noise",
        function=Calls(call=published(subject, question.released)),
        pair=question.pair,
        reproducible=False,
        awkward=_awkward(subject, question),
        notes=notes,
    )


def laplace(scale: float, sensitivity: float, question: Question) -> LibraryRelease:
    """Return the release of OpenDP's Laplace noise on one float, with its noise as the declaration.

    The adapter builds the measurement itself, so that it knows kind and scale; claim and declaration come from
    different sources and must agree.
    """
    prelude = library_module("opendp.prelude", _LIBRARY)
    prelude.enable_features("contrib")
    space = prelude.atom_domain(T=float, nan=False), prelude.absolute_distance(T=float)
    built = space >> prelude.m.then_laplace(scale=scale)
    return _declared(built, "laplace", {"scale": scale, "l1_sensitivity": sensitivity}, sensitivity, question)


def gaussian(scale: float, sensitivity: float, question: Question) -> LibraryRelease:
    """Return the release of OpenDP's Gaussian noise on one float, with its noise as the declaration."""
    prelude = library_module("opendp.prelude", _LIBRARY)
    prelude.enable_features("contrib")
    space = prelude.atom_domain(T=float, nan=False), prelude.absolute_distance(T=float)
    built = space >> prelude.m.then_gaussian(scale=scale)
    return _declared(built, "gaussian", {"stddev": scale, "l2_sensitivity": sensitivity}, sensitivity, question)


def _declared(
    built: Any, kind: str, parameters: dict[str, float], sensitivity: float, question: Question
) -> LibraryRelease:
    """Return the release of a measurement that this module built."""
    asked = Question(
        neighbours=question.neighbours,
        pair=question.pair or (0.0, sensitivity),
        distance=sensitivity,
        delta=question.delta,
        unit=question.unit,
    )
    release = adapt(built, asked)
    noise = find_plugin("mechanisms", kind)(**parameters, neighbours=question.neighbours)
    return LibraryRelease(
        library=release.library,
        version=release.version,
        text=f"{kind} noise of scale {next(iter(parameters.values())):g}",
        claim=release.claim,
        source=release.source,
        declaration=Release(label=f"{_LIBRARY} {kind}", mechanism=noise),
        function=release.function,
        pair=release.pair,
        reproducible=False,
        awkward=release.awkward,
        notes=release.notes,
    )


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
        held = [bool(subject.input_domain.member(data)) for data in question.pair]
    except Exception:  # a library's own error about data that it cannot read: nothing is known of the domain
        return ()
    return () if all(held) else ("Misuse: the measurement's domain does not hold one of the data sets.",)
