"""Conditions that every run can check: noise from a stream of its own, and never the same noise twice."""

from collections.abc import Mapping

from dpaudit import Condition, Released, Streams

FRESH = "No two releases of the run carried the same noise, and noise had a stream of its own."


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    others = (streams.actions, streams.environment, streams.public)
    fingerprints = [release.fingerprint for release in released if release.fingerprint is not None]
    return all(streams.noise is not other for other in others) and len(set(fingerprints)) == len(fingerprints)


def conditions_of(outcomes: Mapping[str, bool]) -> tuple[Condition, ...]:
    """Return one condition for each text: checked where the outcome is True, violated where it is False."""
    return tuple(
        Condition(text=text, status="checked" if outcome else "violated") for text, outcome in outcomes.items()
    )
