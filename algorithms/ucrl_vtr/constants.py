"""The constants of UCRL-VTR: noise, shifts and radii, and the horizons from which the printed bound speaks."""

import math

from algorithms._linear_rl.calibration import nodes_printed
from algorithms._linear_rl.printed_bound import PrintedBound
from algorithms.problems.linear_mixture import LinearMixture
from algorithms.ucrl_vtr import printed_scales as printed
from algorithms.ucrl_vtr.noise import printed_units
from algorithms.ucrl_vtr.plan import plan_of
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit.model import constants as paper


def constants_of(settings: UcrlVtrSettings, problem: LinearMixture | None = None) -> paper.PaperConstants:
    """Return the constants at the configured number of episodes, and from which number the printed bound speaks.

    The bound is that of Theorem 7, for Hoeffding bonuses; it speaks where it is below episodes times steps.
    """
    plan = plan_of(settings)
    last = settings.episodes
    constants = paper.constants(
        ("ridge", plan.ridge, "Eq. (1)"),
        ("printed noise over H^2", _units(settings, last), "Corollaries 5 and 6"),
        ("printed Upsilon", deviation(settings, last), "Claim 26"),
        ("printed radius", radius(settings, last), "Theorem 7"),
        ("radius of this run, last episode", plan.confidence.radii(last)[0], "settings"),
        ("shift of this run, last episode", plan.confidence.shift(0, last), "settings"),
        ("printed bound on the regret", _bound_of(settings).value(last), "Theorem 7"),
    )
    return paper.PaperConstants(
        constants=constants,
        horizons=(_bound_of(settings).horizon(), _bound_of(settings, quiet=True).horizon("the same without noise")),
    )


def upper_bound_of(settings: UcrlVtrSettings, problem: LinearMixture) -> paper.RegretUpperBound | None:
    """Return Theorem 7's bound, or the most that can be lost where that is less.

    None for a pure claim, which has no bound, and for Bernstein bonuses, whose Theorem 9 has no constant.
    """
    unbounded = settings.delta == 0 or settings.bonus == "bernstein"
    return None if unbounded else _bound_of(settings).allowed(settings.episodes, problem)


def _units(settings: UcrlVtrSettings, episodes: int) -> float:
    """Return the printed standard deviation over H^2; pure calibrations have none, and give NaN."""
    return math.nan if settings.delta == 0 else printed_units(settings, episodes, bernstein=False)


def deviation(settings: UcrlVtrSettings, episodes: int) -> float:
    """Return Upsilon, the printed bound on the noise of a matrix."""
    nodes = nodes_printed(episodes) if settings.model == "joint" else episodes
    tail = math.log(6 * episodes * settings.steps / settings.fail_prob)
    return printed.matrix_deviation(_units(settings, episodes) * settings.steps**2, nodes, settings.dimension, tail)


def radius(settings: UcrlVtrSettings, episodes: int, *, quiet: bool = False) -> float:
    """Return the printed radius; without noise the ridge alone costs steps times the weight bound."""
    term = printed.hoeffding_term(**settings.sizes(episodes))
    if quiet:
        return settings.steps * settings.weight_bound + term
    return printed.printed_radius(settings.weight_bound, settings.steps**2, deviation(settings, episodes)) + term


def _bound_of(settings: UcrlVtrSettings, *, quiet: bool = False) -> PrintedBound:
    """Return Theorem 7's bound at any number of episodes."""

    def bound(episodes: int) -> float:
        return float(printed.regret_bound(radius(settings, episodes, quiet=quiet), **settings.sizes(episodes)))

    return PrintedBound(source="Theorem 7", steps=settings.steps, value=bound)
