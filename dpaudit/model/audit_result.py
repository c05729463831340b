"""The result of an audit: lower bounds with their significance, and the power that was measured."""

import json
import math
from dataclasses import field
from typing import Annotated, Any, Literal

from dpaudit.arguments import settled
from dpaudit.checks import (
    Count,
    Natural,
    NonNegative,
    NonNegativeOrInfinite,
    OpenProbability,
    ProbabilityBelowOne,
    Share,
)
from dpaudit.json_schema import Digest, Keywords
from dpaudit.model.case import AuditCoverage
from dpaudit.model.claim import Claim, MeasureKind
from dpaudit.model.codec import encode

AuditVerdict = Literal["violation", "consistent", "not_refuted", "inconclusive"]

PowerKind = Literal["upper_limit", "less_noise", "far_pair", "repeated_runs", "none"]
"""What showed the power of an audit: a limit on the loss at this pair, a control that the audit accused, or nothing."""

SCHEMA = "urn:dpaudit:schema:audit:6"

Measure = Literal["mu", "rho"]
"""Measures other than epsilon that samples bound from below."""

Statistic = Literal["rank sums", "one event", "all thresholds", "cells at any time", "one run"]
"""What a bound on a measure counts."""


Rates = Annotated[tuple[Share, Share], "False and true positive rate."]


@settled
class LowerBound:
    """A lower bound on epsilon at the audit's delta, wrong with probability at most `significance`.

    `assumption` is empty for a bound that holds for every mechanism; otherwise it says in words what the
    bound takes for granted.

    >>> LowerBound(name="guessing", epsilon=0.8, significance=0.05).assumption
    ''
    """

    name: str
    epsilon: NonNegativeOrInfinite
    significance: OpenProbability
    assumption: str = ""


@settled
class MeasuredBound:
    """A lower bound on mu (Gaussian differential privacy) or rho from samples, for what ran on one pair of data sets.

    Guarantee: wrong with probability at most `significance`, alone. `samples` is how many scores a side, or how many
    runs, were counted. It refutes a claim in its own measure and bounds no other: outputs that refute mu may have a rho
    below mu^2 / 2.

    >>> MeasuredBound(measure="mu", value=0.43, statistic="rank sums", samples=50_000, significance=0.05).measure
    'mu'
    """

    measure: Measure
    value: NonNegative
    statistic: Annotated[Statistic, "What was counted."]
    samples: Natural
    significance: OpenProbability


@settled
class MeasuredNumber:
    """A number of a claim beside its lower bound from samples; `at` is its order or its epsilon, if it has one.

    >>> MeasuredNumber(claimed=0.5, lower=0.61).refuted
    True
    """

    at: NonNegative | None = None
    claimed: NonNegativeOrInfinite
    lower: NonNegativeOrInfinite

    @property
    def refuted(self) -> bool:
        """Whether the bound exceeds the claim."""
        return self.lower > self.claimed


@settled
class MeasureTest:
    """What one event shows against a claim in rho, mu, Renyi divergences or points of a profile.

    The event has a probability of at least `true_positive_rate` on one data set and at most `false_positive_rate` on
    the other; both limits hold together except with probability `significance`, and with them all `numbers` at once.
    `implied_epsilon` follows from the claim at the audit's delta: a translation, which other findings are weighed by.

    >>> number = MeasuredNumber(claimed=0.5, lower=0.61)
    >>> shown = dict(true_positive_rate=0.46, false_positive_rate=0.09, significance=0.01, implied_epsilon=4.7)
    >>> MeasureTest(measure="rho", numbers=(number,), **shown).refuted
    True
    """

    measure: MeasureKind
    numbers: Annotated[tuple[MeasuredNumber, ...], Keywords({"minItems": 1})]
    true_positive_rate: Share
    false_positive_rate: Share
    significance: OpenProbability
    implied_epsilon: NonNegativeOrInfinite

    @property
    def refuted(self) -> bool:
        """Whether the event refutes the claim."""
        return any(number.refuted for number in self.numbers)


@settled
class AuditMethod:
    """What an audit runs, and how it judges: `address` is the content address of all that its result depends on.

    These are code, data, neighbours, claim, versions, attack and bounds. `bounds` are those that may decide the
    verdict, `measured` those in other measures, which decide nothing.
    """

    address: Digest
    attack: str
    bounds: tuple[str, ...]
    measured: tuple[str, ...]


@settled
class FollowedPlan:
    """The plan that an audit was bound to before it ran, by its digest, and in what the audit departed from it.

    `method` is what really ran: the content address of an audit of another pair, or of changed code, is another one.

    >>> ran = AuditMethod(address="0" * 64, attack="the case's score", bounds=("guessing",), measured=("rank sums",))
    >>> FollowedPlan(digest="0" * 64, method=ran).departures
    ()
    """

    digest: Digest
    method: AuditMethod
    departures: tuple[str, ...] = ()


@settled
class Power:
    """What the audit would have caught, as far as it was measured; right except with probability `error`.

    `kind` says what was measured. *upper_limit*: no attack on this pair delivers more than `epsilon`. *less_noise*: the
    attack of the audit accuses the code with so little noise that it has at most `epsilon`, with `probability` or more.
    *far_pair* and *repeated_runs*: the attack accuses, with `probability` or more, a control that is stretched from the
    code's own behaviour, a pair k times as far apart or k runs that count as one; `epsilon` is k times the claimed one,
    and nothing is said of a violation of that size at this pair. *none*: nothing was caught. `repetitions` is the
    number of runs of the control that were counted.

    >>> Power(epsilon=2.0, probability=0.9, error=0.1, kind="far_pair", repetitions=400).kind
    'far_pair'
    """

    epsilon: NonNegativeOrInfinite
    probability: Share
    error: Share
    kind: PowerKind
    repetitions: Natural


@settled
class Counts:
    """The guesses that the bound counts, on runs that chose nothing: `correct` of `guesses` in `runs`.

    `guesses` leaves out abstentions. The four error counts describe the threshold test on the same runs.

    >>> counts = Counts(
    ...     runs=100, guesses=60, correct=50, true_positives=25, false_positives=5, positives=50, negatives=50
    ... )
    >>> counts.correct / counts.guesses > 0.8
    True
    """

    runs: Natural
    guesses: Natural
    correct: Natural
    true_positives: Natural
    false_positives: Natural
    positives: Natural
    negatives: Natural


@settled
class AuditResult:
    """An audit's verdict and all that is needed to judge it.

    `epsilon_lower` comes from `bound`, the bound the verdict rests on; `bounds` lists the others too. A bound with an
    `assumption` contradicts the declaration and never the claim alone: other code may break the one and keep the other.
    `ceiling` is the most that any attack could show with the runs that count. `against` is the claim; `certified`
    is the certificate's upper bound, or infinity where there is none: a bound above it is a violation of
    the declaration even where it stays below a slack claim. `roc` holds (false, true) positive rates. `remarks` say
    what the code did beside its outputs, and why an audit is inconclusive. `coverage` says which declared releases were
    attacked and which lines ran, where the audit belongs to a program. `measured` bounds other measures than epsilon
    and decides nothing; `curve` holds corners (false, true positive rate) of the trade-off curve that the counted runs
    measure from below, all of which hold at once with probability at least 1 - `significance`. `plan` is what the audit
    was bound to before it ran, where there was one. `tested` is the test of a claim in its own measure; None for a
    claim in epsilon and delta.

    >>> import numpy as np
    >>> from audits import audit
    >>> def told(data, rng, n_runs):
    ...     return np.full(n_runs, data)
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> result = audit(told, neighbours=(0.0, 1.0), claim=claim, runs=400, rng=np.random.default_rng(0))
    >>> result.verdict, result.exceeds_claim, result.assumption
    ('violation', True, '')
    """

    name: str
    verdict: AuditVerdict
    epsilon_lower: NonNegative
    delta: ProbabilityBelowOne
    significance: OpenProbability
    runs: Count
    ceiling: NonNegativeOrInfinite
    power: Power
    view: str
    attack: str
    bound: str
    bounds: tuple[LowerBound, ...]
    counts: Counts
    seed: int | None
    claim: Claim
    certified: float = math.inf
    description: str = ""
    seconds: NonNegative = 0.0
    roc: tuple[Rates, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()
    coverage: AuditCoverage | None = None
    measured: tuple[MeasuredBound, ...] = ()
    curve: tuple[Rates, ...] = field(default=(), repr=False)
    plan: FollowedPlan | None = None
    tested: MeasureTest | None = None

    @property
    def assumption(self) -> str:
        """What the bound that the verdict rests on takes for granted, in words; empty where it holds for all code."""
        return next((bound.assumption for bound in self.bounds if bound.name == self.bound), "")

    @property
    def blind_delta(self) -> float:
        """The probability of a leak at which the counted runs contain none with probability `significance`."""
        return min(1.0, -math.log(self.significance) / max(1, self.counts.runs))

    @property
    def exceeds_claim(self) -> bool:
        """Whether a bound exceeds the claim and takes nothing for granted."""
        in_measure = self.tested is not None and self.tested.refuted
        return in_measure or (self.epsilon_lower > self.claimed_epsilon and not self.assumption)

    @property
    def claimed_epsilon(self) -> float:
        """The claimed epsilon; of a claim in another measure the epsilon that it implies at the audit's delta."""
        return self.claim.epsilon if self.tested is None else self.tested.implied_epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain data, in the published field names; infinity is the string "inf"."""
        data: dict[str, Any] = encode(self)
        data["schema"], data["blind_delta"] = SCHEMA, self.blind_delta
        data["against"] = {"claim": data.pop("claim"), "certificate": data.pop("certified")}
        return data

    def to_json(self) -> str:
        """Return the audit as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)
