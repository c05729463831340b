"""Parts that somebody states in rho or in mu: what they add to a claim in rho, mu or Renyi divergences.

Rho of adaptively composed parts adds up, and mu in squares; mu bounds rho by mu^2 / 2, and rho bounds no mu. A Renyi
divergence of order a is at most a times rho. Only parts that are composed, repeated or post-processed are counted so:
on samples, in groups and by cells such a part has no bound.
Source: Bun and Steinke (2016), Proposition 1.4 and Lemma 1.7; Dong, Roth and Su (2022), Corollaries 2.1 and 3.3.
"""

import math
from dataclasses import replace
from fractions import Fraction

from dpaudit.accounting.curves.measures import Number
from dpaudit.checks import meant
from dpaudit.model.declaration import Billboard, Declaration, Local, PostProcess, Repeat, Sequential, Stated
from dpaudit.model.measures.claims import MeasuredClaim


def apart(node: Declaration, measure: str) -> Declaration:
    """Return the declaration without the parts that are stated in a measure; `stated_sum` has what they add.

    >>> apart(Stated(rho=0.5, source="a census"), "rho").epsilon
    0.0
    """
    match node:
        case Stated():
            return node if _amount(node, measure) is None else replace(node, epsilon=0.0, delta=0.0, rho=None, mu=None)
        case Sequential(parts=parts):
            return replace(node, parts=tuple(apart(part, measure) for part in parts))
        case Repeat(part=part) | PostProcess(part=part) | Billboard(part=part) | Local(part=part):
            return replace(node, part=apart(part, measure))
        case _:
            return node


def with_stated(high: Number, node: Declaration, claim: MeasuredClaim, at: float | None) -> Number:
    """Return an upper bound on the rest of a declaration with what its stated parts add, exactly: no sum is rounded.

    `at` is the order of a Renyi divergence, None for rho and for mu, whose bound is its square.
    """
    told = stated_sum(node, claim.measure) * (1 if at is None else meant(at))
    return told + Fraction(high) if told and high < math.inf else high


def stated_sum(node: Declaration, measure: str) -> Fraction:
    """Return what stated parts add up to: rho, or mu as a square; of Renyi divergences what the order multiplies.

    >>> stated_sum(Repeat(part=Stated(mu=1.0, source="a vendor"), times=3), "renyi")
    Fraction(3, 2)
    """
    match node:
        case Stated():
            return _amount(node, measure) or Fraction(0)
        case Sequential(parts=parts):
            return sum((stated_sum(part, measure) for part in parts), start=Fraction(0))
        case Repeat(part=part, times=times):
            return stated_sum(part, measure) * times
        case PostProcess(part=part) | Billboard(part=part) | Local(part=part):
            return stated_sum(part, measure)
        case _:
            return Fraction(0)


def _amount(node: Stated, measure: str) -> Fraction | None:
    """Return what one stated part adds; None where it is stated in nothing that bounds the measure."""
    square = None if node.mu is None else meant(node.mu) ** 2
    if measure == "mu":
        return square
    rho = None if node.rho is None else meant(node.rho)
    known = [held for held in (rho, None if square is None else square / 2) if held is not None]
    return min(known) if known and measure != "profile" else None
