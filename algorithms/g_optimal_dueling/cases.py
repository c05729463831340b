"""Audits of the G-optimal dueling bandit: one phase, one comparison, and an answer at the edge of the decision.

Two options at -1/2 and +1/2 make one comparison, which the first phase plays 400 times. The second option is dropped
when the noisy wins reach the cut at which the estimate is 2 xi_1 = 1. Two data sets with one and two wins less than
that cut lie on the same tail of the noise, and their probabilities of a drop differ by e^epsilon exactly: the
arms' view alone attains the claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms._dueling.voters import RecordedVoters, two_answers
from algorithms._scores import DensityRatio
from algorithms.g_optimal_dueling.phases import play_phases
from algorithms.g_optimal_dueling.plan import Plan, phase_label, plan_of
from algorithms.g_optimal_dueling.schedule import Lengths
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import AuditCase, Mechanism, Recorder, Streams
from dpaudit.model.mechanism import Array

PLAYS = 400
"""How often the comparison is played."""

FEATURES = np.array([[0.5], [-0.5]])
"""Two options, one comparison of length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedLengths(Lengths):
    """Phases of a given number of plays."""

    number: int = 1

    def total(self, phase: int) -> float:
        """Return the number of plays."""
        return float(PLAYS)

    def random_plays(self) -> int:
        """Return no random plays."""
        return 0

    def phases(self) -> int:
        """Return the number of phases."""
        return self.number


def cut() -> float:
    """Return the number of wins at which the second option is dropped, but for the ridge: 400 sigma(1) = 292.42."""
    return float(PLAYS / (1 + np.exp(-1.0)))


def audit_plan(settings: GOptimalDuelingSettings, phases: int = 1) -> Plan:
    """Return the plan of phases with one comparison; noise, estimate and decision are those of the settings."""
    lengths = FixedLengths(settings=settings, horizon=PLAYS * phases, number=phases)
    return replace(plan_of(settings), horizon=PLAYS * phases, lengths=lengths)


def wins_of(wins: int) -> RecordedVoters:
    """Return a data set in which the first `wins` people prefer the first option; neighbours differ in one of them."""
    return RecordedVoters(answers=(np.arange(PLAYS) < wins).astype(float))


def cases_of(settings: GOptimalDuelingSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits of what everybody sees, and of the sums, which are noised as if they were shown.

    The sums of the first phase, of the middle one and of the last one are attacked.

    `problem` does not matter: privacy depends on the settings alone.
    """
    plan, last = audit_plan(settings), plan_of(settings).lengths.phases()
    later = sorted({(last + 1) // 2, last} - {1})
    return arms_case(plan), sums_case(plan), *(phase_case(audit_plan(settings, phase), phase) for phase in later)


def arms_case(plan: Plan, wins: tuple[int, int] | None = None) -> AuditCase:
    """Return the black-box audit: is the second option dropped? Tight at one cut."""
    low, high = wins or (int(cut()) - 1, int(cut()))

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        outcome = play_phases(plan, FEATURES, data, streams, n_runs, Recorder(streams.noise))
        return {"survivors": outcome.survivors[:, -1]}

    return AuditCase(
        name="g_optimal_dueling arms",
        view="arms",
        description=f"Whether an option is dropped after {PLAYS} comparisons; one answer at the edge differs.",
        neighbours=(wins_of(low), wins_of(high)),
        relation="replace_one",
        run=run,
        score=DropRatio(low=low, high=high, scale=float(getattr(plan.mechanism, "scale", 1.0))),
    )


def sums_case(plan: Plan) -> AuditCase:
    """Return the white-box audit: the noisy number of wins, scored by its likelihood ratio."""
    pair = wins_of(int(cut()) - 1), wins_of(int(cut()))
    return _wins_case(plan, 1, "", "one comparison; one answer differs", pair)


def phase_case(plan: Plan, phase: int) -> AuditCase:
    """Return the white-box audit of the noisy wins of a later phase, from 1, with its first answer 0 or 1.

    The people before it answer in turn, so that the two options stay.
    """
    label, pair = phase_label(phase), two_answers(PLAYS * phase, PLAYS * (phase - 1))
    return _wins_case(plan, phase, f", {label}", f"{label}; the answer of its first person differs", pair)


def _wins_case(plan: Plan, phase: int, name: str, what: str, pair: tuple[RecordedVoters, RecordedVoters]) -> AuditCase:
    """Return the audit of the noisy wins of one phase, in which all answers of the last people count."""
    few, many = (float(side.answers[-PLAYS:].sum()) for side in pair)

    def run(data: RecordedVoters, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        seen: list[Array] = []

        def watched(recorder: Recorder, label: str, mechanism: Mechanism, wins: Array) -> Array:
            seen.append(plan.release(recorder, label, mechanism, wins))
            return seen[-1]

        play_phases(replace(plan, release=watched), FEATURES, data, streams, n_runs, Recorder(streams.noise))
        return {"sums": seen[phase - 1][:, 0]}

    return AuditCase(
        name=f"g_optimal_dueling sums{name}",
        view="sums",
        description=f"The noisy number of wins of {what}.",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=DensityRatio(mechanism=plan.mechanism, shown="sums", first=np.array(few), second=np.array(many)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRatio:
    """The log likelihood ratio of whether the second option is dropped: no test of the arms' view does better."""

    low: int
    high: int
    scale: float

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means one win more."""
        few, many = (self._chance(wins) for wins in (self.low, self.high))
        dropped, stays = np.log(many / few), np.log1p(-many) - np.log1p(-few)
        return np.where(view["survivors"][:, 1], stays, dropped)

    def _chance(self, wins: int) -> float:
        """Return the probability that wins with Laplace noise reach the cut."""
        short = (cut() - wins) / self.scale
        return float(np.exp(-short) / 2 if short > 0 else 1 - np.exp(short) / 2)
