"""The accusation of a whole suite: which findings of single checks also stand for all checks together."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Accusation:
    """One check that failed, and the smallest significance at which its evidence fails it."""

    name: str
    probability: float


def standing(accusations: Sequence[Accusation], checks: int, significance: float) -> tuple[Accusation, ...]:
    """Return the accusations that stand at `significance` for `checks` checks together, by Holm's rule.

    Guarantee: if every check that is correct fails at its own level with at most that probability, then some correct
    check is returned with probability at most `significance`, however the checks depend on each other.
    Source: Holm (1979).

    >>> [one.name for one in standing([Accusation(name="a", probability=1e-6)], checks=100, significance=0.001)]
    ['a']
    """
    stands: list[Accusation] = []
    for place, accusation in enumerate(sorted(accusations, key=lambda one: one.probability)):
        if accusation.probability > significance / max(1, checks - place):
            break
        stands.append(accusation)
    return tuple(stands)


def suite_line(accusations: Sequence[Accusation], checks: int, significance: float) -> str:
    """Return what the suite as a whole says, in one sentence."""
    stands = standing(accusations, checks, significance)
    if not accusations:
        return f"Nothing is flagged in a suite of {checks} checks."
    names = f" ({', '.join(one.name for one in stands)})" if stands else ""
    return (
        f"Findings: {len(accusations)}. Significant for the whole suite of {checks} checks, at {significance:g} for "
        f"all of them together: {len(stands)}{names}."
    )
