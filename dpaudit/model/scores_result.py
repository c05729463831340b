"""The result of an audit of scores: what they show against a claim, the ROC curve with its limits, its JSON form."""

import json
from dataclasses import field
from typing import Annotated, Any, Literal, get_args

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
from dpaudit.json_schema import Keywords
from dpaudit.model.audit_result import Counts, LowerBound, MeasuredBound, Rates
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode

SCHEMA = "urn:dpaudit:schema:scores:4"
"""The schema of what is written."""

READABLE = (SCHEMA, "urn:dpaudit:schema:scores:2")
"""The schemas of what is read: an older file has no bounds in other measures than epsilon."""

Sampling = Literal["runs", "canaries", "paired"]
"""Where the scores come from: independent runs with one target; one run with one coin a canary, or a pair of them."""

SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)

Score = Annotated[float, Keywords({"type": ["number", "string"], "pattern": "^-?inf$"})]
"""A score; infinite ones are texts in JSON."""

ScoresVerdict = Literal["violation", "not_refuted", "inconclusive"]
"""Scores refute a claim, or show a leak within it, or show nothing; they never prove a claim."""


@settled
class RocPoint:
    """One threshold: the scores at or above it are called members; the limits hold at all thresholds together.

    `false_positive_rate` and `true_positive_rate` are (lower, upper) limits, absent where scores share a run.
    """

    threshold: Score
    false_positives: Natural
    true_positives: Natural
    false_positive_rate: tuple[Share, Share] | None = None
    true_positive_rate: tuple[Share, Share] | None = None


@settled
class RateAt:
    """The true positive rate at one false positive rate.

    `measured` needs no randomness; `randomised` mixes two thresholds; `lower` and `upper` are limits (absent where
    scores share a run), and `allowed` is the most that the claim allows.
    """

    false_positive_rate: Share
    measured: Share
    randomised: Share
    allowed: Share
    lower: Share | None = None
    upper: Share | None = None


@settled
class AreaUnderRoc:
    """The area under the ROC curve, its limits (absent where scores share a run), and the most that the claim allows.

    `delong` is the asymptotic interval; it decides nothing.
    """

    value: Share
    allowed: Share
    lower: Share | None = None
    upper: Share | None = None
    delong: tuple[Share, Share] | None = None


@settled
class RawEpsilon:
    """The largest log ratio of counts at any threshold with `least` errors or more of each kind; no bound of any kind.

    `threshold` is absent where no threshold has so many.
    """

    epsilon: NonNegativeOrInfinite
    least: Natural
    threshold: Score | None = None


@settled
class DeclaredTradeOff:
    """The trade-off that was declared beside the claim, whether the scores refute it, and the test's level."""

    text: str
    refuted: bool
    significance: OpenProbability


@settled
class ScoresResult:
    """An audit of scores: verdict, lower bound on epsilon at `delta`, and the measured ROC curve.

    *violation*: the claim or the declared trade-off is refuted. *not_refuted*: the scores tell members from others, and
    nothing is refuted. *inconclusive*: they do not, or no scores of this number could refute the claim. Scores are one
    attack, so that no verdict says that the claim holds.
    Guarantee: claim and declaration, where both hold, are flagged with probability at most `significance`, under the
    stated `sampling`. `epsilon_lower` is wrong with at most that probability. So is each bound in `measured`, alone,
    and `curve`, corners of the trade-off curve that independent runs measure from below; both decide nothing.

    >>> import numpy as np
    >>> from audits import audit_scores
    >>> rng = np.random.default_rng(0)
    >>> ins, outs = rng.normal(3, 1, 500), rng.normal(0, 1, 500)
    >>> claim = Claim(epsilon=1.0, neighbours="add_remove")
    >>> audit_scores(ins, outs, claim, sampling="runs", rng=rng).verdict
    'violation'
    """

    verdict: ScoresVerdict
    sampling: Sampling
    epsilon_lower: NonNegative
    delta: ProbabilityBelowOne
    significance: OpenProbability
    members: Count
    others: Count
    ceiling: NonNegativeOrInfinite
    rule: str
    bound: str
    bounds: tuple[LowerBound, ...]
    counts: Counts
    claim: Claim
    declared: DeclaredTradeOff | None = None
    auroc: AreaUnderRoc
    rates: tuple[RateAt, ...]
    raw: RawEpsilon
    roc: tuple[RocPoint, ...] = field(repr=False)
    measured: tuple[MeasuredBound, ...] = ()
    curve: tuple[Rates, ...] = field(default=(), repr=False)

    @property
    def exceeds_claim(self) -> bool:
        """Whether the lower bound exceeds the claimed epsilon."""
        return self.epsilon_lower > self.claim.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, in the published field names."""
        data: dict[str, Any] = encode(self)
        declared = data.pop("declared", None)
        data["against"] = {"claim": data.pop("claim")} | ({"declared": declared} if declared else {})
        return data | {"schema": SCHEMA}

    def to_json(self) -> str:
        """Return the result as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)
