"""What the counted runs of an audit show beside its main event: values that are rare, and last bits of numbers."""

import math
from dataclasses import replace

from audits.bounds.error_rates import guess_counts
from audits.bounds.guessing import guessing_bound
from audits.decision.events import Event, count_guesses
from audits.decision.results import overruled
from dpaudit import AuditResult
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

LOW_BITS_SHARE = 0.1
"""The share of the significance that the last bits have where they decide."""

EXACT = (
    "The claim is judged as if arithmetic were exact; arithmetic='floating' judges the released numbers. They leak "
    "less on a coarse grid, or with discrete noise."
)
"""What a remark adds where last bits decide nothing."""

REMEDY = "Round outputs to a coarse grid or draw discrete noise; arithmetic='exact' judges noise as real-valued."
"""What a remark adds where last bits decide."""

_BESIDE, _ALONE = 0.1, 0.9
"""Shares of a deciding bound's significance for rare values, where there are any: beside a main event that promises to
refute the claim, and where the main event promises nothing of the kind."""

_EVENT = Event(low=-1.0, high=1.0, cut=1.0)
_REMARK = "Values that few runs show, and those of one data set alone, decide; no witness file holds them."


def leak_sentence(epsilon: float, *, decides: bool, coarse: bool = False) -> str:
    """Return the remark on last bits that show `epsilon`, with what to do; `coarse` says that noise is on a grid."""
    shown = math.floor(100 * epsilon) / 100
    if coarse:
        return (
            "The noise lies on a grid that is coarser than the answers: the digits of the outputs below that grid show "
            f"epsilon of at least {shown:g}. Round the answers to the grid of the noise before it is added."
        )
    return (
        f"The floating-point lattice of the outputs differs between the data sets: their last bits show epsilon of at "
        f"least {shown:g}. {REMEDY if decides else EXACT}"
    )


def rounding_remarks(bounds: tuple[LowerBound, ...], *, rounded: bool, decides: bool) -> tuple[str, ...]:
    """Return the remark on noise that is `rounded` after data are added, where no bound from last bits says more."""
    if not (rounded and decides) or any(bound.name == "low_bits" for bound in bounds):
        return ()
    return (
        "Noise is rounded after data are added: which floating-point numbers can come out depends on the data. The "
        f"last bits of these runs showed no epsilon above the claim; more runs may. {REMEDY}",
    )


def with_low_bits(
    result: AuditResult, guesses: Array, labels: Array, *, decides: bool, coarse: bool = False
) -> AuditResult:
    """Return the result with the bound that guesses from last bits show, if it exceeds the claim.

    `guesses` holds one entry a counted run: 1 for the second neighbour, -1 for the first, 0 for none. If it `decides`,
    the verdict is *violation*; its bound has a tenth of the significance, and the other bounds the rest. Otherwise the
    bound stands beside the verdict, at the significance of the audit.
    """
    level = result.significance * (LOW_BITS_SHARE if decides else 1)
    counts = guess_counts(labels, guesses, guesses > 0)
    epsilon = guessing_bound(counts, result.delta, level).epsilon
    if epsilon <= result.claim.epsilon:
        return result
    bound = LowerBound(name="low_bits", epsilon=epsilon, significance=level)
    remark = leak_sentence(epsilon, decides=decides, coarse=coarse)
    if not decides:
        return replace(result, bounds=(*result.bounds, bound), remarks=(*result.remarks, remark))
    if result.verdict == "violation" and result.epsilon_lower >= epsilon:
        remarks = result.remarks if coarse else (*result.remarks, remark)  # outputs without noise are on a grid too
        return replace(result, bounds=(*result.bounds, bound), remarks=remarks)
    return overruled(result, bound, counts, "last bits", remark)


def rare_share(promise: float, target: float) -> float:
    """Return the share of a deciding bound's significance for rare values, before anything is counted.

    `promise` is the bound that the main event promises, `target` the epsilon to refute.

    >>> rare_share(2.0, 1.0), rare_share(0.9, 1.0)
    (0.1, 0.9)
    """
    return _BESIDE if promise > target else _ALONE


def with_rare_values(result: AuditResult, scores: Array, labels: Array, share: float) -> AuditResult:
    """Return `result`, or a violation that rare values show where the main event shows less.

    `scores` are those of `RareValues` on the counted runs, `share` the significance that was set aside for them. Their
    bound has a name of its own: a witness of the main event does not show it again.
    Guarantee: with the main bound at its own share, both together keep the significance of the audit.
    """
    counts = count_guesses(_EVENT, scores, labels)
    epsilon = guessing_bound(counts, result.delta, share).epsilon
    if epsilon <= max(result.epsilon_lower, min(result.claim.epsilon, result.certified)):
        return result
    bound = LowerBound(name="rare_values", epsilon=epsilon, significance=share)
    return overruled(result, bound, counts, "rare values", _REMARK)
