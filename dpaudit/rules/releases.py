"""Rules about one noisy release."""

import math
from functools import lru_cache

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.model.declaration import Release
from dpaudit.model.losses import Composition, Loss
from dpaudit.rules.step import Step, rule


def leaf_epsilon(step: Step) -> float:
    """Return the exact epsilon of a release at its printed delta, rounded up; infinity for any other node."""
    if not isinstance(step.node, Release):
        return math.inf
    return _epsilon_of(step.node.mechanism.loss(), step.printed.delta)


@lru_cache(maxsize=512)
def _epsilon_of(loss: Loss, delta: float) -> float:
    """Return the epsilon of one release; a paper's argument has many equal ones."""
    alternatives = (Composition.of(loss),)
    return bracket_epsilon(NormalForm(upper=alternatives, lower=alternatives), delta).upper


def _gaussian_mu(step: Step) -> float | None:
    """Return the mu of a leaf with one Gaussian loss, else None."""
    loss = step.node.mechanism.loss() if isinstance(step.node, Release) else None
    mu = getattr(loss, "mu", None)
    return float(mu) if mu is not None else None


def _classic_gaussian(step: Step) -> float:
    """Dwork and Roth (2014), Theorem A.1: epsilon = mu sqrt(2 ln(1.25 / delta))."""
    mu = _gaussian_mu(step)
    if mu is None or step.printed.delta == 0:
        return math.inf
    return mu * math.sqrt(2 * math.log(1.25 / step.printed.delta))


def _classic_gaussian_2(step: Step) -> float:
    """Luyo et al. (2021), Proposition F.3 as printed: epsilon = mu sqrt(2 ln(2 / delta))."""
    mu = _gaussian_mu(step)
    if mu is None or step.printed.delta == 0:
        return math.inf
    return mu * math.sqrt(2 * math.log(2 / step.printed.delta))


def _classic_gaussian_premises(step: Step) -> tuple[str, ...]:
    """The theorem is proved for 0 < epsilon < 1 only."""
    if step.printed.epsilon < 1:
        return ()
    exact = leaf_epsilon(step)
    truth = "true although unproved" if exact <= step.printed.epsilon else "false"
    return (
        f"the theorem needs epsilon < 1, here {step.printed.epsilon:.6g}; the conclusion is {truth} "
        f"(the exact epsilon at this delta is {exact:.6g})",
    )


def _pure_leaf_premises(step: Step) -> tuple[str, ...]:
    """A pure claim fails on any mass at infinity."""
    if not isinstance(step.node, Release):
        return ()
    composition = Composition.of(step.node.mechanism.loss())
    mass = max((loss.infinite_mass for loss, _ in composition.parts), default=0.0)
    if mass > step.printed.delta:
        return (f"some outputs are possible under one neighbour only: delta is at least {mass:.6g} at every epsilon",)
    return ()


def _no_premises(step: Step) -> tuple[str, ...]:
    """An exact epsilon rests on nothing that a paper could break."""
    del step
    return ()


RELEASE_RULES = (
    rule("classic_gaussian", _classic_gaussian, _classic_gaussian_premises, Release),
    rule("classic_gaussian_2", _classic_gaussian_2, _classic_gaussian_premises, Release),
    rule("analytic_gaussian", leaf_epsilon, _no_premises, Release),
    rule("laplace", leaf_epsilon, _pure_leaf_premises, Release),
    rule("randomised_response", leaf_epsilon, _pure_leaf_premises, Release),
    rule("tree", leaf_epsilon, _pure_leaf_premises, Release),
    rule("wishart", leaf_epsilon, _pure_leaf_premises, Release),
)
