"""dpsynth (Google): a calibrated mechanism declares an event, and draws its noise from a generator that it is given."""

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

from dpaudit.adapters.awkward_frames import awkward_frames
from dpaudit.adapters.calls import SeededCalls
from dpaudit.adapters.dp_accounting import declared, epsilons_of
from dpaudit.adapters.draws import Comparison, RecordingGenerator, compare
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Stated

_LIBRARY = "dpsynth"
_DIGITS = 6
"""An accountant discretises losses: digits beyond these are its own, and no claim of the mechanism."""


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a calibrated mechanism: an initializer, a discrete mechanism, or a whole synthesizer.

    The claim is the epsilon that it was calibrated for, where `epsilon` is among the parameters; else the smaller one
    of the PLD and the Renyi accountant on its event, at `delta`, rounded up to six digits. The declaration is the
    event, or stated where no declaration expresses it. With a pair the mechanism runs once on each data set with a
    recording generator: where the draws exceed the event, a note says so, and the declaration bounds nothing, so that
    it is not proved.
    What is published is the noisy measurements, bin edges and categories, unless `released` picks from the result.
    Pandas frames have awkward neighbours: one more row that is awkward in one column.
    Raises: UnsupportedError: no calibrated mechanism, no delta, other neighbours than `add_remove`, or an event that no
        accountant reads.
    """
    event, delta = _event_at(subject, question)
    records = _records(getattr(subject, "max_records_per_user", 1))
    epsilon, source = _claimed(event, question, delta)
    unit = question.unit if records == 1 else f"one person with at most {records} records"
    claim = replace(question.claim(epsilon, delta), unit=unit)
    compared = tuple(_compared(subject, data, event, records) for data in question.pair or ())
    findings = tuple(dict.fromkeys(f"Finding: {comparison.finding}" for comparison in compared if comparison.finding))
    points = tuple(dict.fromkeys(point for comparison in compared for point in comparison.open_points))
    if not compared:
        points = ("No draw was compared with the event; that needs pair=(data, neighbouring data).",)
    declaration, because = declared(event, question)
    if findings:
        because = "the draws exceed the declared event if all of them are noise on data"
        declaration = Stated(
            epsilon=math.inf, source=f"{_LIBRARY} {question.version}, {because}", neighbours="add_remove"
        )

    def prepare(seed: int) -> Callable[[Any], Any]:
        generator = np.random.default_rng(seed)
        return lambda data: subject(generator, data)

    return question.answer(
        claim,
        source,
        declaration,
        because,
        text=f"mechanism {type(subject).__name__}",
        function=SeededCalls(prepare=prepare, released=question.released or _measured),
        awkward=() if question.pair is None else awkward_frames(question.pair, question.neighbours),
        notes=findings + points,
    )


def _event_at(subject: Any, question: Question) -> tuple[Any, float]:
    """Return the event of a mechanism and the delta of the question; raises as `adapt`."""
    name = type(subject).__name__
    if not hasattr(type(subject), "dp_event"):
        raise UnsupportedError(f"Expected a calibrated mechanism of dpsynth, got {name}; configure or calibrate it.")
    if question.neighbours != "add_remove":
        raise UnsupportedError("Expected neighbours='add_remove', for which the noise multipliers of dpsynth are.")
    if question.delta is None:
        raise UnsupportedError("Expected delta=...: the event of a mechanism has an epsilon at a delta.")
    try:
        return subject.dp_event, question.delta
    except AttributeError as error:
        raise UnsupportedError(f"{name} states no event ({error}); it needs a newer dp-accounting.") from None


def _records(number: Any) -> int:
    """Return how many records a person has.

    Raises: UnsupportedError: it is no whole number, or below 1.
    """
    try:
        records = operator.index(number)
    except TypeError:
        records = 0
    if records < 1:
        raise UnsupportedError(f"Expected max_records_per_user={number!r:.40} to be a whole number from 1 on.")
    return records


def _claimed(event: Any, question: Question, delta: float) -> tuple[float, str]:
    """Return the epsilon of a mechanism and whose word it is."""
    if "epsilon" in question.parameters:
        epsilon = float(question.parameters["epsilon"])
        return epsilon, f"calibrate(epsilon={epsilon:g}, delta={delta:g})"
    epsilon, source = min(epsilons_of(event, question, delta))
    rounded = Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal_from_float(epsilon)
    return float(rounded), f"{source} of dp_event, rounded up to {_DIGITS} digits"


def _compared(subject: Any, data: Any, event: Any, records: int) -> Comparison:
    """Return the comparison of an event with the draws of one run; a run that fails decides nothing."""
    generator = RecordingGenerator(np.random.PCG64(0))
    try:
        subject(generator, data)
    except Exception as error:  # the library's own refusal of a data set: an audit sees it as an outcome
        return Comparison(open_points=(f"A run that was to be compared raised {type(error).__name__}.",))
    return compare(event, generator, records)


def _measured(result: Any) -> Any:
    """Return the noisy measurements of a result, by column or clique, and what it found of the columns."""
    codec = getattr(result, "codec", None)
    columns = [result] if codec is None else [column.column_measurement for column in codec.columns.values()]
    discrete = getattr(result, "discrete_mechanism_result", result)
    measurements = [
        *getattr(discrete, "measurements", ()),
        *(getattr(column, "measurement", None) for column in columns),
    ]
    shown: dict[str, Any] = {
        f"{number}: {' '.join(map(str, measurement.clique))}": np.asarray(measurement.noisy_measurement)
        for number, measurement in enumerate(measurements)
        if measurement is not None
    }
    for number, column in enumerate(columns):
        edges, attribute = getattr(column, "bin_edges", None), getattr(column, "categorical_attribute", None)
        shown |= {} if edges is None else {f"edges {number}": np.asarray(edges)}
        shown |= {} if attribute is None else {f"values {number}": list(attribute.possible_values)}
    return shown
