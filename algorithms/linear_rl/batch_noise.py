"""The schedule of LSVI-UCB and its noise, by calibration; the one reader of epsilon beside the claim."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from algorithms.linear_rl.l1_moves import l1_moves
from algorithms.linear_rl.mixture_noise import SAFETY, exact_mu, value_ranges
from algorithms.linear_rl.printed_batches import Schedule, batches, noise_scales, pure_batches
from algorithms.linear_rl.printed_mixture import nodes_printed
from dpaudit import Mechanism
from mechanisms import Gaussian, Laplace, SymmetricGaussian

if TYPE_CHECKING:
    from algorithms.linear_rl.lsvi_ucb import LsviUcb


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNoise:
    """The noise at one step: `matrix` on a node of the tree of Gram matrices, `vector` on every target vector."""

    step: int
    target_bound: float
    matrix: Mechanism
    vector: Mechanism

    @property
    def matrix_label(self) -> str:
        """The label of the matrices, in the declaration and in the trace."""
        return f"matrix of step {self.step + 1}"

    @property
    def vector_label(self) -> str:
        """The label of the vectors."""
        return f"vector of step {self.step + 1}"


def schedule_of(config: "LsviUcb") -> Schedule:
    """Return the batches: by the theorem's count, by the remark's for pure noise, and not fewer than asked for."""
    count = pure_batches if config.calibration.startswith("pure") else batches
    planned = count(config.epsilon, episodes=config.episodes, steps=config.steps, d=config.dimension)
    return Schedule(episodes=config.episodes, planned=min(max(planned, config.least_batches), config.episodes))


def releases_of(config: "LsviUcb") -> int:
    """Return how many target vectors a step releases: one a batch but the last, or one a switch."""
    return config.switches if config.schedule == "switching" else schedule_of(config).releases


def tree_horizon(config: "LsviUcb") -> int:
    """Return the number of leaves of the trees of Gram matrices: batches that are released, or episodes."""
    return config.episodes if config.schedule == "switching" else schedule_of(config).releases


def target_bounds(config: "LsviUcb") -> tuple[float, ...]:
    """Return the bound on each step's regression target: reward plus value."""
    if config.clipping == "horizon":
        return (float(config.steps + 1),) * config.steps
    return value_ranges(config.steps, config.clipping)


def noises_of(config: "LsviUcb") -> tuple[StepNoise, ...]:
    """Return every step's noise, by the config's calibration.

    paper           Theorem 8, with its sensitivities 2 and 2(H + 1), of which it relaxes the latter to 4H
    tight           half of mu*^2 for matrices and half for vectors, all releases one sequence of Gaussian queries
    pure_paper      Laplace noise by Euclidean sensitivities 2 and 2(H + 1), budgets added (Appendix E.3)
    pure_repaired   the same with l1 sensitivities
    """
    bounds = target_bounds(config)
    if config.calibration == "tight":
        return _tight(config, bounds)
    steps, planned = config.steps, schedule_of(config).planned
    if config.calibration == "paper":
        matrix, vector = noise_scales(config.epsilon, config.delta, B=planned, steps=steps)
        return tuple(
            StepNoise(
                step=h,
                target_bound=bound,
                matrix=_matrix(config, matrix, sensitivity=2.0),
                vector=_vector(vector, sensitivity=2 * bound),
            )
            for h, bound in enumerate(bounds)
        )
    return _pure(config, bounds, planned)


def _tight(config: "LsviUcb", bounds: tuple[float, ...]) -> tuple[StepNoise, ...]:
    """Return the noise that is exactly needed, one deviation for all matrices and one for all vectors."""
    mu = exact_mu(config.epsilon, config.delta) / SAFETY
    unit = _matrix(config, 1.0, sensitivity=math.sqrt(2)).loss()
    nodes = tree_horizon(config).bit_length()
    matrix = unit.mu * math.sqrt(2 * config.steps * nodes) / mu
    squares = math.fsum((2 * bound) ** 2 for bound in bounds)
    vector = math.sqrt(2 * releases_of(config) * squares) / mu
    return tuple(
        StepNoise(
            step=h,
            target_bound=bound,
            matrix=_matrix(config, matrix, sensitivity=math.sqrt(2)),
            vector=_vector(vector, sensitivity=2 * bound),
        )
        for h, bound in enumerate(bounds)
    )


def pure_scales(config: "LsviUcb", planned: int) -> tuple[float, float]:
    """Return the Laplace scales of the remark, with its composition: 4 H B B0 / epsilon and 4 (H + 1) H B / epsilon.

    The remark states orders only, B H / epsilon and B H^2 / epsilon; these are its sensitivities 2 and 2 (H + 1) over
    an equal share of epsilon for each of H B B0 nodes and H B vectors.
    """
    matrix = 2 * 2 * config.steps * planned * nodes_printed(planned) / config.epsilon
    vector = 2 * (config.steps + 1) * 2 * config.steps * planned / config.epsilon
    return matrix, vector


def _pure(config: "LsviUcb", bounds: tuple[float, ...], planned: int) -> tuple[StepNoise, ...]:
    """Return Laplace noise, as remarked or repaired."""
    d, bound = config.dimension, max(bounds)
    matrix, vector = pure_scales(config, planned)
    if config.calibration == "pure_paper":
        weights = tree_horizon(config).bit_length() / matrix, releases_of(config) * bound / vector
        moved, shifted = l1_moves(d, *weights)
    else:
        moved, shifted = math.sqrt(2) * d, 2 * math.sqrt(d)
        matrix, vector = matrix * d / math.sqrt(2), vector * math.sqrt(d)
    return tuple(
        StepNoise(
            step=h,
            target_bound=held,
            matrix=Laplace(scale=matrix, l1_sensitivity=moved, neighbours="replace_one"),
            vector=Laplace(scale=vector, l1_sensitivity=held * shifted, neighbours="replace_one"),
        )
        for h, held in enumerate(bounds)
    )


def _matrix(config: "LsviUcb", stddev: float, sensitivity: float) -> SymmetricGaussian:
    """Return the noise of one node of matrices."""
    return SymmetricGaussian(
        stddev=stddev, l2_sensitivity=sensitivity, neighbours="replace_one", symmetry=config.symmetry
    )


def _vector(stddev: float, sensitivity: float) -> Gaussian:
    """Return the noise of one target vector."""
    return Gaussian(stddev=stddev, l2_sensitivity=sensitivity, neighbours="replace_one")
