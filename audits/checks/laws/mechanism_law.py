"""Tests of whether mechanisms release what their parameters state: samples, the noise of a run, and densities."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from audits.checks.laws.bulk import bulk_of, extremes, hard_of, masses
from audits.checks.laws.by_answer import answers_apart
from audits.checks.laws.coincidences import chance_of_equal, chance_of_whole
from audits.checks.laws.conditionals import Placed
from audits.checks.laws.departures import looks_at
from audits.checks.laws.entrances import Sample, is_sampled, samples_of, wider
from audits.checks.laws.places import places_of
from dpaudit import Mechanism
from dpaudit.looks import Look, worst
from dpaudit.model.mechanism import Array, is_additive
from dpaudit.model.tape import RunTape
from dpaudit.model.trace import Finding

_SEED = 71_940_212
_ALARM = 1e-7
_EQUAL = 3
_DENSITY, _MASS = 1e-6, 1e-3
_LARGEST = 16

_EACH = 3
_AT_ANSWER = 40_000

Asked = tuple[Mechanism, tuple[int, ...], str]
"""A mechanism, the shape of one answer, and the label of a release."""


def asked_by(tape: RunTape) -> tuple[Asked, ...]:
    """Return what a run asked of mechanisms that can be sampled for answers of any kind.

    Of many of one kind and shape the first, the middle and the last.
    """
    kinds: dict[tuple[str, tuple[int, ...]], dict[Mechanism, str]] = defaultdict(dict)
    for release in tape.released:
        item = release.value.shape[1:]
        leaf = _leaf(release.mechanism)
        if not is_sampled(release.mechanism):
            continue
        if leaf is not None:
            item = release.value.shape[release.value.ndim - leaf.item_axes :]
        kinds[_kind(release.mechanism), item].setdefault(release.mechanism, release.labels[0])
    return tuple(
        (mechanism, item, label)
        for (_, item), label_of in kinds.items()
        for mechanism, label in _spread(tuple(label_of.items()))
    )


def _leaf(mechanism: Mechanism) -> Any:
    """Return the noise of a tree's nodes; None for other mechanisms."""
    return getattr(mechanism, "leaf", None) if mechanism.name == "tree_aggregation" else None


def _kind(mechanism: Mechanism) -> str:
    """Return the name of a mechanism, and of a tree that of its leaf, too."""
    leaf = _leaf(mechanism)
    return mechanism.name if leaf is None else f"{mechanism.name} {leaf.name}"


def _spread(labelled: tuple[tuple[Mechanism, str], ...]) -> tuple[tuple[Mechanism, str], ...]:
    """Return the first, the middle and the last of many."""
    return labelled if len(labelled) <= _EACH else (labelled[0], labelled[len(labelled) // 2], labelled[-1])


def law_findings(asked: Iterable[Asked]) -> Iterator[Finding]:
    """Yield findings (DPA212) where samples of a mechanism do not follow its own density.

    Each mechanism is sampled through each of its entrances for answers of the asked shape. The first of a kind is also
    sampled for wider ones, as code reads shapes alike at every scale. All samples of one width are tested together.
    False alarm: 1e-7 a sample at most, at a fixed seed; a size of the noise that is off by 2 % is found, and so is
    noise that is cut off at four standard deviations.
    """
    widened: set[tuple[str, tuple[int, ...]]] = set()
    for mechanism, item, label in asked:
        if not is_sampled(mechanism):
            continue
        rng = np.random.default_rng(_SEED)
        kind = _kind(mechanism), item
        shapes = (item,) if kind in widened else dict.fromkeys((item, wider(mechanism, item)))
        widened.add(kind)
        said = next((says for shape in shapes if (says := _departs_anywhere(mechanism, shape, rng))), "")
        said = said or _departs_in_bulk(mechanism, item, rng) or _departs_at_answers(mechanism, item, rng)
        if said:
            message = f"'{label}': samples of {mechanism.name} do not follow its stated law: {said}."
            yield Finding(rule="DPA212", where=label, message=message)


def _departs_anywhere(mechanism: Mechanism, item: tuple[int, ...], rng: np.random.Generator) -> str:
    """Return how samples through one entrance, or through all of them together, depart from the law."""
    together: list[Placed] = []
    for sample in samples_of(mechanism, item, rng):
        placed = places_of(sample.mechanism, sample.output, sample.value, rng)
        if placed is None or not placed.uniform.size:
            continue
        if said := departs(sample, placed):
            return f"{said} ({sample.entrance})"
        if not together or together[0].uniform.shape[1] == placed.uniform.shape[1]:
            together.append(placed)
    if not together:
        return ""
    departure = worst(looks_at(replace(Placed.together(together), independent=False)))
    return f"{departure.words} (all entrances together)" if departure.probability < _ALARM else ""


def _departs_in_bulk(mechanism: Mechanism, item: tuple[int, ...], rng: np.random.Generator) -> str:
    """Return how large samples depart from the law far out or at single whole numbers, or an empty text."""
    for sample in (*bulk_of(mechanism, item, rng), *hard_of(mechanism, rng)):
        placed = places_of(sample.mechanism, sample.output, sample.value, rng)
        if placed is None:
            continue
        looks = [*extremes(placed), *masses(placed)]
        departure = worst(looks) if looks else None
        wrong = departure is not None and departure.probability < _ALARM
        said = departure.words if departure is not None and wrong else repeated(sample, placed.uniform.size)
        if said:
            return f"{said} ({sample.entrance})"
    return ""


def _departs_at_answers(mechanism: Mechanism, item: tuple[int, ...], rng: np.random.Generator) -> str:
    """Return how samples depart from the law around an answer that has other noise than 0 has, or an empty text."""
    kind = np.int64 if getattr(mechanism, "exact_sampler", False) else np.float64
    for answer in answers_apart(mechanism, item):
        if said := departs_at(mechanism, np.full(item, answer, dtype=kind), rng):
            return f"{said} (answers of {answer:.6g})"
    return ""


def departs_at(mechanism: Mechanism, answer: Array, rng: np.random.Generator) -> str | None:
    """Return how 40,000 numbers released around one answer depart from the law, an empty text where they do not.

    None where no law is known.
    """
    rows = max(_AT_ANSWER // max(answer.size, 1), _LARGEST)
    value = np.broadcast_to(answer, (rows, *answer.shape))
    sample = Sample(mechanism=mechanism, entrance="", output=mechanism.release(value, rng), value=value)
    placed = places_of(mechanism, sample.output, value, rng)
    return None if placed is None else departs(sample, placed)


def departs(sample: Sample, placed: Placed) -> str:
    """Return how a sample, read as uniform numbers, departs from its law, or an empty text."""
    departure = worst([*looks_at(placed), *masses(placed)])
    said = departure.words if departure.probability < _ALARM else ""
    return said or repeated(sample, placed.uniform.size) or _density(sample, placed)


def departs_in_run(placed: Placed | None) -> Look | None:
    """Return how noise that was read from a run departs from its law, if it does."""
    if placed is None or not placed.uniform.size:
        return None
    departure = worst([*looks_at(replace(placed, independent=False)), *extremes(placed)])
    return departure if departure.probability < _ALARM else None


def departs_in_sum(noises: Iterable[Placed | None]) -> Look | None:
    """Return how the noises of several mechanisms, all on one scale, depart from uniform numbers, if they do.

    Many labels with few noises each can show a departure that no single label shows.
    """
    parts = [
        replace(places, uniform=places.uniform.reshape(-1, 1))
        for places in noises
        if places is not None and places.independent
    ]
    if not parts:
        return None
    together = Placed.together(parts)
    departure = worst([*looks_at(together), *extremes(together)])
    return departure if departure.probability < _ALARM else None


def repeated(sample: Sample, numbers: int, level: float = _ALARM) -> str:
    """Return that continuous noise is equal to others, or whole around zeros, where `numbers` are drawn in all."""
    output, value = np.asarray(sample.output), np.asarray(sample.value)
    whole_numbers = getattr(sample.mechanism, "exact_sampler", False)  # a tree's sums of them may be floats
    if output.dtype.kind != "f" or output.shape != value.shape or whole_numbers:
        return ""
    noise = np.abs(output - value)
    equal = numbers - np.unique(noise).size
    if equal >= _EQUAL and chance_of_equal(equal, noise, output) < level:
        return f"{equal} of {numbers} continuous noises are equal to others"
    whole_noises = int((noise == np.round(noise)).sum())
    accused = whole_noises >= _EQUAL and not np.any(value) and chance_of_whole(whole_noises, noise) < level
    return f"{whole_noises} of {numbers} continuous noises are whole numbers" if accused else ""


def _density(sample: Sample, placed: Placed) -> str:
    """Return that the mechanism's own density is none, or does not move with the answer of added noise, if it is so."""
    if placed.mass is not None and not abs(placed.mass - 1) <= _MASS:
        return f"its density has mass {placed.mass:.6g} and not 1"
    if not is_additive(sample.mechanism):
        return ""
    output, value = np.asarray(sample.output)[:_LARGEST], np.asarray(sample.value)[:_LARGEST]
    moved, still = (
        np.asarray(sample.mechanism.log_density(*pair)) for pair in ((output, value), (output - value, 0 * value))
    )
    return (
        "" if np.allclose(moved, still, rtol=_DENSITY, atol=_DENSITY) else "its density does not move with the answer"
    )
