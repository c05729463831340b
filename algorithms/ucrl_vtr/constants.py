"""The constants of UCRL-VTR: noise, shifts and radii, and the horizons from which the printed bound speaks."""

import math

from algorithms._linear_rl.calibration import nodes_printed
from algorithms.problems.linear_mixture import LinearMixture
from algorithms.ucrl_vtr import printed_scales as printed
from algorithms.ucrl_vtr.plan import plan_of
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit.model import constants as paper


def constants_of(settings: UcrlVtrSettings, problem: LinearMixture | None = None) -> paper.PaperConstants:
    """Return the constants at the configured number of episodes, and from which number the printed bound speaks.

    The bound is that of Theorem 7, for Hoeffding bonuses; it speaks where it is below episodes times steps.
    """
    plan = plan_of(settings)
    last = settings.episodes
    return paper.PaperConstants(
        constants=(
            paper.Constant(name="ridge", value=plan.ridge, source="Eq. (1)"),
            paper.Constant(name="printed noise over H^2", value=_units(settings, last), source="Corollaries 5 and 6"),
            paper.Constant(name="printed Upsilon", value=deviation(settings, last), source="Claim 26"),
            paper.Constant(name="printed radius", value=radius(settings, last), source="Theorem 7"),
            paper.Constant(
                name="radius of this run, last episode", value=plan.confidence.radii(last)[0], source="settings"
            ),
            paper.Constant(
                name="shift of this run, last episode", value=plan.confidence.shift(0, last), source="settings"
            ),
            paper.Constant(name="printed bound on the regret", value=_bound(settings, last), source="Theorem 7"),
        ),
        horizons=tuple(
            paper.SpeakingHorizon(
                name=name,
                speaks="the bound is below episodes times steps",
                log10=_from(settings, quiet=quiet),
                source="Theorem 7",
            )
            for name, quiet in (("printed bound on the regret", False), ("the same without noise", True))
        ),
    )


def upper_bound_of(settings: UcrlVtrSettings, problem: LinearMixture) -> paper.RegretUpperBound | None:
    """Return Theorem 7's bound, or the most that can be lost where that is less.

    None for a pure claim, which has no bound, and for Bernstein bonuses, whose Theorem 9 has no constant.
    """
    if settings.delta == 0 or settings.bonus == "bernstein":
        return None
    return paper.regret_upper_bound(
        horizon=settings.episodes,
        most=problem.largest_regret,
        source="Theorem 7",
        log10=_from(settings, quiet=False),
        value=_bound(settings, settings.episodes),
    )


def _units(settings: UcrlVtrSettings, episodes: int) -> float:
    """Return the printed standard deviation over H^2; pure calibrations have none, and give NaN."""
    if settings.delta == 0:
        return math.nan
    return printed.noise_units(
        joint=settings.model == "joint",
        bernstein=False,
        epsilon=settings.epsilon,
        delta=settings.delta,
        episodes=episodes,
        steps=settings.steps,
    )


def deviation(settings: UcrlVtrSettings, episodes: int) -> float:
    """Return Upsilon, the printed bound on the noise of a matrix."""
    nodes = nodes_printed(episodes) if settings.model == "joint" else episodes
    tail = math.log(6 * episodes * settings.steps / settings.fail_prob)
    return printed.matrix_deviation(_units(settings, episodes) * settings.steps**2, nodes, settings.dimension, tail)


def radius(settings: UcrlVtrSettings, episodes: int, *, quiet: bool = False) -> float:
    """Return the printed radius; without noise the ridge alone costs steps times the weight bound."""
    term = printed.hoeffding_term(
        episodes=episodes, steps=settings.steps, d=settings.dimension, fail_prob=settings.fail_prob
    )
    if quiet:
        return settings.steps * settings.weight_bound + term
    return printed.printed_radius(settings.weight_bound, settings.steps**2, deviation(settings, episodes)) + term


def _bound(settings: UcrlVtrSettings, episodes: int, *, quiet: bool = False) -> float:
    """Return Theorem 7's bound for a number of episodes of any size."""
    return float(
        printed.regret_bound(
            radius(settings, episodes, quiet=quiet),
            episodes=episodes,
            steps=settings.steps,
            d=settings.dimension,
            fail_prob=settings.fail_prob,
        )
    )


def _from(settings: UcrlVtrSettings, *, quiet: bool) -> float:
    """Return log10 of the number of episodes from which the bound is below the most that can be lost."""

    def speaks(episodes: float) -> bool:
        number = int(episodes)
        return _bound(settings, number, quiet=quiet) < number * settings.steps

    return paper.log10_horizon(speaks, smallest=0.5)
