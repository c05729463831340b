"""The losses of a plug-in mechanism, written into a certificate, because no checker can derive them."""

from typing import Any, TypeGuard, assert_never

from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
)
from dpaudit.model.mechanism import Mechanism, attained_loss, is_mechanism

_SHIPPED = ("mechanisms", "algorithms")


def is_plugged_in(value: object) -> TypeGuard[Mechanism]:
    """Return whether `value` is a mechanism that none of our packages names, so that its loss is its supplier's word.

    Edge cases: a class that inherits a shipped mechanism's name counts as that mechanism.

    >>> from mechanisms import Laplace
    >>> is_plugged_in(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
    False
    """
    return is_mechanism(value) and not any(
        kind.__module__.partition(".")[0] in _SHIPPED and vars(kind).get("name") == value.name
        for kind in type(value).__mro__
    )


def stated_losses(mechanism: Mechanism) -> dict[str, list[dict[str, Any]]]:
    """Return, as plain data, the loss that bounds one release (`upper`) and the one that some pair attains (`lower`).

    >>> from mechanisms import Gaussian
    >>> stated_losses(Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))["upper"]
    [{'loss': 'gaussian', 'times': 1, 'mu': 0.5}]
    """
    sides = {"upper": mechanism.loss(), "lower": attained_loss(mechanism)}
    return {
        side: [{"loss": kind, "times": times} | fields for kind, times, fields in _rows(Composition.of(loss))]
        for side, loss in sides.items()
    }


def _rows(composition: Composition) -> list[tuple[str, int, dict[str, Any]]]:
    """Return kind, number of copies and parameters of each loss."""
    return [(kind, times, fields) for loss, times in composition.parts for kind, fields in (_fields(loss),)]


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
            }
        case ChoiceLoss(options=options):
            return "choice", {"options": [{"loss": kind} | fields for kind, fields in map(_fields, options)]}
        case _:
            assert_never(loss)
