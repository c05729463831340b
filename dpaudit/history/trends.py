"""Trends: the observations of one subject in the order of time, and what changed between neighbouring ones."""

import math
from dataclasses import dataclass
from itertools import pairwise

from dpaudit.history.observations import Observation
from dpaudit.wording.numerals import at_least, at_most, nearest

_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One change between an observation and the one before it, as a sentence on the day of the later one."""

    later: Observation
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """All observations of one subject, at least one, by day."""

    subject: str
    observations: tuple[Observation, ...]

    @property
    def last(self) -> Observation:
        """The latest observation."""
        return self.observations[-1]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The changes, oldest first: of verdict, claim, proved epsilon, findings, and audits that are gone.

        A lower bound that moved is no change: bounds of fresh runs differ by chance.
        """
        pairs = pairwise(self.observations)
        return tuple(Turn(later=b, sentence=text) for a, b in pairs for text in _changes(a, b))

    @property
    def strongest(self) -> Observation | None:
        """The observation with the largest lower bound, or None without audits."""
        attacked = [seen for seen in self.observations if seen.attacked is not None]
        return max(attacked, key=lambda seen: seen.attacked or 0.0, default=None)

    @property
    def risk(self) -> float:
        """A bound on the probability that any of the lower bounds is wrong: the sum of significances, at most 1.

        The sum is valid whatever the audits share.
        """
        return min(1.0, math.fsum(seen.error for seen in self.observations))


def trends_of(observations: tuple[Observation, ...]) -> tuple[Trend, ...]:
    """Return one trend a subject, subjects in alphabetical order."""
    subjects = sorted({seen.subject for seen in observations})
    return tuple(
        Trend(subject=subject, observations=tuple(seen for seen in observations if seen.subject == subject))
        for subject in subjects
    )


def _changes(before: Observation, after: Observation) -> list[str]:
    """Return the sentences on two neighbouring observations."""
    sentences: list[str] = []
    if before.verdict != after.verdict:
        sentences.append(f"The verdict was {before.verdict} and is {after.verdict}.")
    if (before.claimed, before.claim) != (after.claimed, after.claim):
        sentences.append(f"The claim was {claim_of(before)} and is {claim_of(after)}.")
    if before.proved is not None and after.proved is not None and _differ(before.proved, after.proved):
        grew = "grew" if after.proved > before.proved else "fell"
        sentences.append(f"The proved epsilon {grew} from {at_most(before.proved)} to {at_most(after.proved)}.")
    if before.proved_numbers != after.proved_numbers:
        sentences.append(f"What was proved was {_proved(before)}, and is {_proved(after)}.")
    if before.findings != after.findings:
        sentences.append(f"Differences between code and declaration: {before.findings} before, {after.findings} now.")
    if before.audits and not after.audits:
        sentences.append("There were audits before, and there is none now.")
    return sentences


def _proved(seen: Observation) -> str:
    """Return what is proved in an observation, in the measure of its claim."""
    return seen.proved_numbers or ("nothing" if seen.proved is None else f"epsilon at most {at_most(seen.proved)}")


def claim_of(seen: Observation) -> str:
    """Return the claim of an observation in one clause."""
    return seen.claim or "none" if seen.claimed is None else f"epsilon {nearest(seen.claimed)} ({seen.claim})"


def summary_of(trend: Trend) -> str:
    """Return where a subject stands, in two or three sentences."""
    last, strongest = trend.last, trend.strongest
    standing = f"{last.day}: {last.verdict}."
    if last.proved is not None:
        standing += f" Proved, under the conditions of the document: epsilon at most {at_most(last.proved)}."
    elif last.proved_numbers:
        standing += f" Claimed: {last.claim}. Proved, under the conditions of the document: {last.proved_numbers}."
    if strongest is None or strongest.attacked is None:
        return f"{standing} No audit is among the documents."
    return (
        f"{standing} The largest bound from below is epsilon {at_least(strongest.attacked)}, of {strongest.day}. "
        "Where the assumptions of the audits hold, the probability that any of the bounds from below is wrong is at "
        f"most {at_most(trend.risk, 2)}."
    )


def _differ(before: float, after: float) -> bool:
    """Return whether two numbers differ by more than a millionth of the larger."""
    return before != after and abs(after - before) > _TOLERANCE * max(abs(before), abs(after))
