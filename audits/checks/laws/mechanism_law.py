"""Tests of whether mechanisms release what their parameters state: samples, the noise of a run, and densities."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from audits.checks.laws.bulk import bulk_of, extremes, hard_of, masses
from audits.checks.laws.by_answer import answers_apart
from audits.checks.laws.coincidences import chance_of_equal, chance_of_whole
from audits.checks.laws.departures import departures
from audits.checks.laws.entrances import Sample, samples_of, wider
from audits.checks.laws.uniforms import dependent, has_reference, log_probability, uniforms
from dpaudit import Mechanism
from dpaudit.looks import Look, count_look, worst
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape
from dpaudit.model.trace import Finding

_SEED = 71_940_212
_ALARM = 1e-7
_EQUAL = 3
_DENSITY = 1e-6
_LARGEST = 16

_EACH = 3
_AT_ANSWER = 40_000

Asked = tuple[Mechanism, tuple[int, ...], str]
"""A mechanism, the shape of one answer, and the label of a release."""


def asked_by(tape: RunTape) -> tuple[Asked, ...]:
    """Return what a run asked of mechanisms with a reference law.

    Of many of one kind and shape the first, the middle and the last.
    """
    kinds: dict[tuple[str, tuple[int, ...]], dict[Mechanism, str]] = defaultdict(dict)
    for release in tape.released:
        item, name = release.value.shape[1:], release.mechanism.name
        leaf = getattr(release.mechanism, "leaf", None) if name == "tree_aggregation" else None
        if not has_reference(leaf or release.mechanism):
            continue
        if leaf is not None:
            item = release.value.shape[release.value.ndim - leaf.item_axes :]
            name += leaf.name
        kinds[name, item].setdefault(release.mechanism, release.labels[0])
    return tuple(
        (mechanism, item, label)
        for (_, item), found in kinds.items()
        for mechanism, label in _spread(tuple(found.items()))
    )


def _spread(found: tuple[tuple[Mechanism, str], ...]) -> tuple[tuple[Mechanism, str], ...]:
    """Return the first, the middle and the last of many."""
    return found if len(found) <= _EACH else (found[0], found[len(found) // 2], found[-1])


def law_findings(asked: Iterable[Asked]) -> Iterator[Finding]:
    """Yield findings (DPA212) where samples of a mechanism do not follow the law that its parameters state.

    Each mechanism is sampled through each of its entrances, for answers of the asked shape and of a wider one; all
    samples of one width are tested together, too. False alarm: 1e-7 a sample at most, at a fixed seed; a size of the
    noise that is off by 2 % is found, and so is noise that is cut off at four standard deviations. A mechanism without
    a reference law is passed over.
    """
    for mechanism, item, label in asked:
        if mechanism.name != "tree_aggregation" and not has_reference(mechanism):
            continue
        rng = np.random.default_rng(_SEED)
        shapes = dict.fromkeys((item, wider(mechanism, item)))
        said = next((says for shape in shapes if (says := _departs_anywhere(mechanism, shape, rng))), "")
        said = said or _departs_in_bulk(mechanism, item, rng) or _departs_at_answers(mechanism, item, rng)
        if said:
            message = f"'{label}': samples of {mechanism.name} do not follow its stated law: {said}."
            yield Finding(rule="DPA212", where=label, message=message)


def _departs_anywhere(mechanism: Mechanism, item: tuple[int, ...], rng: np.random.Generator) -> str:
    """Return how samples through one entrance, or through all of them together, depart from the law."""
    together: list[Array] = []
    for sample in samples_of(mechanism, item, rng):
        found = uniforms(sample.mechanism, sample.output, sample.value, rng)
        if found is None:
            continue
        if said := departs(sample, found):
            return f"{said} ({sample.entrance})"
        if not together or together[0].shape[1] == found.shape[1]:
            together.append(outer(found))
    if not together:
        return ""
    departure = worst(list(departures(np.concatenate(together), independent=False)))
    return f"{departure.words} (all entrances together)" if departure.probability < _ALARM else ""


def _departs_in_bulk(mechanism: Mechanism, item: tuple[int, ...], rng: np.random.Generator) -> str:
    """Return how large samples depart from the law far out or at single whole numbers, or an empty text."""
    for sample in bulk_of(mechanism, item, rng):
        found = uniforms(sample.mechanism, sample.output, sample.value, rng)
        if found is None:
            continue
        departure = worst([*extremes(found), *masses(sample.mechanism, sample.output, sample.value)])
        said = departure.words if departure.probability < _ALARM else repeated(sample, found.size)
        if said:
            return f"{said} ({sample.entrance})"
    for sample in hard_of(mechanism, rng):
        departure = worst(list(masses(sample.mechanism, sample.output, sample.value)))
        if departure.probability < _ALARM:
            return f"{departure.words} ({sample.entrance})"
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

    None where no reference law is known.
    """
    rows = max(_AT_ANSWER // max(answer.size, 1), _LARGEST)
    value = np.broadcast_to(answer, (rows, *answer.shape))
    sample = Sample(mechanism=mechanism, entrance="", output=mechanism.release(value, rng), value=value)
    found = uniforms(mechanism, sample.output, value, rng) if has_reference(mechanism) else None
    return None if found is None else departs(sample, found)


def departs(sample: Sample, found: Array) -> str:
    """Return how a sample, read as uniform numbers, departs from its law, or an empty text."""
    tests = [*departures(outer(found), independent=not dependent(sample.mechanism)), *_untouched(sample)]
    tests += masses(sample.mechanism, np.asarray(sample.output), sample.value)
    departure = worst(tests)
    said = departure.words if departure.probability < _ALARM else ""
    return said or repeated(sample, found.size) or _density(sample)


def _untouched(sample: Sample) -> Iterator[Look]:
    """Yield the test of how often whole-number noise is 0, for a sample of single numbers."""
    moved = np.asarray(sample.output - sample.value) if sample.output.shape == sample.value.shape else np.zeros(0)
    if moved.ndim == 1 and moved.dtype.kind in "iu" and moved.size:
        mass = log_probability(sample.mechanism, sample.value[:1], sample.value[:1])
        if mass is not None:
            yield count_look(int((moved == 0).sum()), moved.size, float(np.exp(mass[0])), "without noise")


def departs_in_run(mechanism: Mechanism, noise: Array, rng: np.random.Generator) -> Look | None:
    """Return how noise that was read from a run departs from its law, if it does."""
    found = uniforms(mechanism, noise, np.zeros_like(noise), rng)
    if found is None or not len(found):
        return None
    far = () if dependent(mechanism) else extremes(found)
    departure = worst([*departures(outer(found), independent=False), *far])
    return departure if departure.probability < _ALARM else None


def departs_in_sum(noises: Iterable[tuple[Mechanism, Array]], rng: np.random.Generator) -> Look | None:
    """Return how the noises of several mechanisms, all on one scale, depart from uniform numbers, if they do.

    Each noise is a list of rows. Many labels with few noises each can show a departure that no single label shows.
    """
    found = [
        uniforms(mechanism, rows, np.zeros_like(rows), rng) for mechanism, rows in noises if not dependent(mechanism)
    ]
    parts = [columns.reshape(-1, 1) for columns in found if columns is not None and columns.size]
    if not parts:
        return None
    numbers = np.concatenate(parts)
    departure = worst([*departures(numbers, independent=False), *extremes(numbers)])
    return departure if departure.probability < _ALARM else None


def outer(columns: Array) -> Array:
    """Return the first and the last few columns of many."""
    half = _LARGEST // 2
    return columns if columns.shape[1] <= _LARGEST else np.concatenate([columns[:, :half], columns[:, -half:]], axis=1)


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
    whole = int((noise == np.round(noise)).sum())
    accused = whole >= _EQUAL and not np.any(value) and chance_of_whole(whole, noise) < level
    return f"{whole} of {numbers} continuous noises are whole numbers" if accused else ""


def _density(sample: Sample) -> str:
    """Return that the mechanism's own density is not the stated one, or an empty text."""
    rows = slice(0, _LARGEST)
    stated = log_probability(sample.mechanism, sample.output[rows], sample.value[rows])
    if stated is None:
        return ""
    own: Any = np.asarray(sample.mechanism.log_density(sample.output[rows], sample.value[rows]))
    apart = float(np.abs(own.reshape(len(stated), -1).sum(axis=1) - stated).max())
    return (
        "" if apart <= _DENSITY * (1 + float(np.abs(stated).max())) else f"its density is off by a factor e^{apart:.3g}"
    )
