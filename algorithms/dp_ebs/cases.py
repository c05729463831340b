"""Audits of DP-EBS: neighbouring answers, the algorithm run on them, and the best known score of its output.

All run at small horizons: one answer shifts a few of a tree's nodes, each by 1 over the node's noise; at a realistic
horizon no audit sees that. In the counters' view the opponents and the removals are scripted. Both are public
steps that a proof may not depend on, and scripted they put the removal where it costs most. The target is the first
person, who compares option 1 with option 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from algorithms._dueling.voters import RecordedVoters, two_answers
from algorithms._scores import DensityRatio
from algorithms.dp_ebs.noise.calibrated import batch_noise
from algorithms.dp_ebs.plan import ExactCounters, Plan, plan_of
from algorithms.dp_ebs.rounds.batches import play_batches
from algorithms.dp_ebs.rounds.champion import play_champion
from algorithms.dp_ebs.rounds.lockstep import Pushed, play
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.batches import batches_of, sum_law
from algorithms.dp_ebs.widths.stages import stages_of
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

_SHORT, _LONG = 4, 128
_MOST_OPTIONS = 64


def cases_of(settings: DpEbsSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits that fit the model and the variant, at a horizon at which an audit can see something.

    `problem` does not matter: privacy depends on the settings alone.
    """
    if settings.model == "local":
        return (message_case(settings),)
    if settings.variant == "champion":
        return (stage_case(settings),)
    if settings.variant == "batched":
        batches = [
            batches_of(epsilon=settings.epsilon, horizon=settings.horizon, arms=arms) for arms in (2, settings.arms)
        ]
        last = min(map(len, batches)) - 1
        return tuple(sums_case(settings, index) for index in sorted({0, last // 2, last}))
    later = sorted({(settings.arms + 1) // 2, settings.arms} - {1}) if settings.removal in ("R1", "R2") else []
    options = tuple(option_case(settings, option) for option in later if option <= _MOST_OPTIONS)
    return counters_case(settings), arms_case(settings), *options


def counters_case(settings: DpEbsSettings) -> AuditCase:
    """Return the white-box audit: every output of every counter, scored by its likelihood ratio."""
    audited = audit_plan(settings)
    first, second = neighbours_of(audited)
    score: dict[str, Score] = {"R0": first_answer_shows, "R4": ClockPattern(plan=audited, neighbours=(first, second))}
    return AuditCase(
        name="dp_ebs counters",
        view="counters",
        description=f"All outputs of all counters, over {audited.horizon} rounds; the first person's answer differs.",
        neighbours=(first, second),
        relation="replace_one",
        run=lambda data, rng, n_runs: outputs_of(audited, data, Streams.spawn(rng), n_runs),
        score=score.get(settings.removal) or LikelihoodRatio(plan=audited, neighbours=(first, second)),
    )


def arms_case(settings: DpEbsSettings) -> AuditCase:
    """Return the black-box audit: who is removed and when, at a width so small that removals happen."""
    small = replace(settings, horizon=16, arms=3, width="tight", width_factor=0.02)
    audited = plan_of(small)

    def run(voters: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        outcome = play(audited, voters, Streams.spawn(rng), n_runs)
        return {"eliminated_at": outcome.eliminated_at, "plays": outcome.plays}

    return AuditCase(
        name="dp_ebs arms",
        view="arms",
        description="Which options meet and when they are removed, over 16 rounds; the first person's answer differs.",
        neighbours=two_answers(audited.horizon, 0),
        relation="replace_one",
        run=run,
        score=first_option_stays,
    )


def option_case(settings: DpEbsSettings, option: int) -> AuditCase:
    """Return the white-box audit of the counter of `option`, from 1, in a run that removes nobody.

    In the first rounds every option is on the left once, in order; so the person who differs comes in round `option`.
    """
    rounds = 2 * settings.arms
    small = replace(settings, horizon=rounds, width="tight", width_factor=1.0)
    script = Script(opponent=0, removal=0)
    audited = replace(plan_of(small), opponents=script.opponents, eliminate=script.eliminate)
    pair = two_answers(rounds, option - 1, alone=True)
    return AuditCase(
        name=f"dp_ebs counters, option {option}",
        view="counters",
        description=f"All outputs of all counters, over {rounds} rounds; the answer about option {option} differs.",
        neighbours=pair,
        relation="replace_one",
        run=lambda data, rng, n_runs: outputs_of(audited, data, Streams.spawn(rng), n_runs),
        score=LikelihoodRatio(plan=audited, neighbours=pair),
    )


def message_case(settings: DpEbsSettings) -> AuditCase:
    """Return the local audit: one person's own message, as the run sends it.

    The first counter shows it after the first round, up to the public steps that remove its bias.
    """
    audited = audit_plan(settings)
    low, high = neighbours_of(audited)

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return {"message": outputs_of(audited, data, Streams.spawn(rng), n_runs)["outputs"][:, 0]}

    return AuditCase(
        name="dp_ebs message",
        view="message",
        description="What one person sends; their answer differs.",
        neighbours=(low, high),
        relation="replace_one",
        run=run,
        score=lambda view: np.sign(view["message"] - 0.5),
    )


def sums_case(settings: DpEbsSettings, index: int = 0) -> AuditCase:
    """Return the audit of the noisy sums of one batch, which counts from 0; the batches before it are played.

    Everybody else's option loses. Two options are there, and the person who differs is the first of the batch, so that
    their answer is in the sum of the first option; the view holds a batch only where nobody was removed before it.
    """
    small = replace(settings, arms=2)
    batches = batches_of(epsilon=small.epsilon, horizon=small.horizon, arms=small.arms)
    plays = sum(batch.plays for batch in batches[:index])
    batch, mechanism = batches[index], sum_law(small, batches[index])

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        read: list[Array] = []
        play_batches(small, data, streams, n_runs, Recorder(streams.noise), lambda means, best: read.append(means))
        return {"sums": read[index] * batch.plays}

    return AuditCase(
        name="dp_ebs sums" if index == 0 else f"dp_ebs sums, {batch.label}",
        view="sums",
        description=f"The noisy sums of {'a batch' if index == 0 else batch.label}; one person's answer differs.",
        neighbours=two_answers(settings.horizon, 2 * plays, alone=True),
        relation="replace_one",
        run=run,
        score=DensityRatio(mechanism=mechanism, shown="sums", first=np.zeros(1), second=np.ones(1), entry=0),
    )


def stage_case(settings: DpEbsSettings) -> AuditCase:
    """Return the audit of the noisy sum of the first stage, of two options; the first person's answer differs."""
    small = replace(settings, arms=2, horizon=max(settings.horizon, 4 * stages_of(settings)[0].total))
    total, mechanism = stages_of(small)[0].total, batch_noise(settings.epsilon)

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        read: list[Array] = []
        play_champion(small, data, streams, n_runs, Recorder(streams.noise), lambda shares, best: read.append(1 - best))
        return {"sums": read[0][:, 0] * total}

    return AuditCase(
        name="dp_ebs stage",
        view="sums",
        description="The champion's noisy wins in the first stage; one person's answer differs.",
        neighbours=two_answers(small.horizon, 0, alone=True),
        relation="replace_one",
        run=run,
        score=DensityRatio(mechanism=mechanism, shown="sums", first=np.zeros(1), second=np.ones(1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Public steps written down in advance: everybody meets `opponent`, who goes after round `removal`."""

    opponent: int
    removal: int

    def opponents(self, number: int, lists: Array, left: Array, rng: np.random.Generator) -> Array:
        """Return the opponent, or the first option once it is gone."""
        present = (lists == self.opponent) & (np.arange(lists.shape[1]) < left[:, None])
        return np.where(present.any(axis=1), self.opponent, lists[:, 0])

    def eliminate(self, number: int, upper: Array, lower: Array, left: Array) -> Array:
        """Return that the opponent goes after its round, and nobody else ever."""
        gone = np.zeros(left.shape, dtype=bool)
        if number + 1 == self.removal:
            gone[self.opponent] = left[self.opponent]
        return gone


def audit_plan(settings: DpEbsSettings) -> Plan:
    """Return the plan of a short horizon with scripted duels: four rounds, or 128 where the clock's pattern counts.

    Over four rounds the first option's counter holds the target's answer at clock 1 and takes it back at clock 3
    (5 where both options are credited): 2 L - 3 nodes of opposite signs that are read.
    """
    slow = settings.removal == "R4"
    small = replace(settings, horizon=_LONG if slow else _SHORT, arms=3 if slow else 2, width="tight", width_factor=1.0)
    script = Script(opponent=2, removal=12) if slow else Script(opponent=1, removal=_SHORT)
    return replace(plan_of(small), opponents=script.opponents, eliminate=script.eliminate)


def neighbours_of(plan: Plan) -> tuple[RecordedVoters, RecordedVoters]:
    """Return two data sets in which the first person answers 0 or 1; all others lose, or win under R4."""
    others = 1.0 if plan.reading == "R4" else 0.0
    low, high = np.full(plan.horizon, others), np.full(plan.horizon, others)
    low[0], high[0] = 0.0, 1.0
    return RecordedVoters(answers=low), RecordedVoters(answers=high)


@dataclass(slots=True, kw_only=True)
class Watched:
    """An observer of all counters: a column of outputs for every push, and which counter it was."""

    n_runs: int
    columns: list[Array] = field(default_factory=list)
    arms: list[int] = field(default_factory=list)

    def __call__(self, pushed: Pushed) -> None:
        """Write one column; scripted runs push to the same counters at the same time."""
        column = np.zeros(self.n_runs)
        column[pushed.runs] = pushed.outputs
        self.columns.append(column)
        self.arms.append(int(pushed.arms[0]))


def outputs_of(plan: Plan, data: RecordedVoters, streams: Streams, n_runs: int) -> dict[str, Array]:
    """Return all outputs in the order in which they were shown, shape (n_runs, pushes)."""
    watched = Watched(n_runs=n_runs)
    play(plan, data, streams, n_runs, watch=watched)
    return {"outputs": np.stack(watched.columns, axis=1)}


def exact_sums(plan: Plan, data: RecordedVoters) -> tuple[Array, Array]:
    """Return what the counters would show without noise, and which counter it is, for every push."""

    def exact(plan: Plan, size: int, rng: np.random.Generator) -> ExactCounters:
        return ExactCounters(n_counters=size)

    quiet = replace(plan, counters=exact)
    watched = Watched(n_runs=1)
    play(quiet, data, Streams.spawn(np.random.Generator(np.random.PCG64(0))), 1, watch=watched)
    return np.array([column[0] for column in watched.columns]), np.array(watched.arms)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelihoodRatio:
    """The log likelihood ratio of all outputs, counter by counter: no test does better."""

    plan: Plan
    neighbours: tuple[RecordedVoters, RecordedVoters]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means that the first person answered 1."""
        tree = self.plan.tree
        assert tree is not None  # noqa: S101  # the central model has one
        total: Array = np.zeros(len(view["outputs"]))
        for sign, data in zip((-1, 1), self.neighbours, strict=True):
            sums, arms = exact_sums(self.plan, data)
            for arm in range(self.plan.arms):
                shown = np.flatnonzero(arms == arm)
                if shown.size:
                    elements = np.diff(sums[shown], prepend=0.0)
                    total = total + sign * tree.log_density(view["outputs"][:, shown], elements)
        return total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClockPattern:
    """How well the noise of a survivor's later outputs fits an even or an odd clock (R4).

    Between outputs at clocks n and n + 1 the noise changes by one fresh node where n is even, else by the difference of
    two or more, taken as two here: a statistic, not the likelihood ratio.
    """

    plan: Plan
    neighbours: tuple[RecordedVoters, RecordedVoters]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means that the first person answered 1."""
        tree = self.plan.tree
        assert tree is not None  # noqa: S101  # the central model has one
        scale = float(getattr(tree.leaf, "scale", 1.0))
        total: Array = np.zeros(len(view["outputs"]))
        for sign, data in zip((-1, 1), self.neighbours, strict=True):
            sums, arms = exact_sums(self.plan, data)
            shown = np.flatnonzero(arms == 0)
            taken = int(np.argmin(np.diff(sums[shown])))
            later = shown[taken + 1 :]
            clock = taken + 1 + round(sums[shown][taken] - sums[shown][taken + 1]) + np.arange(len(later) - 1)
            change = np.abs(np.diff(view["outputs"][:, later] - sums[later], axis=1)) / scale
            total = total + sign * np.where(clock % 2 == 0, -change, np.log1p(change) - np.log(2) - change).sum(axis=1)
        return total


def first_answer_shows(view: Mapping[str, Array]) -> Array:
    """Return 1 where the first output is not exactly 0: the first person answered 1 (R0)."""
    return (view["outputs"][:, 0] != 0).astype(float)


def first_option_stays(view: Mapping[str, Array]) -> Array:
    """Return how early the others are removed less how early the first option is."""
    early = 1.0 / view["eliminated_at"]
    return early[:, 1:].sum(axis=1) - (view["eliminated_at"].shape[1] - 1) * early[:, 0]
