"""Monotonicity of a claim in the noise: it holds for continuous noise, and not always for noise of whole numbers."""

from dataclasses import dataclass
from itertools import groupby

from dpaudit.accounting.calibration import excess_scaled
from dpaudit.engines import UPPERS
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, Release, walk
from dpaudit.model.mechanism import rests_on_plug_ins

_STEPS = 64
_MOST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreNoise:
    """The result of a check at `checked` factors, evenly spaced between the calibrated factor and `up_to` times it.

    `fails` holds ranges of factors, on the declared noise, at which the claim is not proved; between the checked
    factors nothing is said.
    """

    checked: int
    up_to: float
    fails: tuple[tuple[float, float], ...]


def more_noise_of(declaration: Declaration, claim: Claim, factor: float) -> MoreNoise | None:
    """Return at which larger factors the claim is not proved; None where more noise never costs more.

    The law of whole-number noise changes its shape with the scale. The law of a plug-in's noise is unknown.
    """
    mechanisms = [node.mechanism for _, node in walk(declaration) if isinstance(node, Release)]
    if not any(getattr(noise, "exact_sampler", False) or rests_on_plug_ins(noise) for noise in mechanisms):
        return None
    factors = [factor * (1 + (_MOST - 1) * step / _STEPS) for step in range(1, _STEPS + 1)]
    failing: list[tuple[float, float]] = []
    for fails, group in groupby(factors, key=lambda tried: not _holds(declaration, claim, tried)):
        stretch = tuple(group)
        failing += [(stretch[0], stretch[-1])] if fails else []
    return MoreNoise(checked=_STEPS, up_to=_MOST, fails=tuple(failing))


def _holds(declaration: Declaration, claim: Claim, factor: float) -> bool:
    """Return whether the claim is proved at `factor`; noise beyond a mechanism's range is not."""
    try:
        return excess_scaled(declaration, factor, claim, UPPERS) <= 0
    except UnsupportedError:
        return False
