"""Releases grouped by query: one pair of neighbouring data sets moves the releases of one query together."""

from dataclasses import fields, is_dataclass
from typing import TypeAlias

from dpaudit.model.mechanism import is_mechanism

Query: TypeAlias = tuple[object, ...]
"""What one pair moves as a whole: a label with the query's own parameters, or all labels of a set."""


def query_of(mechanism: object) -> Query:
    """Return what a mechanism adds its noise to: its kind, and the parameters that scaling the noise leaves alone.

    >>> from mechanisms import Laplace
    >>> less, more = (Laplace(scale=b, l1_sensitivity=1.0, neighbours="replace_one") for b in (1.0, 3.0))
    >>> query_of(less) == query_of(more)
    True
    """
    if not is_mechanism(mechanism):
        return (mechanism,)
    for factor in (2.0, 0.5):  # noise near the end of the range can be scaled one way only
        try:
            return _common(mechanism, mechanism.scaled(factor))
        except (ValueError, OverflowError):
            continue
    return (mechanism,)


def _common(first: object, second: object) -> Query:
    """Return the name of a mechanism and those of its parameters that another of its kind shares."""
    if not is_dataclass(first):
        return (first,)
    pairs = [(entry.name, getattr(first, entry.name), getattr(second, entry.name)) for entry in fields(first)]
    shared = ((name, _common(a, b) if is_mechanism(a) else a) for name, a, b in pairs if _alike(a, b))
    return (type(first).__name__, *shared)


def _alike(first: object, second: object) -> bool:
    """Return whether two parameters are equal, or mechanisms inside a mechanism."""
    return first == second or is_mechanism(first)
