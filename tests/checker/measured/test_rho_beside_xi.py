"""Claims in rho and xi: no Renyi divergence of an order a exceeds xi + rho a, and no smaller rho does."""

import json
import math
from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from dpaudit import Claim, Release, Repeat, Sequential, certify, verify
from dpaudit.accounting.curves import measures
from mechanisms import Exponential, Finite, Gaussian, Laplace, RandomisedResponse

WHO: Any = {"neighbours": "replace_one"}
LAPLACE = Release(label="l", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, **WHO))
RESPONSE = Release(label="r", mechanism=RandomisedResponse(epsilon=1.0, **WHO))
RANGE = Release(label="e", mechanism=Exponential(epsilon=1.0, linf_sensitivity=1.0, **WHO))
NORMAL = Release(label="g", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, **WHO))


def of_laplace(a: mpmath.mpf) -> mpmath.mpf:
    """The divergence of Laplace noise of shift 1 (Mironov 2017, Table II)."""
    return mpmath.log((a * mpmath.exp(a - 1) + (a - 1) * mpmath.exp(-a)) / (2 * a - 1)) / (a - 1)


def of_response(a: mpmath.mpf) -> mpmath.mpf:
    p = 1 / (1 + mpmath.exp(-1))
    return mpmath.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


def of_range(a: mpmath.mpf) -> mpmath.mpf:
    """The divergence of the worst pair, found on its own: two losses t and t - 1, P(t) = (e - e^t) / (e - 1)."""

    def moment(t: mpmath.mpf) -> mpmath.mpf:
        u = (mpmath.e - mpmath.exp(t)) / (mpmath.e - 1)
        return mpmath.log(u * mpmath.exp((a - 1) * t) + (1 - u) * mpmath.exp((a - 1) * (t - 1))) / (a - 1)

    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(60):
        third = (high - low) / 3
        low, high = (low + third, high) if moment(low + third) < moment(high - third) else (low, high - third)
    return moment(low)


def rho_beside(xi: float, divergence: Callable[[mpmath.mpf], mpmath.mpf]) -> float:
    """The supremum of (R_a - xi) / a over orders dense in ratio, by 40 digits."""
    with mpmath.workdps(40):
        orders = [1 + mpmath.mpf(10) ** (mpmath.mpf(step) / 60) for step in range(-480, 240)]
        best = max(range(len(orders)), key=lambda i: (divergence(orders[i]) - xi) / orders[i])
        first, last = orders[max(0, best - 1)], orders[min(len(orders) - 1, best + 1)]
        near = [first + (last - first) * step / 200 for step in range(201)]
        return float(max((divergence(order) - xi) / order for order in near))


P, Q = (0.7, 0.3), (0.2, 0.8)
TABLE = Release(label="t", mechanism=Finite(first=P, second=Q, **WHO))


def of_table(a: mpmath.mpf) -> mpmath.mpf:
    """The larger divergence of the two orders, as each release may have either."""
    ways = [[(mpmath.mpf(repr(x)), mpmath.mpf(repr(y))) for x, y in zip(*way, strict=True)] for way in ((P, Q), (Q, P))]
    return mpmath.log(max(sum(x**a * y ** (1 - a) for x, y in way) for way in ways)) / (a - 1)


CASES: dict[str, tuple[Any, Callable[[mpmath.mpf], mpmath.mpf]]] = {
    "Laplace noise": (LAPLACE, of_laplace),
    "Laplace noise three times": (Repeat(part=LAPLACE, times=3), lambda a: 3 * of_laplace(a)),
    "randomised response": (RESPONSE, of_response),
    "the exponential mechanism": (RANGE, of_range),
    "a table twice": (Repeat(part=TABLE, times=2), lambda a: 2 * of_table(a)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("xi", [0.001, 0.05, 0.4, 0.9])
def test_rho_beside_xi_is_known_from_both_sides(case: str, xi: float) -> None:
    """Within 2e-5 of it, and the checker confirms both verdicts. Twin: the bound of xi = 0 proves no such claim."""
    tree, divergence = CASES[case]
    truth = rho_beside(xi, divergence)
    for factor, verdict in ((1 + 2e-5, "certified"), (1 - 2e-5, "refuted")):
        certificate = certify(tree, Claim(rho=truth * factor, xi=xi, **WHO))
        ((end),) = certificate.tight.rows
        assert end.lower <= truth <= end.upper
        assert (certificate.verdict, verify(certificate.to_json()).accepted) == (verdict, True)
    assert certify(tree, Claim(rho=truth * (1 + 2e-5), **WHO)).verdict == "refuted"


@pytest.mark.parametrize(("tree", "largest"), [(LAPLACE, 1.0), (Repeat(part=RANGE, times=10), 10.0), (RESPONSE, 1.0)])
def test_a_pure_epsilon_is_a_xi_beside_which_rho_is_nothing(tree: Any, largest: float) -> None:
    """R_a is at most the largest loss at all orders. Twin: beside a xi that is smaller by a thousandth it is not."""
    certificate = certify(tree, Claim(rho=0.0, xi=largest, **WHO))
    assert (certificate.verdict, verify(certificate.to_json()).accepted) == ("certified", True)
    assert certify(tree, Claim(rho=0.0, xi=largest * 0.999, **WHO)).verdict == "refuted"


@pytest.mark.parametrize("xi", [0.001, 100.0])
def test_xi_takes_nothing_off_the_rho_of_gaussian_noise(xi: float) -> None:
    """At large orders mu^2 / 2 is left: 1/8. Beside other releases, too, whose largest loss is at most xi."""
    assert certify(NORMAL, Claim(rho=0.125, xi=xi, **WHO)).verdict == "certified"
    assert certify(NORMAL, Claim(rho=0.12499, xi=xi, **WHO)).verdict == "refuted"
    both = certify(Sequential(parts=(NORMAL, LAPLACE)), Claim(rho=0.125, xi=100.0, **WHO))
    assert both.verdict == "certified"


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_an_accountant_that_is_wrong_beside_xi_is_not_believed(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = measures.rho_between
    truth = rho_beside(0.4, of_laplace)
    monkeypatch.setattr(measures, "rho_between", lambda form, xi: tuple(float(end) * factor for end in right(form, xi)))
    forged = certify(LAPLACE, Claim(rho=truth * (1 + (factor - 1) / 2), xi=0.4, **WHO))
    assert forged.verdict == ("certified" if factor < 1 else "refuted")
    assert verify(forged.to_json()).complaints


def test_the_sentence_names_xi() -> None:
    certificate = certify(LAPLACE, Claim(rho=0.1, xi=0.25, **WHO))
    assert certificate.reasons[0].startswith("Of the declared releases rho beside xi = 0.25 is ")
    assert math.isfinite(json.loads(certificate.to_json())["tight"]["rho"]["upper"])
