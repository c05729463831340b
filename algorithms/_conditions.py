"""Conditions that every run can check: noise from a stream of its own, and never the same noise twice."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dpaudit import Condition, Streams
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released

FRESH = Condition(kind="distinct_noise")


def noise_has_own_stream(streams: Streams) -> bool:
    """Return whether the noise generator serves nothing that is published: no action, answer or public draw."""
    return all(streams.noise is not other for other in (streams.actions, streams.environment, streams.public))


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    fingerprints = [release.fingerprint for release in released if release.fingerprint is not None]
    return noise_has_own_stream(streams) and len(set(fingerprints)) == len(fingerprints)


def all_took_part(counts: Array, users: int) -> bool:
    """Return whether as many users took part as the public schedule says, in every run. Shape: (n_runs, a, b)."""
    return bool((counts.sum(axis=(1, 2)) == users).all())


def nobody_twice(people: Sequence[range]) -> bool:
    """Return whether no number lies in two of the ranges.

    >>> nobody_twice([range(0, 3), range(5, 6), range(3, 5)]), nobody_twice([range(0, 3), range(2, 4)])
    (True, False)
    """
    ordered = sorted(people, key=lambda numbers: numbers.start)
    return all(before.stop <= after.start for before, after in pairwise(ordered))


def conditions_of(outcomes: Mapping[Condition, bool]) -> tuple[Condition, ...]:
    """Return each condition as a run saw it: checked where the outcome is True, violated where it is False."""
    return tuple(condition.seen(holds=outcome) for condition, outcome in outcomes.items())
