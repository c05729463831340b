"""Rules about one noisy release."""

import math
from functools import lru_cache

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.model.declaration import Release
from dpaudit.model.losses import Composition, Loss
from dpaudit.rules.step import Rule, Step

_GAUSSIANS = ("gaussian", "symmetric_gaussian", "joint_gaussian")


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


RELEASE_RULES = (
    Rule(
        name="classic_gaussian",
        title="Gaussian mechanism, classic tail bound",
        formula="epsilon = (l2 sensitivity / stddev) sqrt(2 ln(1.25 / delta))",
        source="Dwork and Roth (2014), Theorem A.1",
        side_conditions=("0 < epsilon < 1",),
        conclude=_classic_gaussian,
        premises=_classic_gaussian_premises,
        nodes=(Release,),
        mechanisms=_GAUSSIANS,
    ),
    Rule(
        name="classic_gaussian_2",
        title="Gaussian mechanism, classic tail bound with 2 in place of 1.25",
        formula="epsilon = (l2 sensitivity / stddev) sqrt(2 ln(2 / delta))",
        source="Luyo, Garcelon, Lazaric and Pirotta (2021), F.3; weaker than Dwork and Roth (2014), Theorem A.1",
        side_conditions=("0 < epsilon < 1",),
        conclude=_classic_gaussian_2,
        premises=_classic_gaussian_premises,
        nodes=(Release,),
        mechanisms=_GAUSSIANS,
    ),
    Rule(
        name="analytic_gaussian",
        title="Gaussian mechanism, exact",
        formula="Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) <= delta, mu = sensitivity / stddev",
        source="Balle and Wang (2018), Theorem 8",
        side_conditions=(),
        conclude=leaf_epsilon,
        premises=lambda step: (),
        nodes=(Release,),
        mechanisms=_GAUSSIANS,
    ),
    Rule(
        name="laplace",
        title="Laplace mechanism",
        formula="epsilon = l1 sensitivity / scale",
        source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1",
        side_conditions=(),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
        nodes=(Release,),
        mechanisms=("laplace", "discrete_laplace", "ball_laplace"),
    ),
    Rule(
        name="randomised_response",
        title="randomised response",
        formula="epsilon = ln(P[truth] / P[any other answer])",
        source="Warner (1965); Kairouz, Oh and Viswanath (2015)",
        side_conditions=("neighbours replace a record",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
        nodes=(Release,),
        mechanisms=("randomised_response",),
    ),
    Rule(
        name="tree",
        title="tree aggregation",
        formula="the nodes that hold one leaf, floor(log2 T) + 1 of them, composed",
        source="Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011)",
        side_conditions=("the capacity of the tree is public and never exceeded",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
        nodes=(Release,),
        mechanisms=("tree_aggregation",),
    ),
    Rule(
        name="wishart",
        title="Wishart mechanism",
        formula="epsilon as stated for the density ratio on the common support",
        source="Jiang, Xie and Zhang (2016), Theorem 4",
        side_conditions=("both neighbours can produce every output",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
        nodes=(Release,),
        mechanisms=("one_sided_wishart", "symmetrised_wishart"),
    ),
)
