"""Conditions that every run can check: noise from a stream of its own, and never the same noise twice."""

from collections.abc import Mapping

from dpaudit import Condition, Streams
from dpaudit.model.trace import Released

FRESH = Condition(kind="distinct_noise")


def noise_has_own_stream(streams: Streams) -> bool:
    """Return whether the noise generator serves nothing that is published: no action, answer or public draw."""
    return all(streams.noise is not other for other in (streams.actions, streams.environment, streams.public))


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    fingerprints = [release.fingerprint for release in released if release.fingerprint is not None]
    return noise_has_own_stream(streams) and len(set(fingerprints)) == len(fingerprints)


def conditions_of(outcomes: Mapping[Condition, bool]) -> tuple[Condition, ...]:
    """Return each condition as a run saw it: checked where the outcome is True, violated where it is False."""
    return tuple(condition.seen(holds=outcome) for condition, outcome in outcomes.items())
