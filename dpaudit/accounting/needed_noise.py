"""The noise that a claim needs, beside the noise that a declaration has."""

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from dpaudit.accounting.calibration import smallest_noise
from dpaudit.accounting.more_noise import MoreNoise, more_noise_of
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.model.declaration import Declaration, Release, scaled, walk
from dpaudit.model.mechanism import Mechanism, is_mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededNoise:
    """Releases that share a mechanism, and the same mechanism with the noise that the claim needs."""

    labels: tuple[str, ...]
    declared: Mechanism
    needed: Mechanism

    @property
    def changes(self) -> tuple[tuple[str, float, float], ...]:
        """The parameters that differ: name, declared and needed value."""
        both = zip(_numbers(self.declared), _numbers(self.needed), strict=True)  # in the same order
        return tuple((name, value, after) for (name, value), (_, after) in both if value != after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The smallest `factor` on all declared noise that certifies `claim`, and each release with that factor.

    A factor below 1 means that the declaration has more noise than needed; above 1 it has too little. Without
    `more_noise` the claim holds at every larger factor. `more_noise` is given for noise of whole numbers and of
    plug-ins. It lists larger factors at which the claim is not proved; `factor` certifies and may not be the smallest.
    """

    claim: Claim
    factor: float
    releases: tuple[NeededNoise, ...]
    more_noise: MoreNoise | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain data."""
        return encode(self)


def calibration_of(declaration: Declaration, claim: Claim) -> Calibration:
    """Return the smallest noise, in the declaration's own proportions, that certifies `claim`.

    Raises: UnsupportedError: no amount of noise is enough, or a node that no engine covers.
    """
    factor = smallest_noise(declaration, claim)
    labels_of: dict[tuple[Mechanism, Mechanism], list[str]] = {}
    pairs = zip(walk(declaration), walk(scaled(declaration, factor)), strict=True)
    for (_, before), (_, after) in pairs:
        if isinstance(before, Release) and isinstance(after, Release):
            labels_of.setdefault((before.mechanism, after.mechanism), []).append(before.label)
    releases = tuple(
        NeededNoise(labels=tuple(dict.fromkeys(labels)), declared=declared, needed=needed)
        for (declared, needed), labels in labels_of.items()
    )
    more_noise = more_noise_of(declaration, claim, factor)
    return Calibration(claim=claim, factor=factor, releases=releases, more_noise=more_noise)


def _numbers(mechanism: object, prefix: str = "") -> list[tuple[str, float]]:
    """Return a mechanism's numeric fields by name, those of a mechanism inside after a dot."""
    numbers: list[tuple[str, float]] = []
    if not is_dataclass(mechanism):
        return numbers
    for entry in fields(mechanism):
        value = getattr(mechanism, entry.name)
        if isinstance(value, float | int) and not isinstance(value, bool) and not math.isnan(value):
            numbers.append((prefix + entry.name, float(value)))
        elif is_mechanism(value):
            numbers += _numbers(value, f"{prefix}{entry.name}.")
    return numbers
