"""Conditions that a run observed, for every algorithm: each is reported as checked or as violated."""

from dpaudit import Condition, Streams


def conditions(observed: dict[str, bool]) -> tuple[Condition, ...]:
    """Return each observed condition, by its text, as checked where it was true and as violated where not."""
    return tuple(Condition(text=text, status="checked" if true else "violated") for text, true in observed.items())


def noise_has_own_stream(streams: Streams) -> bool:
    """Return whether the noise generator serves nothing that is published: no action, answer or public draw."""
    return all(streams.noise is not other for other in (streams.actions, streams.environment, streams.public))
