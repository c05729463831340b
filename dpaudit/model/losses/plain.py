"""Losses as plain data, in the form that a certificate carries them for a plug-in mechanism."""

from dataclasses import replace
from typing import Any

from dpaudit.errors import UnsupportedError
from dpaudit.model.losses.approximate import ApproximateLoss
from dpaudit.model.losses.composed import ChoiceLoss, ComposedLoss, Loss, SimpleLoss
from dpaudit.model.losses.composition import Composition
from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss, ThresholdLoss
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss


def plain_losses(loss: Loss) -> list[dict[str, Any]]:
    """Return the kind, the number of copies and the parameters of each part of a loss.

    >>> plain_losses(GaussianLoss(mu=0.5))
    [{'loss': 'gaussian', 'times': 1, 'mu': 0.5}]
    """
    rows = ((*_fields(part), times) for part, times in Composition.of(loss).parts)
    return [{"loss": kind, "times": times} | fields for kind, fields, times in rows]


def as_carried(loss: Any) -> Any:
    """Return what a certificate carries of a plug-in's loss: its law, without its author's theorems about it.

    >>> from fractions import Fraction
    >>> even = DiscreteLoss(atoms=((0.0, 1.0),), rho=Fraction(0))
    >>> as_carried(even).rho is None
    True
    """
    match loss:
        case DiscreteLoss():
            return replace(loss, rho=None, span=None, once=None)
        case ThresholdLoss():
            return LaplaceLoss.exactly(loss.exact)
        case ChoiceLoss(options=options):
            return ChoiceLoss(options=tuple(map(as_carried, options)))
        case ComposedLoss(parts=parts):
            return ComposedLoss(parts=tuple((as_carried(part), times) for part, times in parts))
        case _:
            return loss


def _fields(loss: SimpleLoss) -> tuple[str, dict[str, Any]]:
    """Return the kind of a loss and its parameters."""
    match loss:
        case GaussianLoss(mu=mu):
            return "gaussian", {"mu": mu}
        case LaplaceLoss(shift=shift):
            return "laplace", {"shift": shift}
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            return "approximate", {"epsilon": epsilon, "delta": delta}
        case SampledGaussianLoss(mu=mu, rate=rate, order=order):
            return "sampled_gaussian", {"mu": mu, "rate": rate, "order": order}
        case DiscreteLoss(atoms=atoms):
            return "discrete", {
                "losses": [value for value, _ in atoms],
                "probabilities": [probability for _, probability in atoms],
                "infinite_mass": loss.infinite_mass,
                "reverse_infinite_mass": loss.reverse_infinite_mass,
            } | ({"one_order": True} if loss.one_order and not loss.symmetric else {})
        case ChoiceLoss(options=options):
            rows = [{"loss": kind, "times": 1} | fields for kind, fields in map(_fields, options)]
            return "choice", {"options": rows}
        case _:
            raise UnsupportedError(f"A certificate cannot carry a plug-in's loss of the kind {type(loss).__name__}.")
