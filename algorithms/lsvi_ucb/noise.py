"""The schedule of LSVI-UCB and its noise, by calibration; beside the claim, only this module reads epsilon."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from algorithms._linear_rl.calibration import SAFETY, exact_mu, nodes_printed
from algorithms._linear_rl.l1_moves import l1_moves
from algorithms._linear_rl.values import value_ranges
from algorithms.lsvi_ucb.printed_scales import Schedule, batches, noise_scales, pure_batches
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from dpaudit.checks import FieldError
from dpaudit.model.mechanism import AdditiveMechanism
from mechanisms import Gaussian, Laplace, SymmetricGaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNoise:
    """The noise at one step: `matrix` on a node of the tree of Gram matrices, `vector` on every target vector."""

    step: int
    target_bound: float
    matrix: AdditiveMechanism
    vector: AdditiveMechanism

    @property
    def matrix_label(self) -> str:
        """The label of the matrices, in the declaration and in the trace."""
        return f"matrix of step {self.step + 1}"

    @property
    def vector_label(self) -> str:
        """The label of the vectors."""
        return f"vector of step {self.step + 1}"


def schedule_of(settings: LsviUcbSettings) -> Schedule:
    """Return the batches: by the theorem's count, by the remark's for pure noise, and not fewer than asked for."""
    count = pure_batches if settings.calibration.startswith("pure") else batches
    planned = count(settings.epsilon, episodes=settings.episodes, steps=settings.steps, d=settings.dimension)
    return Schedule(episodes=settings.episodes, planned=min(max(planned, settings.least_batches), settings.episodes))


def releases_of(settings: LsviUcbSettings) -> int:
    """Return how many target vectors a step releases: one a batch but the last, or one a switch."""
    return settings.switches if settings.schedule == "switching" else schedule_of(settings).releases


def tree_horizon(settings: LsviUcbSettings) -> int:
    """Return the number of leaves of the trees of Gram matrices: batches that are released, or looks."""
    if settings.schedule != "switching":
        return schedule_of(settings).releases
    return -(-settings.episodes // look_length(settings))


def look_length(settings: LsviUcbSettings) -> int:
    """Return how many episodes lie between two looks of the switching rule."""
    return 1 if settings.looks is None else -(-settings.episodes // min(settings.looks, settings.episodes))


def target_bounds(settings: LsviUcbSettings) -> tuple[float, ...]:
    """Return the bound on each step's regression target: reward plus value."""
    if settings.clipping == "horizon":
        return (float(settings.steps + 1),) * settings.steps
    return value_ranges(settings.steps, settings.clipping)


def noises_of(settings: LsviUcbSettings) -> tuple[StepNoise, ...]:
    """Return every step's noise, by the settings' calibration.

    paper           Theorem 8, with its sensitivities 2 and 2(H + 1), of which it relaxes the latter to 4H
    tight           half of mu*^2 for matrices and half for vectors, all releases one sequence of Gaussian queries
    pure_paper      Laplace noise by Euclidean sensitivities 2 and 2(H + 1), budgets added (Appendix E.3)
    pure_repaired   the same with l1 sensitivities
    """
    bounds = target_bounds(settings)
    if settings.calibration == "tight":
        return _tight(settings, bounds)
    steps, planned = settings.steps, schedule_of(settings).planned
    if settings.calibration == "paper":
        matrix, vector = noise_scales(settings.epsilon, settings.delta, B=planned, steps=steps)
        return _of_steps(bounds, _matrix(settings, matrix, sensitivity=2.0), partial(_vector, vector))
    return _pure(settings, bounds, planned)


def _tight(settings: LsviUcbSettings, bounds: tuple[float, ...]) -> tuple[StepNoise, ...]:
    """Return the noise that is exactly needed, one deviation for all matrices and one for all vectors."""
    mu = exact_mu(settings.epsilon, settings.delta) / SAFETY
    unit = _matrix(settings, 1.0, sensitivity=math.sqrt(2)).loss()
    nodes = tree_horizon(settings).bit_length()
    matrix = unit.mu * math.sqrt(2 * settings.steps * nodes) / mu
    squares = math.fsum((2 * bound) ** 2 for bound in bounds)
    vector = math.sqrt(2 * releases_of(settings) * squares) / mu
    return _of_steps(bounds, _matrix(settings, matrix, sensitivity=math.sqrt(2)), partial(_vector, vector))


def pure_scales(settings: LsviUcbSettings, planned: int) -> tuple[float, float]:
    """Return the Laplace scales of the remark, with its composition: 4 H B B0 / epsilon and 4 (H + 1) H B / epsilon.

    The remark states orders only, B H / epsilon and B H^2 / epsilon; these are its sensitivities 2 and 2 (H + 1) over
    an equal share of epsilon for each of H B B0 nodes and H B vectors.
    """
    matrix = 2 * 2 * settings.steps * planned * nodes_printed(planned) / settings.epsilon
    vector = 2 * (settings.steps + 1) * 2 * settings.steps * planned / settings.epsilon
    return matrix, vector


def _pure(settings: LsviUcbSettings, bounds: tuple[float, ...], planned: int) -> tuple[StepNoise, ...]:
    """Return Laplace noise, as remarked or repaired."""
    d = settings.dimension
    matrix, vector = pure_scales(settings, planned)
    if settings.calibration == "pure_paper":
        weights = tree_horizon(settings).bit_length() / matrix, releases_of(settings) * max(bounds) / vector
        matrix_move, vector_move = l1_moves(d, *weights)
        if min(matrix_move, vector_move) == 0:
            raise FieldError(
                "dimension",
                f"Expected dimension={d} to be larger: with calibration='pure_paper' and so short a horizon the worst "
                "pair leaves the Gram matrix unmoved. Raise the dimension, or take calibration='pure'.",
            )
    else:
        matrix_move, vector_move = math.sqrt(2) * d, 2 * math.sqrt(d)
        matrix, vector = matrix * d / math.sqrt(2), vector * math.sqrt(d)
    return _of_steps(
        bounds,
        Laplace(scale=matrix, l1_sensitivity=matrix_move, neighbours="replace_one"),
        lambda bound: Laplace(scale=vector, l1_sensitivity=bound * vector_move, neighbours="replace_one"),
    )


def _of_steps(
    bounds: tuple[float, ...], matrix: AdditiveMechanism, vector: Callable[[float], AdditiveMechanism]
) -> tuple[StepNoise, ...]:
    """Return the noise of every step: one for all matrices, and `vector` of the bound on the step's target."""
    return tuple(
        StepNoise(step=h, target_bound=bound, matrix=matrix, vector=vector(bound)) for h, bound in enumerate(bounds)
    )


def _matrix(settings: LsviUcbSettings, stddev: float, sensitivity: float) -> SymmetricGaussian:
    """Return the noise of one node of matrices."""
    return SymmetricGaussian(
        stddev=stddev, l2_sensitivity=sensitivity, neighbours="replace_one", symmetry=settings.symmetry
    )


def _vector(stddev: float, bound: float) -> Gaussian:
    """Return the noise of one target vector, which moves by twice the bound on its target."""
    return Gaussian(stddev=stddev, l2_sensitivity=2 * bound, neighbours="replace_one")
