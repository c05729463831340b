"""The theorems that papers cite, as data: formula, source, premises, and the epsilon each one concludes.

A rule reads a `Step`: a node, the budget printed on it, and what its parts were concluded to cost. It
answers with the smallest epsilon that the theorem gives at the printed delta, and with the premises it
finds broken. `dpaudit.replay` walks a tree with them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.accountant import bracket_epsilon
from dpaudit.declaration import Billboard, Declaration, Group, Local, Printed, Release
from dpaudit.folding import NormalForm
from dpaudit.losses import Composition


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An (epsilon, delta) that some argument assigns to a node."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One inference of a printed argument: `parts` are the budgets below, with how often each is met."""

    node: Declaration
    printed: Printed
    parts: tuple[tuple[Budget, int], ...]

    @property
    def count(self) -> float:
        """How many parts the rule composes: the paper's own slots, else the parts there are."""
        return self.printed.slots if self.printed.slots is not None else float(self.events)

    @property
    def events(self) -> int:
        """How many parts the node has, counted with repetition."""
        return sum(times for _, times in self.parts)

    @property
    def largest(self) -> Budget:
        """The componentwise largest budget of a part."""
        return Budget(
            epsilon=max((part.epsilon for part, _ in self.parts), default=0.0),
            delta=max((part.delta for part, _ in self.parts), default=0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A theorem: `conclude` returns the smallest epsilon it gives, `premises` what is broken, in words."""

    name: str
    title: str
    formula: str
    source: str
    side_conditions: tuple[str, ...]
    conclude: Callable[[Step], float]
    premises: Callable[[Step], tuple[str, ...]]


def leaf_epsilon(step: Step) -> float:
    """Return the exact epsilon of a leaf at its printed delta, rounded up; infinity where there is none."""
    if not isinstance(step.node, Release):
        return math.inf
    alternatives = (Composition.of(step.node.mechanism.loss()),)
    return bracket_epsilon(NormalForm(upper=alternatives, lower=alternatives), step.printed.delta).upper


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


def _classic_gaussian_premises(step: Step) -> tuple[str, ...]:
    """The theorem is stated for one Gaussian release and proved for 0 < epsilon < 1 only."""
    if _gaussian_mu(step) is None:
        return ("the theorem is about one Gaussian release, and this is none",)
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
        return ("the rule is about one release, and this is none",)
    composition = Composition.of(step.node.mechanism.loss())
    mass = max((loss.infinite_mass for loss, _ in composition.parts), default=0.0)
    if mass > step.printed.delta:
        return (f"some outputs are possible under one neighbour only: delta is at least {mass:.6g} at every epsilon",)
    return ()


def _sum(step: Step) -> float:
    """Dwork et al. (2006), Theorem 1: epsilons add up."""
    if step.printed.slots is not None:
        return step.printed.slots * step.largest.epsilon
    return math.fsum(part.epsilon * times for part, times in step.parts)


def _sum_premises(step: Step) -> tuple[str, ...]:
    """The slots cover the parts, and the deltas fit."""
    problems: list[str] = []
    if step.printed.slots is not None and step.events > step.printed.slots * (1 + 1e-12):
        problems.append(f"{step.events} parts are composed in {step.printed.slots:.6g} slots")
    deltas = (
        step.printed.slots * step.largest.delta
        if step.printed.slots is not None
        else math.fsum(part.delta * times for part, times in step.parts)
    )
    return (*problems, *_exceeding("delta", deltas, step.printed.delta))


def _spare_delta(step: Step) -> float:
    """Return what advanced composition has left for its own d' after the parts' deltas."""
    return step.printed.delta - step.count * step.largest.delta


def _advanced(step: Step) -> float:
    """Dwork, Rothblum and Vadhan (2010), Theorem III.3."""
    spare, k, epsilon = _spare_delta(step), step.count, step.largest.epsilon
    if spare <= 0:
        return math.inf
    return epsilon * math.sqrt(2 * k * math.log(1 / spare)) + k * epsilon * math.expm1(epsilon)


def _advanced_refined(step: Step) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.4 (second form), for equal parts."""
    spare, k, epsilon = _spare_delta(step), step.count, step.largest.epsilon
    if spare <= 0:
        return math.inf
    return epsilon * math.sqrt(2 * k * math.log(1 / spare)) + k * epsilon * math.tanh(epsilon / 2)


def _advanced_short(step: Step) -> float:
    """Dwork and Roth (2014), Corollary 3.21: parts of epsilon / sqrt(8 k ln(2 / delta))."""
    if step.printed.delta == 0:
        return math.inf
    return step.largest.epsilon * math.sqrt(8 * step.count * math.log(2 / step.printed.delta))


def _advanced_premises(step: Step) -> tuple[str, ...]:
    """Something of delta must be left for the theorem's own failure probability."""
    if _spare_delta(step) <= 0:
        return ("the parts use up the whole delta; the theorem needs some of it for itself",)
    return ()


def _advanced_short_premises(step: Step) -> tuple[str, ...]:
    """The shorthand is proved for epsilon <= 1 and parts with delta / (2k)."""
    problems: list[str] = []
    if step.printed.epsilon > 1:
        problems.append(f"the shorthand needs epsilon <= 1, here {step.printed.epsilon:.6g}")
    return (*problems, *_exceeding("delta of the parts", 2 * step.count * step.largest.delta, step.printed.delta))


def _optimal(step: Step) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5, the closed form for unequal parts."""
    parts = [(part.epsilon, times) for part, times in step.parts]
    kept = math.fsum(times * math.log1p(-part.delta) for part, times in step.parts)
    spare = -math.expm1(math.log1p(-step.printed.delta) - kept)
    total = math.fsum(e * n for e, n in parts)
    if spare <= 0:
        return total if -math.expm1(kept) <= step.printed.delta else math.inf
    drift = math.fsum(n * e * math.tanh(e / 2) for e, n in parts)
    squares = math.fsum(n * e * e for e, n in parts)
    return min(
        total,
        drift + math.sqrt(2 * squares * math.log(math.e + math.sqrt(squares) / spare)),
        drift + math.sqrt(2 * squares * math.log(1 / spare)),
    )


def _largest(step: Step) -> float:
    """The largest epsilon of a part."""
    return step.largest.epsilon


def _largest_premises(step: Step) -> tuple[str, ...]:
    """The largest delta of a part must fit."""
    return _exceeding("delta", step.largest.delta, step.printed.delta)


def _group(step: Step) -> float:
    """Dwork and Roth (2014), Theorem 2.2: epsilon grows with the size of the group."""
    return step.largest.epsilon * (step.node.size if isinstance(step.node, Group) else math.inf)


def _group_premises(step: Step) -> tuple[str, ...]:
    """Delta grows by (e^(k epsilon) - 1) / (e^epsilon - 1)."""
    if not isinstance(step.node, Group):
        return ("the rule is about a group of records, and this node is none",)
    epsilon, size = step.largest.epsilon, step.node.size
    growth = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon else size
    return _exceeding("delta", step.largest.delta * growth, step.printed.delta)


def _kind_premises(kind: type, what: str) -> Callable[[Step], tuple[str, ...]]:
    """Return premises of a rule that speaks of one kind of node."""

    def premises(step: Step) -> tuple[str, ...]:
        wrong = () if isinstance(step.node, kind) else (f"the rule is about {what}, and this node is none",)
        return (*wrong, *_largest_premises(step))

    return premises


def _exceeding(name: str, found: float, allowed: float) -> tuple[str, ...]:
    """Return a complaint where `found` is above `allowed` by more than rounding."""
    if found <= allowed * (1 + 1e-9):
        return ()
    return (f"{name} adds up to {found:.6g}, the paper has {allowed:.6g}",)


_ALL = (
    Rule(
        name="classic_gaussian",
        title="Gaussian mechanism, classic tail bound",
        formula="epsilon = (l2 sensitivity / stddev) sqrt(2 ln(1.25 / delta))",
        source="Dwork and Roth (2014), Theorem A.1",
        side_conditions=("0 < epsilon < 1",),
        conclude=_classic_gaussian,
        premises=_classic_gaussian_premises,
    ),
    Rule(
        name="analytic_gaussian",
        title="Gaussian mechanism, exact",
        formula="Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) <= delta, mu = sensitivity / stddev",
        source="Balle and Wang (2018), Theorem 8",
        side_conditions=(),
        conclude=leaf_epsilon,
        premises=lambda step: () if _gaussian_mu(step) is not None else ("this is no Gaussian release",),
    ),
    Rule(
        name="laplace",
        title="Laplace mechanism",
        formula="epsilon = l1 sensitivity / scale",
        source="Dwork, McSherry, Nissim and Smith (2006), Proposition 1",
        side_conditions=(),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
    ),
    Rule(
        name="randomised_response",
        title="randomised response",
        formula="epsilon = ln(P[truth] / P[any other answer])",
        source="Warner (1965); Kairouz, Oh and Viswanath (2015)",
        side_conditions=("neighbours replace a record",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
    ),
    Rule(
        name="tree",
        title="tree aggregation",
        formula="epsilon = (floor(log2 T) + 1) times the epsilon of one node",
        source="Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011)",
        side_conditions=("the capacity of the tree is public and never exceeded",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
    ),
    Rule(
        name="wishart",
        title="Wishart mechanism",
        formula="epsilon as stated for the density ratio on the common support",
        source="Jiang, Xie and Zhang (2016), Theorem 4",
        side_conditions=("both neighbours can produce every output",),
        conclude=leaf_epsilon,
        premises=_pure_leaf_premises,
    ),
    Rule(
        name="basic",
        title="basic composition",
        formula="(sum of epsilons, sum of deltas)",
        source="Dwork, Kenthapadi, McSherry, Mironov and Naor (2006), Theorem 1",
        side_conditions=(),
        conclude=_sum,
        premises=_sum_premises,
    ),
    Rule(
        name="advanced",
        title="advanced composition",
        formula="epsilon sqrt(2 k ln(1/d')) + k epsilon (e^epsilon - 1), k delta + d'",
        source="Dwork, Rothblum and Vadhan (2010), Theorem III.3",
        side_conditions=("some delta is left for d'",),
        conclude=_advanced,
        premises=_advanced_premises,
    ),
    Rule(
        name="advanced_refined",
        title="advanced composition, refined",
        formula="epsilon sqrt(2 k ln(1/d')) + k epsilon tanh(epsilon/2), k delta + d'",
        source="Kairouz, Oh and Viswanath (2015), Theorem 3.4",
        side_conditions=("some delta is left for d'",),
        conclude=_advanced_refined,
        premises=_advanced_premises,
    ),
    Rule(
        name="advanced_short",
        title="advanced composition, shorthand",
        formula="parts of (epsilon / sqrt(8 k ln(2/delta)), delta / (2k)) make (epsilon, delta)",
        source="Dwork and Roth (2014), Corollary 3.21",
        side_conditions=("epsilon <= 1", "each part has at most delta / (2k)"),
        conclude=_advanced_short,
        premises=_advanced_short_premises,
    ),
    Rule(
        name="optimal",
        title="optimal composition, closed form",
        formula=(
            "min{sum e, S + sqrt(2 Q ln(e + sqrt(Q)/d')), S + sqrt(2 Q ln(1/d'))}, S = sum e tanh(e/2), Q = sum e^2"
        ),
        source="Kairouz, Oh and Viswanath (2015), Theorem 3.5",
        side_conditions=("the parts' budgets are fixed in advance",),
        conclude=_optimal,
        premises=lambda step: (),
    ),
    Rule(
        name="parallel",
        title="parallel composition",
        formula="the largest budget of a part",
        source="McSherry (2009), Theorem 4",
        side_conditions=("a record touches one part, and not by its own value",),
        conclude=_largest,
        premises=_largest_premises,
    ),
    Rule(
        name="group",
        title="group privacy",
        formula="(k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1))",
        source="Dwork and Roth (2014), Theorem 2.2",
        side_conditions=("a person owns at most k records",),
        conclude=_group,
        premises=_group_premises,
    ),
    Rule(
        name="post_processing",
        title="post-processing",
        formula="the budget of what is processed",
        source="Dwork and Roth (2014), Proposition 2.1",
        side_conditions=("no data is read again",),
        conclude=_largest,
        premises=_largest_premises,
    ),
    Rule(
        name="billboard",
        title="billboard lemma",
        formula="a central (epsilon, delta) of the billboard is a joint one of what users make of it",
        source="Hsu, Huang, Roth, Roughgarden and Wu (2014), Lemma 2.5",
        side_conditions=("a user's output reads the billboard and their own record only",),
        conclude=_largest,
        premises=_kind_premises(Billboard, "a public billboard"),
    ),
    Rule(
        name="local",
        title="local randomiser",
        formula="a user's budget is that of their own message",
        source="Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)",
        side_conditions=("one message a user",),
        conclude=_largest,
        premises=_kind_premises(Local, "a user's own message"),
    ),
)

RULES: dict[str, Rule] = {rule.name: rule for rule in _ALL}
"""Every rule by name."""
