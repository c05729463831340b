"""The rounds of DP-EBS for one long run, from removal to removal instead of one by one.

Between two removals the duels are public: the option on the left is the one with the fewest plays retained, so plays
come in the order of (plays retained, option). A block of them is played at once, as a table with a row for each
number of plays and a column for each option; the first cell after which some upper bound is below the best lower
bound ends the block. Nodes drawn beyond that cell are never read. Equal in law to the loop over rounds. Where both
options are credited, `event_both` plays the blocks.
"""

from typing import Any

import numpy as np

from algorithms._dueling.voters import Voters
from algorithms.dp_ebs.noise.shuffled import VOTE
from algorithms.dp_ebs.plan import Plan, debiased
from algorithms.dp_ebs.rounds.event_both import block_crediting_both
from algorithms.dp_ebs.rounds.event_state import EventRun, Read
from algorithms.dp_ebs.rounds.lockstep import Outcome
from algorithms.dp_ebs.rounds.taped import keep_rows, last_place
from dpaudit import Streams
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import released_on_tape

_CELLS = 4096


def play_one(
    plan: Plan, voters: Voters, streams: Streams, paths: list[Any], index: int = 0, read: Read | None = None
) -> Outcome:
    """Return what one run did; `paths` are the options' trees (none where the votes carry the noise).

    For the readings R1, R2 and R3, and the local model. Arrays as for `lockstep.play`, with one run. `index` is the
    number of the run among those that a caller plays. `read(upper, lower)` is told of all bounds that removals compare.
    """
    run = EventRun(plan=plan, paths=paths, index=index, read=read)
    eliminated_at = np.full(plan.arms, plan.horizon + 1)
    block = block_crediting_both if plan.credits_both else _block
    number = 0
    while number < plan.horizon and len(run.left) > 1:
        played, over = block(run, voters, streams, number)  # Algorithm 1, lines 4 to 9, once for each round
        number += played
        if over:
            gone = run.left[run.upper[run.left] < run.lower[run.left].max()]  # line 10
            eliminated_at[gone] = number
            _remove(run, gone)  # lines 11 to 15
    if number < plan.horizon:
        run.pairs[run.left[0], run.left[0]] += plan.horizon - number
    return Outcome(plays=run.pairs[None], eliminated_at=eliminated_at[None])


def _block(run: EventRun, voters: Voters, streams: Streams, number: int) -> tuple[int, bool]:
    """Play one block; return how many rounds it took, and whether a removal ended it."""
    plan, left = run.plan, run.left
    first = int(run.retained[left].min())
    rows = max(2, _CELLS // len(left))
    levels = np.arange(first, first + rows)
    due = levels[:, None] >= run.retained[left][None, :]
    cells = np.flatnonzero(due)[: plan.horizon - number]
    due = np.zeros(due.size, dtype=bool)
    due[cells] = True
    due = due.reshape(rows, len(left))
    columns = cells % len(left)
    options, others = left[columns], left[(streams.actions.random(len(cells)) * len(left)).astype(np.int64)]
    sent = voters.votes(number + np.arange(len(cells)), options, others, streams.environment)
    votes = None
    if plan.response is not None:
        runs = np.full(len(cells), run.index)
        sent = released_on_tape(VOTE, plan.response, sent.astype(np.int64), streams.noise, runs)
        votes = last_place(streams.noise)
    won = debiased(plan, sent)
    upper, lower = _intervals(run, due, cells, won, levels)
    cell = _first_event(run, upper, lower, due)
    taken = len(cells) if cell is None else int(np.searchsorted(cells, cell)) + 1
    keep_rows(streams.noise, votes, taken)
    _commit(run, options[:taken], others[:taken], won[:taken])
    run.tell(upper.ravel()[cells[:taken]], lower.ravel()[cells[:taken]])
    _show(run, upper, lower, int(cells[taken - 1]))
    return taken, cell is not None


def _show(run: EventRun, upper: Array, lower: Array, last: int) -> None:
    """Set all bounds to those after cell `last`: the options up to it show its row, the others the one above."""
    row, column = divmod(last, len(run.left))
    done = np.where(np.arange(len(run.left)) <= column, row, row - 1)
    seen = done >= 0
    run.upper[run.left[seen]] = upper[done[seen], np.flatnonzero(seen)]
    run.lower[run.left[seen]] = lower[done[seen], np.flatnonzero(seen)]


def _intervals(run: EventRun, due: Array, cells: Array, won: Array, levels: Array) -> tuple[Array, Array]:
    """Return both bounds after every cell, carried forward where an option does not play. Shape: that of `due`."""
    plan, left = run.plan, run.left
    table = np.zeros(due.size)
    table[cells] = won
    totals = run.sums[left] + np.cumsum(table.reshape(due.shape), axis=0)
    upper = np.broadcast_to(run.upper[left], due.shape).copy()
    lower = np.broadcast_to(run.lower[left], due.shape).copy()
    for column, arm in enumerate(left):
        rows = np.flatnonzero(due[:, column])
        if not rows.size:
            continue
        span = slice(int(rows[0]), int(rows[-1]) + 1)
        retained = levels[span] + 1
        clocks = run.clocks[arm] + 1 + np.arange(rows.size)
        mean = run.shown(int(arm), totals[span, column]) / retained
        width = plan.half_width.of(retained, clocks)
        upper[span, column], lower[span, column] = mean + width, mean - width
        upper[span.stop :, column], lower[span.stop :, column] = (
            upper[span.stop - 1, column],
            lower[span.stop - 1, column],
        )
    return upper, lower


def _first_event(run: EventRun, upper: Array, lower: Array, due: Array) -> int | None:
    """Return the first played cell after which some upper bound is below the largest lower bound, or None.

    After cell (r, c) the options up to c show row r, the others row r - 1 (before the block where r = 0).
    """
    last_upper, last_lower = run.upper[run.left], run.lower[run.left]
    if min(upper.min(), last_upper.min()) >= max(lower.max(), last_lower.max()):
        return None
    top = np.maximum.accumulate(lower, axis=1)
    low = np.minimum.accumulate(upper, axis=1)
    rest_top, rest_low = _suffixes(lower, last_lower, np.maximum), _suffixes(upper, last_upper, np.minimum)
    event = np.flatnonzero(due & (np.minimum(low, rest_low) < np.maximum(top, rest_top)))
    return int(event[0]) if event.size else None


def _suffixes(values: Array, before: Array, combine: np.ufunc) -> Array:
    """Return, for each cell, the extreme over the later columns of the row above, which is `before` for the first."""
    result = np.full(values.shape, -np.inf if combine is np.maximum else np.inf)
    above = np.concatenate([before[None, :], values[:-1]])
    result[:, :-1] = combine.accumulate(above[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return result


def _commit(run: EventRun, options: Array, others: Array, won: Array) -> None:
    """Enter the duels that took place."""
    run.met(options, others, won)
    run.sums += np.bincount(options, weights=won, minlength=run.plan.arms)
    counts = np.bincount(options, minlength=run.plan.arms)
    run.retained += counts
    for arm in run.left:
        run.advance(int(arm), int(counts[arm]))


def _remove(run: EventRun, gone: Array) -> None:
    """Take options out, and their duels out of the survivors' counters, one element each."""
    plan = run.plan
    run.left = run.left[~np.isin(run.left, gone)]
    for arm in gone:
        for other in run.left:
            met, won = run.met_and_won(int(other), int(arm))
            run.retained[other] -= met
            run.sums[other] -= 1.0 if plan.reading == "R1" else won
            output = run.shown_now(int(other), float(run.sums[other]))
            run.advance(int(other), 1)
            retained = max(int(run.retained[other]), 1)
            width = float(plan.half_width.of(np.array([retained]), run.clocks[other : other + 1])[0])
            none = run.retained[other] == 0
            run.upper[other] = np.inf if none else output / retained + width
            run.lower[other] = -np.inf if none else output / retained - width
            run.tell(run.upper[other], run.lower[other])
