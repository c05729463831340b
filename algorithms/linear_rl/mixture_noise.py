"""The regressions of UCRL-VTR and the noise on each, by calibration; the one reader of epsilon beside the claim."""

import math
from typing import TYPE_CHECKING

from algorithms.linear_rl.printed_mixture import nodes_printed, noise_units
from algorithms.linear_rl.regressions import (
    Regression,
    gaussian_noise,
    printed_noise,
    remarked_noise,
    repaired_noise,
)
from dpaudit import Claim
from mechanisms import Gaussian

if TYPE_CHECKING:
    from algorithms.linear_rl.ucrl_vtr import UcrlVtr

CALIBRATIONS = ("paper", "tight", "pure_paper", "pure_repaired")
PURE = ("pure_paper", "pure_repaired")
SAFETY = 1 + 1e-9


def levels(config: "UcrlVtr") -> int:
    """Return how many noisy sums one user is in: the nodes of a tree (joint), or their own message (local)."""
    return config.episodes.bit_length() if config.model == "joint" else 1


def value_ranges(steps: int, clipping: str) -> tuple[float, ...]:
    """Return the range [0, R] to which the value of each step is clipped; the value after the last step is 0.

    "horizon" clips every value at H, "range_aware" at the number of steps that are left.

    >>> value_ranges(4, "range_aware")
    (4.0, 3.0, 2.0, 1.0)
    """
    return tuple(float(steps if clipping == "horizon" else steps - h) for h in range(steps))


def regressions_of(config: "UcrlVtr") -> tuple[Regression, ...]:
    """Return the regressions of a config, without noise: step h regresses on the value after it.

    The last step has none: nothing follows it, so its features are 0 whatever the user did.
    """
    after = value_ranges(config.steps, config.clipping)[1:]
    if config.bonus == "hoeffding":
        return tuple(_regression(f"step {h + 1}", h, bound, bound) for h, bound in enumerate(after))
    root = math.sqrt(config.dimension)
    return tuple(
        regression
        for h, bound in enumerate(after)
        for regression in (
            _regression(f"step {h + 1}", h, root * bound / config.steps, root * bound / config.steps),
            _regression(f"step {h + 1}, squares", h, bound**2, bound**2),
        )
    )


def noisy_regressions(config: "UcrlVtr") -> tuple[Regression, ...]:
    """Return the regressions with the noise of the config's calibration.

    paper           Corollaries 5, 6, 10 and 11
    tight           one adaptive sequence of Gaussian queries: stddev sqrt(m sum 4.5 R^4) / mu*, exactly what is needed
    pure_paper      the pure remarks: Laplace noise by Euclidean sensitivities
    pure_repaired   the same with the l1 sensitivities that Laplace noise needs
    """
    plain = regressions_of(config)
    if config.calibration == "tight":
        units = tuple(gaussian_noise(held, unit_of(config, held), config.symmetry) for held in plain)
        total = levels(config) * math.fsum(held.squared_mu() for held in units)
        factor = math.sqrt(total) / exact_mu(config.epsilon, config.delta) * SAFETY
        return tuple(held.scaled(factor) for held in units)
    if config.calibration == "paper":
        units_of_noise = noise_units(
            joint=config.model == "joint",
            bernstein=config.bonus == "bernstein",
            epsilon=config.epsilon,
            delta=config.delta,
            episodes=config.episodes,
            steps=config.steps,
        )
        return tuple(printed_noise(held, units_of_noise * unit_of(config, held), config.symmetry) for held in plain)
    noise = remarked_noise if config.calibration == "pure_paper" else repaired_noise
    return tuple(noise(held, pure_multiplier(config) * 2 * unit_of(config, held), config.dimension) for held in plain)


def unit_of(config: "UcrlVtr", regression: Regression) -> float:
    """Return the unit in which a regression's noise is counted: H^2, or d and H^4; the same at every step."""
    if config.bonus == "hoeffding":
        return float(config.steps**2)
    return float(config.steps**4) if regression.name.endswith("squares") else float(config.dimension)


def pure_multiplier(config: "UcrlVtr") -> float:
    """Return the Laplace scale over the printed sensitivity, when budgets are added over all releases of a user."""
    nodes = nodes_printed(config.episodes) if config.model == "joint" else 1
    kinds = 4 if config.bonus == "bernstein" else 2
    return kinds * config.steps * nodes / config.epsilon


def exact_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu for which N(mu, 1) against N(0, 1) is (epsilon, delta)-private.

    >>> round(exact_mu(1.0, 1e-5), 6)
    0.268051
    """
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    return 1 / float(Gaussian.calibrated(claim, l2_sensitivity=1.0).stddev)


def _regression(name: str, step: int, feature_bound: float, target_bound: float) -> Regression:
    """Return a regression without noise."""
    return Regression(name=name, step=step, feature_bound=feature_bound, target_bound=target_bound)
