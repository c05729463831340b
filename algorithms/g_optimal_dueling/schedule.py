"""The lengths of the phases: the printed constants of Theorem 3, and constants that finish within a run.

    paper      N_l = 16 d^5 ln(d T / delta) / (kappa eps xi_l) + 64 d ln(T / delta) / (kappa^2 xi_l^2)
               t_0 = 2 (C_1 d^1.5 + C_2 d sqrt(ln(1 / delta)))^2 + (16 d / kappa^4)(d^2 + ln(T / delta)), C_1 = C_2 = 1
    practical  N_l = 8 d / (eps xi_l) + 16 d / xi_l^2,  t_0 = 0

with xi_l = 2^-l. Neither touches privacy: the lengths are public and the noise is one release a phase.
Source: Saha and Asi (2024), Algorithm 2 and Theorem 3; the practical constants are ours.
"""

import math
from dataclasses import dataclass

from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The lengths of the phases, with xi_l = 2^-l; all that they depend on is public, and none of it touches privacy.

        paper      N_l = 16 d^5 ln(d T / delta) / (kappa eps xi_l) + 64 d ln(T / delta) / (kappa^2 xi_l^2)
                   t_0 = 2 (C_1 d^1.5 + C_2 d sqrt(ln(1 / delta)))^2 + (16 d / kappa^4)(d^2 + ln(T / delta)),
                   C_1 = C_2 = 1
        practical  N_l = 8 d / (eps xi_l) + 16 d / xi_l^2,  t_0 = 0

    `kappa` is a lower bound on the slope of the logistic function at what it is evaluated at, which is
    sigma'(4) for Algorithm 2 as printed; estimating it from answers would cost budget.
    Source: Saha and Asi (2024), Algorithm 2 and Theorem 3; the practical constants are ours.
    """

    settings: GOptimalDuelingSettings
    horizon: int

    def random_plays(self) -> int:
        """Return t_0, the number of comparisons drawn at the start of every phase."""
        if self.settings.preset == "practical":
            return 0
        d, failure = self.settings.dimension, self._failure()
        spectrum = 2 * (d * math.sqrt(d) + d * math.sqrt(math.log(1 / failure))) ** 2
        return math.ceil(spectrum + 16 * d / self.settings.kappa**4 * (d**2 + math.log(self.horizon / failure)))

    def total(self, phase: int) -> float:
        """Return N_l, of which every comparison gets its weight's share, rounded up."""
        private, statistical = self.parts(phase)
        return math.ceil(private + statistical) if self.settings.preset == "practical" else private + statistical

    def parts(self, phase: int) -> tuple[float, float]:
        """Return the two terms of N_l: what the noise asks for, and what the answers' own randomness does."""
        d, xi = self.settings.dimension, 0.5**phase
        if self.settings.preset == "practical":
            return 8 * d / (self.settings.epsilon * xi), 16 * d / xi**2
        failure = self._failure()
        return (
            16 * d**5 * math.log(d * self.horizon / failure) / (self.settings.kappa * self.settings.epsilon * xi),
            64 * d * math.log(self.horizon / failure) / (self.settings.kappa**2 * xi**2),
        )

    def phases(self) -> int:
        """Return how many phases could end within the horizon, at least one so that the declaration has a part."""
        spent, phase = 0.0, 0
        while spent <= self.horizon:
            phase += 1
            spent += self.random_plays() + self.total(phase)
        return max(1, phase - 1)

    def _failure(self) -> float:
        """Return the failure probability, 1 / (arms horizon log2 horizon) where none is given."""
        if self.settings.fail_prob is not None:
            return self.settings.fail_prob
        return 1 / (self.settings.arms * self.horizon * max(1.0, math.log2(self.horizon)))
