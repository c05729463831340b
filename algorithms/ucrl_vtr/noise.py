"""The regressions of UCRL-VTR and their noise, by calibration; beside the claim, only this module reads epsilon."""

import math

from algorithms._linear_rl.calibration import SAFETY, exact_mu, nodes_printed
from algorithms._linear_rl.values import value_ranges
from algorithms.ucrl_vtr.printed_scales import noise_units
from algorithms.ucrl_vtr.regressions import (
    Regression,
    gaussian_noise,
    printed_noise,
    remarked_noise,
    repaired_noise,
)
from algorithms.ucrl_vtr.settings import UcrlVtrSettings


def levels(settings: UcrlVtrSettings) -> int:
    """Return how many noisy sums one user is in: the nodes of a tree (joint), or their own message (local)."""
    return settings.episodes.bit_length() if settings.model == "joint" else 1


def regressions_of(settings: UcrlVtrSettings) -> tuple[Regression, ...]:
    """Return the regressions of a settings, without noise: step h regresses on the value after it.

    The last step has none: nothing follows it, so its features are 0 whatever the user did.
    """
    after = value_ranges(settings.steps, settings.clipping)[1:]
    if settings.bonus == "hoeffding":
        return tuple(_regression(f"step {h + 1}", h, bound, bound) for h, bound in enumerate(after))
    root = math.sqrt(settings.dimension)
    return tuple(
        regression
        for h, bound in enumerate(after)
        for regression in (
            _regression(f"step {h + 1}", h, root * bound / settings.steps, root * bound / settings.steps),
            _regression(f"step {h + 1}, squares", h, bound**2, bound**2),
        )
    )


def noisy_regressions(settings: UcrlVtrSettings) -> tuple[Regression, ...]:
    """Return the regressions with the noise of the settings' calibration.

    paper           Corollaries 5, 6, 10 and 11
    tight           one adaptive sequence of Gaussian queries: stddev sqrt(m sum 4.5 R^4) / mu*, exactly what is needed
    pure_paper      the pure remarks: Laplace noise by Euclidean sensitivities
    pure_repaired   the same with the l1 sensitivities that Laplace noise needs
    """
    plain = regressions_of(settings)
    if settings.calibration == "tight":
        units = tuple(
            gaussian_noise(regression, unit_of(settings, regression), settings.symmetry) for regression in plain
        )
        total = levels(settings) * math.fsum(regression.squared_mu() for regression in units)
        factor = math.sqrt(total) / exact_mu(settings.epsilon, settings.delta) * SAFETY
        return tuple(regression.scaled(factor) for regression in units)
    if settings.calibration == "paper":
        units_of_noise = printed_units(settings, settings.episodes, bernstein=settings.bonus == "bernstein")
        return tuple(
            printed_noise(regression, units_of_noise * unit_of(settings, regression), settings.symmetry)
            for regression in plain
        )
    noise = remarked_noise if settings.calibration == "pure_paper" else repaired_noise
    return tuple(
        noise(regression, pure_multiplier(settings) * 2 * unit_of(settings, regression), settings.dimension)
        for regression in plain
    )


def printed_units(settings: UcrlVtrSettings, episodes: int, *, bernstein: bool) -> float:
    """Return the printed standard deviation over the unit of a regression, at any number of episodes."""
    return noise_units(
        joint=settings.model == "joint",
        bernstein=bernstein,
        epsilon=settings.epsilon,
        delta=settings.delta,
        episodes=episodes,
        steps=settings.steps,
    )


def unit_of(settings: UcrlVtrSettings, regression: Regression) -> float:
    """Return the unit in which a regression's noise is counted: H^2, or d and H^4; the same at every step."""
    if settings.bonus == "hoeffding":
        return float(settings.steps**2)
    return float(settings.steps**4) if regression.name.endswith("squares") else float(settings.dimension)


def pure_multiplier(settings: UcrlVtrSettings) -> float:
    """Return the Laplace scale over the printed sensitivity, when budgets are added over all releases of a user."""
    nodes = nodes_printed(settings.episodes) if settings.model == "joint" else 1
    kinds = 4 if settings.bonus == "bernstein" else 2
    return kinds * settings.steps * nodes / settings.epsilon


def _regression(name: str, step: int, feature_bound: float, target_bound: float) -> Regression:
    """Return a regression without noise."""
    return Regression(name=name, step=step, feature_bound=feature_bound, target_bound=target_bound)
