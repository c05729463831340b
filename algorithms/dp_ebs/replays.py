"""Replays of DP-EBS on one tape: recorded answers, of which one differs, through every engine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from algorithms._dueling.voters import HOSTILE, RecordedVoters, two_answers, unlike_answers
from algorithms.dp_ebs.plan import Plan, plan_of
from algorithms.dp_ebs.rounds.batches import Read, play_batches
from algorithms.dp_ebs.rounds.champion import play_champion
from algorithms.dp_ebs.rounds.event_driven import play_one
from algorithms.dp_ebs.rounds.lockstep import Outcome, play
from algorithms.dp_ebs.settings import BROKEN, DpEbsSettings
from algorithms.dp_ebs.widths.batches import batches_for
from algorithms.dp_ebs.widths.stages import stages_of
from dpaudit import Recorder, Streams
from dpaudit.model.case import ReplayCase
from dpaudit.model.mechanism import Array

_SHORT, _LONG, _LONGER, _LONGEST = 300, 1_000, 12_000, 200_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayedOutcome(Outcome):
    """What runs in lock-step did, and all the bounds that their removals read, one after another."""

    bounds: Array


Engine = Callable[[RecordedVoters, Streams, int], ReplayedOutcome]
Play = Callable[[Plan, RecordedVoters, Streams, int], ReplayedOutcome]


def replays_of(settings: DpEbsSettings, problem: Any = None) -> tuple[ReplayCase, ...]:
    """Return the replays of all engines that the settings use. `problem` does not matter.

    The rounds are few and the intervals short, so that options are removed while the tape runs.
    """
    if settings.variant == "batched":
        return (_batched(settings),)
    if settings.variant == "champion":
        return (_champion(settings),)
    short = replace(settings, horizon=min(settings.horizon, _SHORT), width="tight", width_factor=0.02)
    plan = plan_of(short)
    plays: dict[str, Play] = {"in lock-step": _lockstep}
    if settings.removal not in BROKEN:
        plays["by events"] = _one_by_one
    unlike = _voters_by_option(plan.horizon, plan.arms)
    cases = [
        _replay(
            f"dp_ebs {name}",
            partial(play, plan),
            plan.horizon,
            (0, 1, 7, 60, plan.horizon // 2, plan.horizon - 1),
            unlike,
        )
        for name, play in plays.items()
    ]
    lengths = {"in lock-step": min(settings.horizon, _LONG), "by events": _LONGER}
    return (*cases, *(_with_all_options(name, play, short, lengths[name]) for name, play in plays.items()))


def _with_all_options(name: str, play: Play, settings: DpEbsSettings, rounds: int) -> ReplayCase:
    """Return the replay of an engine whose intervals are so wide that options stay, over so many rounds."""
    wide = plan_of(replace(settings, horizon=rounds, width_factor=1.0))
    unlike = _voters_by_option(wide.horizon, wide.arms)
    return _replay(f"dp_ebs {name}, all options kept", partial(play, wide), wide.horizon, (), unlike)


def _batched(settings: DpEbsSettings) -> ReplayCase:
    """Return the replay of the batches, the people of each of which come in order."""
    short = replace(settings, horizon=min(settings.horizon, _LONGEST))
    batches = batches_for(short)
    border = batches[0].plays * short.arms
    people = (0, border // 3, 2 * border // 5, border - 1, border, border + 1)
    starts = np.concatenate([[0], np.cumsum([batch.plays * short.arms for batch in batches])])
    unlike = tuple(
        (_decided_in(short, start, batch.plays, 0), _decided_in(short, start, batch.plays, short.arms - 1))
        for start, batch in zip(starts[:3].tolist(), batches, strict=False)
    )
    return _replay("dp_ebs batches", partial(_in_parts, play_batches, short), short.horizon, people, unlike)


def _champion(settings: DpEbsSettings) -> ReplayCase:
    """Return the replay of the stages, the people of each of which come in order."""
    short = replace(settings, horizon=min(settings.horizon, _LONGEST))
    plays = stages_of(short)[0].plays
    border = plays * (short.arms - 1)
    numbers = np.arange(short.horizon)
    champion_wins = RecordedVoters(answers=(numbers >= 0) * 1.0)
    challengers_win = RecordedVoters(answers=(numbers < plays) * 1.0)
    people = (0, plays - 1, plays, border - 1, border)
    engine = partial(_in_parts, play_champion, short)
    return _replay("dp_ebs stages", engine, short.horizon, people, ((champion_wins, challengers_win),))


def _in_parts(
    played: Callable[[DpEbsSettings, RecordedVoters, Streams, int, Recorder, Read], tuple[Outcome, bool]],
    settings: DpEbsSettings,
    data: RecordedVoters,
    streams: Streams,
    n_runs: int,
) -> ReplayedOutcome:
    """Return what runs did in batches or stages; what removals compare is part of it."""
    read: list[Array] = []

    def compared(means: Array, best: Array) -> None:
        read.append(np.ravel(np.column_stack([means, best])))

    outcome = played(settings, data, streams, n_runs, Recorder(streams.noise), compared)[0]
    bounds = np.concatenate(read) if read else np.zeros(0)
    return ReplayedOutcome(plays=outcome.plays, eliminated_at=outcome.eliminated_at, bounds=bounds)


def _decided_in(settings: DpEbsSettings, start: int, plays: int, best: int) -> RecordedVoters:
    """Return people who prefer one option in the batch that begins at `start`, and none before."""
    numbers = np.arange(settings.horizon)
    prefer = ((numbers - start) // max(plays, 1) % settings.arms == best) * 1.0
    return RecordedVoters(answers=np.where(numbers < start, numbers % 2, prefer))


def _lockstep(plan: Plan, data: RecordedVoters, streams: Streams, n_runs: int) -> ReplayedOutcome:
    """Return what runs did in lock-step; the bounds that removals read are part of it."""
    read: list[Array] = []

    def eliminate(number: int, upper: Array, lower: Array, left: Array) -> Array:
        read.append(np.concatenate([upper.ravel(), lower.ravel()]))
        return plan.eliminate(number, upper, lower, left)

    outcome = play(replace(plan, eliminate=eliminate), data, streams, n_runs)
    return ReplayedOutcome(plays=outcome.plays, eliminated_at=outcome.eliminated_at, bounds=np.concatenate(read))


def _one_by_one(plan: Plan, data: RecordedVoters, streams: Streams, n_runs: int) -> ReplayedOutcome:
    """Return what runs did, from removal to removal; the bounds that removals read are part of it."""
    outcomes: list[Outcome] = []
    read: list[Array] = []

    def compared(upper: Array, lower: Array) -> None:
        read.append(np.concatenate([upper, lower]))

    for index in range(n_runs):
        paths = [plan.tree.path(streams.noise) for _ in range(plan.arms)] if plan.tree else []
        outcomes.append(play_one(plan, data, streams, paths, index, compared))
    return ReplayedOutcome(
        plays=np.concatenate([outcome.plays for outcome in outcomes]),
        eliminated_at=np.concatenate([outcome.eliminated_at for outcome in outcomes]),
        bounds=np.concatenate(read) if read else np.zeros(0),
    )


def _voters_by_option(rounds: int, arms: int) -> tuple[tuple[RecordedVoters, RecordedVoters], ...]:
    """Return two data sets that prefer other options: the first always, and the last always."""
    first, last = (
        RecordedVoters(
            answers=np.broadcast_to((np.arange(arms) == best).astype(np.float64)[:, None], (rounds, arms, arms))
        )
        for best in (0, arms - 1)
    )
    return ((first, last),)


def _replay(
    name: str,
    engine: Engine,
    rounds: int,
    places: tuple[int, ...],
    unlike: tuple[tuple[RecordedVoters, RecordedVoters], ...],
) -> ReplayCase:
    """Return the replay of one engine; the answers at `places` differ, one at a time, or all of them (`unlike`)."""

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        outcome = engine(data, Streams.spawn(rng), n_runs)
        return {"plays": outcome.plays, "eliminated_at": outcome.eliminated_at, "bounds": outcome.bounds}

    people = tuple(at for at in places if at < rounds)
    usual = tuple((f"person {at + 1} answers 0 or 1", *two_answers(rounds, at)) for at in people)
    hostile = tuple(
        (f"person 1 answers {answer:g} or 1", *two_answers(rounds, 0, answer)) for answer in (HOSTILE if places else ())
    )
    alone = tuple(
        (f"person {at + 1} answers 0 or 1, all others 0", *two_answers(rounds, at, alone=True)) for at in people[:1]
    )
    others = (unlike_answers(rounds), *unlike)
    return ReplayCase(name=name, pairs=(*usual, *alone, *hostile), run=run, others=others)
