"""The constants of the G-optimal dueling bandit: phase lengths, and the horizon at which the first one can end."""

from dataclasses import replace

from algorithms.g_optimal_dueling.plan import lengths_of, mechanism_of
from algorithms.g_optimal_dueling.schedule import Lengths
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from algorithms.problems.duels import Duels
from dpaudit.model import constants as paper


def constants_of(settings: GOptimalDuelingSettings, problem: Duels | None = None) -> paper.PaperConstants:
    """Return the constants at the configured horizon, and from which horizon a printed phase ends within it."""
    printed = lengths_of(replace(settings, preset="paper"))
    private, statistical = printed.parts(1)
    return paper.PaperConstants(
        constants=paper.constants(
            ("kappa, the least slope", settings.kappa, "Algorithm 2"),
            ("t_0, printed random plays", float(printed.random_plays()), "Theorem 3"),
            ("N_1, printed, for the noise", private, "Theorem 3"),
            ("N_1, printed, for the answers", statistical, "Theorem 3"),
            ("phases of this run", float(lengths_of(settings).phases()), "its preset"),
            ("scale of the noise", mechanism_of(settings).scale, "Algorithm 2 or Lemma 7"),
        ),
        horizons=(
            paper.SpeakingHorizon(
                name="first printed phase",
                speaks="it ends within the horizon",
                log10=paper.log10_horizon(lambda horizon: first_phase(printed, horizon) <= horizon, smallest=1.0),
                source="Theorem 3: t_0 + N_1 at most T",
            ),
        ),
    )


def upper_bound_of(settings: GOptimalDuelingSettings, problem: Duels) -> paper.RegretUpperBound | None:
    """Return the most that can be lost where no printed phase ends within the horizon, else None."""
    (horizon,) = constants_of(settings).horizons
    return paper.regret_upper_bound(
        horizon=settings.horizon, most=problem.largest_regret, source="Theorem 3", log10=horizon.log10
    )


def first_phase(lengths: Lengths, horizon: float) -> float:
    """Return how many rounds the first phase takes for a horizon of any size."""
    lengths_at = replace(lengths, horizon=int(horizon))
    return lengths_at.random_plays() + lengths_at.total(1)
