"""A block of rounds of DP-EBS for one run in which both options of a duel are credited (reading R3).

Between two removals the duels depend on the public draws of opponents alone: the option on the left is the one with the
fewest plays retained, and both options' plays count. So a block of duels is scheduled first and its counters are read
at once; the first round after which some upper bound is below the best lower bound ends it. Nodes drawn beyond that
round are never read. Equal in law to the loop over rounds.
"""

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.dp_ebs.rounds.event_state import EventRun
from dpaudit import Streams
from dpaudit.model.mechanism import Array

_ROUNDS = 4096


def block_crediting_both(run: EventRun, voters: Voters, streams: Streams, number: int) -> tuple[int, bool]:
    """Play one block; return how many rounds it took, and whether a removal ended it."""
    rounds = min(_ROUNDS, run.plan.horizon - number)
    drawn = (streams.actions.random(rounds) * len(run.left)).astype(np.int64)
    options, others = _schedule(run.retained[run.left].tolist(), run.left, drawn)
    won = voters.votes(number + np.arange(rounds), options, others, streams.environment).astype(np.float64)
    upper, lower = _intervals(run, options, others, won)
    events = np.flatnonzero(upper.min(axis=1) < lower.max(axis=1))
    taken = int(events[0]) + 1 if events.size else rounds
    _commit(run, options[:taken], others[:taken], won[:taken])
    run.tell(upper[:taken], lower[:taken])
    run.upper[run.left], run.lower[run.left] = upper[taken - 1], lower[taken - 1]
    return taken, bool(events.size)


def _schedule(plays: list[int], left: Array, drawn: Array) -> tuple[Array, Array]:
    """Return the options on the left and on the right of a block: the fewest plays, ties to the smallest option.

    `plays` are those retained by the options `left`, and `drawn` the places there of the options on the right.
    """
    places: list[int] = []
    for other in drawn.tolist():
        option = plays.index(min(plays))
        places.append(option)
        plays[option] += 1
        if other != option:
            plays[other] += 1
    return left[places], left[drawn]


def _intervals(run: EventRun, options: Array, others: Array, won: Array) -> tuple[Array, Array]:
    """Return both bounds of each option left after every round; shape (rounds, options left)."""
    shape = (len(options), len(run.left))
    upper, lower = np.empty(shape), np.empty(shape)
    for column, arm in enumerate(map(int, run.left)):
        elements, entered = _elements(arm, options, others, won)
        count = len(elements)
        tops, bottoms = np.full(count + 1, run.upper[arm]), np.full(count + 1, run.lower[arm])
        if count:
            retained = run.retained[arm] + 1 + np.arange(count)
            mean = run.shown(arm, run.sums[arm] + np.cumsum(elements)) / retained
            width = run.plan.half_width.of(retained, run.clocks[arm] + 1 + np.arange(count))
            tops[1:], bottoms[1:] = mean + width, mean - width
        seen = np.cumsum(entered)
        upper[:, column], lower[:, column] = tops[seen], bottoms[seen]
    return upper, lower


def _elements(arm: int, options: Array, others: Array, won: Array) -> tuple[Array, Array]:
    """Return what enters one counter in order, and in which rounds: a win on the left, or one on the right."""
    on_left = options == arm
    entered = on_left | (others == arm)
    return np.where(on_left, won, 1 - won)[entered], entered


def _commit(run: EventRun, options: Array, others: Array, won: Array) -> None:
    """Enter the duels that took place."""
    run.met(options, others, won)
    for arm in map(int, run.left):
        elements, _ = _elements(arm, options, others, won)
        run.sums[arm] += elements.sum()
        run.retained[arm] += len(elements)
        run.advance(arm, len(elements))
