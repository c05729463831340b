"""Notes on LPLR for a reader of its results: what is false as printed, and from which horizon on the method pays."""

from dataclasses import replace

import numpy as np

from algorithms.lplr.accounting import delta_floor, printed_confidence_loss, printed_update_loss
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.lplr.plan import plan_of
from algorithms.lplr.regression import activity_threshold, kappa
from algorithms.lplr.run import run_protocol
from algorithms.lplr.schedule import first_length, resolution_of
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Streams
from dpaudit.model.mechanism import Array

_RUNS, _SEED, _LAST_POWER = 8, 0, 18
_PAYS = 0.9
"""Regret below this share of uniform play counts as having learnt something."""


def notes_of(settings: LplrSettings, problem: LinearBandit) -> tuple[str, ...]:
    """Return what is false about the printed noise, what the printed widths amount to, and where the method pays."""
    notes = printed_noise_notes(settings) if settings.variant == "paper" else ()
    return (*notes, *printed_width_notes(settings), *horizon_notes(settings, problem))


def printed_noise_notes(settings: LplrSettings) -> tuple[str, ...]:
    """Return what the printed noise delivers in place of what is claimed."""
    epsilon = settings.epsilon
    return (
        f"The printed privacy claim is false for three reasons. The matrix noise lies in a cone that moves with the "
        f"record, so that delta is at least {delta_floor(epsilon):.6g} at every epsilon. Replacing a record changes "
        f"two cells, so that an update message loses up to {printed_update_loss(epsilon):.6g} beside that, and a "
        f"confidence message {printed_confidence_loss(epsilon):.6g}. And residuals beyond the first layer are not "
        f"bounded, so that over all histories no epsilon is finite.",
        'The repaired protocol, variant = "fixed", keeps the rates, costs up to about three times the error at equal '
        "epsilon, and is certified.",
    )


def printed_width_notes(settings: LplrSettings) -> tuple[str, ...]:
    """Return what the printed constants amount to at this horizon, if they can eliminate nothing."""
    plan = plan_of(settings)
    users = plan.users(plan.epochs[0] if len(plan.epochs) == 1 else max(plan.epochs, key=lambda epoch: epoch.length))
    threshold = activity_threshold(plan, users)
    width = kappa(plan, "bias") * plan.resolution.gamma**2 * (plan.dimension + 1) ** 4 / users**0.5
    if threshold < 1 and width < 1:
        return ()
    text = (
        f"With the printed constants nothing is ever eliminated at this horizon: a bin would have to hold "
        f"{threshold:.3g} times all users to count as active, and a half width is at least {width:.3g}, while rewards "
        f"differ by 2. The printed algorithm is uniform exploration."
    )
    if settings.ci == "theory":
        return (f"{text} This run uses them.",)
    return (f"{text} This run uses calibrated widths instead, which changes nothing in privacy.",)


def horizon_notes(settings: LplrSettings, problem: LinearBandit) -> tuple[str, ...]:
    """Return from which horizon on the method learns on `problem`, found by simulation at powers of ten."""
    uniform = float(problem.gaps.mean(axis=1) @ problem.context_probabilities)
    if uniform == 0:
        return ("All actions are worth the same on this problem, so that its regret says nothing.",)
    layered = first_power(settings, problem, uniform)
    simple = first_power(_simple(settings), problem, uniform)
    said = "no horizon up to 10^18 users" if layered is None else f"10^{layered} users"
    beside = "nowhere up to 10^18" if simple is None else f"from 10^{simple} users"
    here = (
        "At the configured horizon it explores uniformly, and the simple method is the better choice."
        if layered is None or 10**layered > settings.horizon
        else "The configured horizon is beyond that."
    )
    return (
        f"On this problem the method pays from {said} on: below, its regret is within a tenth of uniform play. Greedy "
        f"play on noisy sufficient statistics, which is as private, gets there {beside}. {here} (Means of {_RUNS} "
        f"simulated runs at each power of ten.)",
    )


def first_power(algorithm: LplrSettings | SufficientStatistics, problem: LinearBandit, uniform: float) -> int | None:
    """Return the smallest power of ten at which regret is below nine tenths of uniform play, and stays there once."""
    lowest = 4
    if not isinstance(algorithm, SufficientStatistics):
        lowest = next(power for power in range(4, _LAST_POWER + 1) if _fits(algorithm, power))
    for power in range(lowest, _LAST_POWER + 1):
        if _mean_regret(algorithm, problem, 10**power) < _PAYS * uniform * 10**power:
            return power
    return None


def _mean_regret(algorithm: LplrSettings | SufficientStatistics, problem: LinearBandit, horizon: int) -> float:
    """Return the mean regret of the simulated runs at `horizon`."""
    streams = Streams.spawn(np.random.default_rng(_SEED))
    if isinstance(algorithm, SufficientStatistics):
        transcript = replace(algorithm, horizon=horizon).run(problem, streams, _RUNS)
    else:
        transcript = run_protocol(plan_of(replace(algorithm, horizon=horizon)), problem, streams, _RUNS)
    regret: Array = transcript.arrays["regret"]
    return float(regret.sum(axis=1).mean())


def _fits(settings: LplrSettings, power: int) -> bool:
    """Return whether 10^power users fill an epoch."""
    resolution = resolution_of(10**power, settings.beta, settings.fail_prob)
    return int(10**power) >= 2 * first_length(settings.dimension, resolution)


def _simple(settings: LplrSettings) -> SufficientStatistics:
    """Return the simple method at the same epsilon."""
    return SufficientStatistics(
        epsilon=settings.epsilon, horizon=settings.horizon, dimension=settings.dimension, policy="greedy"
    )
