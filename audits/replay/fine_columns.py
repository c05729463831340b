"""Columns of an output that follow digits of the noise which only rounding decides.

They are the last digits and bytes of a number, how many of them are written, and what a double leaves out of a wide
number. Noise in exact arithmetic has no such digits, so that a claim about it says nothing of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from audits.experiment.function_case import FunctionCase
from audits.outputs.fields import MARK, NUMBER
from audits.replay.evidence import differing
from audits.replay.one_call import Player
from dpaudit import DPAuditError

_STREAM, _CALLS = 5_113, 2
_MOVED = (1e-7, -7e-8, 1e-9, 1e-12)
"""Relative changes of the noise that move the last digits of a single or a double, and no number by more."""

_ROUNDED = 1e-6


def fine_columns(
    player: Player, data: Any, seeds: Sequence[tuple[int, ...]], moves: Sequence[float] = _MOVED
) -> frozenset[str]:
    """Return the columns that change where the noise of calls on these streams changes in its last digits alone.

    What a double leaves out of a number is one where the number changes at all. Of numbers, bytes alone are.

    Edge cases: none where a call with the same noise differs. Noise that numpy's generator does not draw is not moved.
    """
    fine = set[str]()
    for seed in seeds:
        call = player.call(data, *seed)
        if differing(call, player.call(data, *seed), _ROUNDED):
            return frozenset()
        for other in (player.call(data, *seed, moved=moved) for moved in moves):
            fine.update(name for name in differing(call, other, _ROUNDED) if not _is_number(name))
            fine.update(*(_rests(name) for name, value in call.numbers.items() if other.columns.get(name) != value))
    return frozenset(fine)


def columns_of_rounding(player: Player, pair: tuple[Any, Any]) -> frozenset[str]:
    """Return the columns of calls on two data sets that a claim about exact arithmetic says nothing of.

    Edge cases: where a few calls differ in nothing but numbers, noise is moved once; none where outputs cannot be read.
    """
    seeds = [(_STREAM, number) for number in range(_CALLS)]
    try:
        calls = [player.call(data, *seed) for data in pair for seed in seeds]
        if all(_is_number(name) for call in calls[1:] for name in differing(calls[0], call, _ROUNDED)):
            fine = [fine_columns(player, data, seeds[:1], _MOVED[:1]) for data in pair]
        else:
            fine = [fine_columns(player, data, seeds) for data in pair]
    except (DPAuditError, ValueError, TypeError):
        return frozenset()
    return frozenset[str]().union(*fine)


def with_exact_columns(case: FunctionCase, seconds: float | None) -> FunctionCase:
    """Return the case without `columns_of_rounding`, unless last bits count or a score reads the outputs."""
    if case.arithmetic != "exact" or case.score is not None:
        return case
    player = Player(run=case.run, seconds=seconds)
    return replace(case, fine=columns_of_rounding(player, case.neighbours))


def _rests(name: str) -> set[str]:
    """Return the columns of what doubles leave out of a number, also as one entry of an array."""
    path = name.removeprefix(NUMBER)
    array, bracket, index = path.rpartition("[")
    return {f"{MARK}{path} rest", f"{MARK}{array} rest{bracket}{index}"}


def _is_number(name: str) -> bool:
    """Return whether a column is a number of the output, and no byte."""
    return name.startswith(NUMBER) and "@" not in name
