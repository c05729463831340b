"""The constants of LPLR: bins, phases and noise, and the horizons from which its printed thresholds speak."""

import math

from algorithms.lplr.lower_bounds import (
    epsilon_of_input_perturbation,
    least_error_of_input_perturbation,
    least_squared_error,
)
from algorithms.lplr.plan import plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit.model import constants as paper

_SPEAKS = 0.5


def constants_of(settings: LplrSettings, problem: LinearBandit | None = None) -> paper.PaperConstants:
    """Return the constants at the configured horizon, and from which horizons the printed threshold and width speak.

    Both are for the last full epoch, where a phase has about horizon / (4 dimension) users.
    """
    plan, resolution = plan_of(settings), settings.resolution()
    return paper.PaperConstants(
        constants=(
            paper.Constant(name="beta", value=resolution.beta, source="Remark 4.8"),
            paper.Constant(name="gamma", value=resolution.gamma, source="section 4.1"),
            paper.Constant(name="layers of bins", value=float(resolution.depth), source="section 4.1"),
            paper.Constant(name="failure probability", value=resolution.fail_prob, source="Theorem 4.7"),
            paper.Constant(name="phases of an epoch", value=float(plan.phases), source="Algorithm 2"),
            *(
                paper.Constant(name=f"noise deviation of {label}", value=plan.scale(label), source="Algorithms 3 to 5")
                for label, _ in plan.leaves.update
            ),
            *(_least_errors(settings) if settings.model == "local" else ()),
            paper.Constant(name="printed threshold", value=threshold(settings, settings.horizon), source="Algorithm 4"),
            paper.Constant(name="printed half width", value=width(settings, settings.horizon), source="Theorem 4.7"),
        ),
        horizons=(
            paper.SpeakingHorizon(
                name="printed threshold of a bin",
                speaks="a bin counts as active that holds half of all users",
                log10=paper.log10_horizon(lambda horizon: threshold(settings, horizon) < _SPEAKS, smallest=2.0),
                source="Algorithm 4",
            ),
            paper.SpeakingHorizon(
                name="printed half width",
                speaks="a half width below 0.5",
                log10=paper.log10_horizon(lambda horizon: width(settings, horizon) < _SPEAKS, smallest=2.0),
                source="Theorem 4.7",
            ),
        ),
    )


def _least_errors(settings: LplrSettings) -> tuple[paper.Constant, paper.Constant]:
    """Return the lower bounds on errors, which are about local privacy."""
    noisy = settings.epsilon / epsilon_of_input_perturbation(1.0)
    return (
        paper.Constant(
            name="least squared error of any local estimator, worst law",
            value=least_squared_error(settings.epsilon, settings.horizon),
            source="Theorem 2.1, at the claimed epsilon",
        ),
        paper.Constant(
            name="least absolute error by noisy records, worst law",
            value=least_error_of_input_perturbation(noisy, settings.horizon),
            source="Theorem 2.2, at the claimed epsilon",
        ),
    )


def upper_bound_of(settings: LplrSettings, problem: LinearBandit) -> paper.RegretUpperBound | None:
    """Return the most that can be lost where the printed threshold or width says nothing, else None.

    None where messages are shuffled, of which no theorem speaks.
    """
    if settings.model == "shuffle":
        return None
    speaks = max(horizon.log10 for horizon in constants_of(settings).horizons)
    return paper.regret_upper_bound(
        horizon=settings.horizon, most=problem.largest_regret, source="Theorem 4.7", log10=speaks
    )


def threshold(settings: LplrSettings, horizon: float) -> float:
    """Return the share of users that a bin must hold by the printed constants: 43 l gamma^2 (d + 1)^3 / (e sqrt n)."""
    return 43 * (settings.dimension + 1) ** 3 * _common(settings, horizon)


def width(settings: LplrSettings, horizon: float) -> float:
    """Return the printed half width, 300 l gamma^2 (d + 1)^4 / (e sqrt n)."""
    return 300 * (settings.dimension + 1) ** 4 * _common(settings, horizon)


def _common(settings: LplrSettings, horizon: float) -> float:
    """Return l gamma^2 / (e sqrt n), with n = T / (4 d) and l = ln(24 d 2 ln(T) T^2)."""
    beta = 1 / math.log(horizon) if settings.beta is None else settings.beta
    failure = horizon**-2 if settings.fail_prob is None else settings.fail_prob
    logarithm = math.log(48 * settings.dimension / (beta * failure))
    gamma = math.exp(beta * math.log(horizon))
    return logarithm * gamma**2 / (settings.epsilon * math.sqrt(horizon / (4 * settings.dimension)))
