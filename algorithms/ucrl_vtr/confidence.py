"""Shifts of matrices and radii of bonuses, from the noise scale and the number of the episode.

Shift and radius read no data and change nothing in privacy.
"""

import math
from dataclasses import dataclass

from algorithms._linear_rl.calibration import nodes_printed
from algorithms._linear_rl.spreads import matrix_spread, vector_spread
from algorithms.ucrl_vtr import printed_scales as printed
from algorithms.ucrl_vtr.noise import levels
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.settings import UcrlVtrSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """Shift and radii at every episode, counted from 1.

    `kinds` is 1 (Hoeffding) or 2 (Bernstein: weighted first moments, and squares); `spreads` holds each kind's
    deviations (matrix, vector), 0 without noise.
    """

    settings: UcrlVtrSettings
    printed: bool
    spreads: tuple[tuple[float, float], ...]
    nodes: int
    ridge: float

    @property
    def kinds(self) -> int:
        """How many regressions there are a step."""
        return len(self.spreads)

    def shift(self, kind: int, episode: int) -> float:
        """Return what is added to the eigenvalues of a kind's matrices: 0 at the first episode, without noise."""
        if episode == 1:
            return 0.0
        return 2 * self.settings.shift_scale * self._deviation(kind, episode)[0]

    def radii(self, episode: int) -> tuple[float, ...]:
        """Return the radius (Hoeffding), or "check", "hat" and "tilde" (Bernstein), times `bonus_scale`."""
        if self.settings.bonus == "hoeffding":
            term = printed.hoeffding_term(**self.settings.sizes())
            return (self.settings.bonus_scale * (self._noise_radius(0, episode) + term),)
        terms = printed.bernstein_terms(episode=episode, **self.settings.sizes())
        return tuple(
            self.settings.bonus_scale * (self._noise_radius(kind, episode) + term)
            for kind, term in zip((0, 0, 1), terms, strict=True)
        )

    def _noise_radius(self, kind: int, episode: int) -> float:
        """Return the radius that noise and ridge cost."""
        matrix, vector = self._deviation(kind, episode)
        if self.printed:
            return printed.printed_radius(self.settings.weight_bound, self.ridge, matrix)
        shift = 2 * self.settings.shift_scale * matrix
        return printed.radius(self.settings.weight_bound, self.ridge, max(shift - matrix, 0.0), shift + matrix, vector)

    def _deviation(self, kind: int, episode: int) -> tuple[float, float]:
        """Return bounds on the noise of a sum: operator norm of the matrix, norm of the vector.

        The printed ones are Claims 26 and 27. Otherwise stddev sqrt(n) (sqrt(2d) + t) and stddev sqrt(n) (sqrt(d) + t),
        exceeded with probability 2 exp(-t^2 / 2) and exp(-t^2 / 2), with n the noises in the sum so far.
        """
        matrix, vector = self.spreads[kind]
        events = (6 if self.kinds == 1 else 24) * self.settings.episodes * self.settings.steps / self.settings.fail_prob
        d = self.settings.dimension
        if self.printed:
            nodes = self.settings.episodes if self.settings.model == "local" else nodes_printed(self.settings.episodes)
            return (
                printed.matrix_deviation(matrix, nodes, d, math.log(events)),
                printed.vector_deviation(vector, nodes, d, math.log(events)),
            )
        root = math.sqrt(episode - 1 if self.settings.model == "local" else self.nodes)
        matrix_tail, vector_tail = math.sqrt(2 * math.log(2 * events)), math.sqrt(2 * math.log(events))
        return matrix * root * (math.sqrt(2 * d) + matrix_tail), vector * root * (math.sqrt(d) + vector_tail)


def confidence_of(settings: UcrlVtrSettings, regressions: tuple[Regression, ...]) -> Confidence:
    """Return the shifts and radii that go with the noise of `regressions`; without noise, those of plain UCRL-VTR."""
    kinds = 2 if settings.bonus == "bernstein" else 1
    noisy = bool(regressions[0].noises)
    return Confidence(
        settings=settings,
        printed=settings.calibration == "paper" and noisy,
        spreads=tuple(spread(regressions[kind]) for kind in range(kinds)),
        nodes=levels(settings),
        ridge=ridge_of(settings),
    )


def ridge_of(settings: UcrlVtrSettings) -> float:
    """Return the ridge: H^2 for plain regressions, 1 for weighted ones."""
    return float(settings.steps**2) if settings.bonus == "hoeffding" else 1.0


def spread(regression: Regression) -> tuple[float, float]:
    """Return the deviations of the noise on the matrix (off the diagonal times sqrt 2) and on the vector."""
    if not regression.noises:
        return 0.0, 0.0
    first, last = regression.noises[0][1], regression.noises[-1][1]
    return matrix_spread(first), vector_spread(last)
