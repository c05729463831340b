"""Coverage of the bounds on mu, rho, Renyi divergences and curves: `python -m benchmarks.audit_coverage_measures`.

20,000 honest audits of twenty pairs of laws whose mu, rho and divergence of order 2 are known, with ties and unequal
numbers of scores, few and many in turn. One line a bound: the audits, how many bounds lie above the truth at
significance .01, the 99.9 % upper limit of their rate, and the pair of laws with the most. Ends with 1 if a rate is
above .01 with a chance below .001. Another number of audits, and names of bounds, may be given.
"""

import sys
from functools import cache

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from audits.bounds import (
    GaussianTradeOff,
    MuProcess,
    PrivateTradeOff,
    RhoTradeOff,
    block_wins,
    cells_renyi,
    curve_mu,
    curve_rho,
    event_rho,
    measured_curve,
    rank_sum_mu,
)
from audits.bounds.curve_process import CurveProcess
from audits.bounds.one_event import event_rates, shown_by
from audits.bounds.rank import rank_p_value
from benchmarks.coverage.honest_laws import LAWS
from dpaudit import Claim

LEVEL, ORDER, AUDITS, SURE = 0.01, 2.0, 20_000, 1e-3
SIZES = (70, 90), (800, 500)
_p_value, _rank_sum_mu = cache(rank_p_value), cache(rank_sum_mu)
_event_rho, _event_rates = cache(event_rho), cache(event_rates)
RENYI = Claim(renyi=((ORDER, 1.0),), neighbours="replace_one")


def blocks(law, ins, outs, rng):
    return _rank_sum_mu(*block_wins(ins, outs, rng), LEVEL) > law.mu


def rank(law, ins, outs, rng):
    """A tenth of the scores without the record pass the threshold; whether the true mu itself is refuted."""
    place = len(outs) // 10
    hits = int((ins > np.sort(outs)[-place]).sum())
    return _p_value(place, len(outs), hits, len(ins), GaussianTradeOff(mu=law.mu)) <= LEVEL


def event(law, ins, outs, rng):
    return _event_rho(*counts(law, ins, outs), LEVEL) > law.rho


def event_order(law, ins, outs, rng):
    rates = _event_rates(*counts(law, ins, outs), LEVEL)
    return float(shown_by(RENYI, *map(np.array, rates))[0]) > law.renyi2


def curve(law, ins, outs, rng):
    return curve_mu(measured_curve(ins, outs, LEVEL)) > law.mu


def curve_against_rho(law, ins, outs, rng):
    return curve_rho(measured_curve(ins, outs, LEVEL)) > law.rho


def whole_curve(law, ins, outs, rng):
    """Whether any corner of the measured curve lies above the true one."""
    false, true = np.array(measured_curve(ins, outs, LEVEL)).T
    return bool((true > np.interp(false, *law.rates)).any())


def cells(law, ins, outs, rng):
    return cells_renyi(ins, outs, ORDER, LEVEL, rng) > law.renyi2


def anytime(law, ins, outs, rng):
    """The largest bound at any time."""
    return MuProcess.fresh().extended(*coins(ins, outs, rng)).lower(LEVEL) > law.mu


def curve_anytime(law, ins, outs, rng):
    """Whether the true curve is refuted at any time."""
    return CurveProcess.fresh(law.curve).extended(*coins(ins, outs, rng)).refutes(LEVEL)


def rho_anytime(law, ins, outs, rng):
    """Whether the true rho is refuted at any time, by the whole region of its curves."""
    return CurveProcess.fresh(law.rho_curve).extended(*coins(ins, outs, rng)).refutes(LEVEL)


def coins(ins, outs, rng):
    """A coin for each run says with which law its score is drawn."""
    labels = rng.random(min(len(ins), len(outs))) < 0.5
    return np.where(labels, ins[: len(labels)], outs[: len(labels)]), labels


def counts(law, ins, outs):
    cut = law.values // 2
    return int((ins >= cut).sum()), len(ins), int((outs >= cut).sum()), len(outs)


class Truth:
    """A pair of laws with its numbers, computed once."""

    def __init__(self, law):
        self.law, self.name, self.values = law, law.name, len(law.ins)
        self.mu, self.rho, self.renyi2, self.rates = law.mu, law.rho, law.renyi(ORDER), law.rates
        self.curve, self.rho_curve = PrivateTradeOff(points=law.points), RhoTradeOff(rho=law.rho)


BOUNDS = {
    "mu, rank sums": blocks,
    "mu, rank fixed beforehand": rank,
    "rho, one event": event,
    "divergence of order 2, one event": event_order,
    "mu, bands": curve,
    "rho, bands": curve_against_rho,
    "divergence of order 2, cells": cells,
    "mu, at any time": anytime,
    "whole curve, bands": whole_curve,
    "whole curve, at any time": curve_anytime,
    "rho, at any time": rho_anytime,
}


def main(audits=AUDITS, *names):
    failed = 0
    print("| bound | audits | above the truth | rate at most | most, at |\n|---|---|---|---|---|")
    truths = [Truth(law) for law in LAWS]
    for place, (name, refutes) in enumerate(BOUNDS.items()):
        if names and name not in names:
            continue
        rng, wrong = np.random.default_rng([place, audits]), {}
        for truth in truths:
            for number in range(audits // len(truths)):
                ins, outs = truth.law.sample(*SIZES[number % len(SIZES)], rng)
                wrong[truth.name] = wrong.get(truth.name, 0) + bool(refutes(truth, ins, outs, rng))
        total, number = sum(wrong.values()), audits // len(truths) * len(truths)
        limit, worst = betaincinv(total + 1, number - total, 0.999), max(wrong, key=wrong.__getitem__)
        failed += binom.sf(total - 1, number, LEVEL) < SURE
        print(f"| {name} | {number} | {total} | {limit:.4f} | {wrong[worst]}, {worst} |", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
