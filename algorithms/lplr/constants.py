"""The constants of LPLR, the horizons from which its printed thresholds speak, and lower bounds on errors."""

import math

import numpy as np

from algorithms.lplr.plan import plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit.model import constants as paper
from dpaudit.model.mechanism import Array

_BELOW = 1e-9
"""What rounding and quadrature may take, as a share."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
"""Gauss-Legendre nodes and weights of a piece: the integrand is analytic between its kinks."""

_SCALES = tuple(map(float, np.geomspace(0.5, 8.0, 200)))
"""The constants c of m = c n^(-1/3) that are tried."""


def least_squared_error(epsilon: float, users: float) -> float:
    """Return what every locally private estimator's mean squared error reaches on the worst law: order 1 / sqrt(users).

    With c = min(1 / (2 a), sqrt(users)) and total variation at most c a, for a the half of (e^epsilon - 1) times the
    root of min(4, e^(2 epsilon)): Eq. (13) bounds the sum of both divergences.
    Source: Li, Simchi-Levi and Wang (2024), Theorem 2.1.

    >>> round(least_squared_error(1.0, 1e4), 9)
    0.000363735
    """
    spread = math.expm1(epsilon) * math.sqrt(min(4.0, math.exp(2 * epsilon))) / 2
    share = min(1 / (2 * spread), math.sqrt(users))
    return share * (1 - share * spread) / (4 * math.sqrt(users)) * (1 - _BELOW)


def least_error_of_input_perturbation(alpha: float, users: float) -> float:
    """Return what every estimator from noisy records reaches in mean absolute error: order users^(-1/3) / alpha.

    A message is a feature in two dimensions and its answer, with Laplace noise of scale 1 / alpha on each number. Its
    epsilon is `epsilon_of_input_perturbation(alpha)`.
    Features are (1/2, +-m), answers 1/4, or 1/4 +- m/2 where the second weight is 1/2; m = c users^(-1/3) is at most
    sqrt(3)/2, and c the best of those tried.
    Source: Li, Simchi-Levi and Wang (2024), Theorem 2.2, with the exact distance of both laws of a message.

    >>> round(least_error_of_input_perturbation(1.0, 1e6) * 100, 3)
    0.367
    """
    best = 0.0
    # sup MAD >= m / 4 (1 - sqrt(1 - affinity^(2 n))), the affinity of n messages being the product of theirs
    for scale in _SCALES:
        size = scale / alpha * users ** (-1 / 3)
        if size <= math.sqrt(3) / 2:
            apart = squared_hellinger(alpha * size)
            alike = math.exp(2 * users * math.log1p(-apart)) if apart < 1 else 0.0
            best = max(best, size / 4 * (1 - math.sqrt(max(0.0, 1 - alike))))
    return best * (1 - _BELOW)


def epsilon_of_input_perturbation(alpha: float) -> float:
    """Return the epsilon of a message that has Laplace noise of scale 1 / alpha on each of its three numbers.

    Replacing a record moves the feature, of norm 1 and in two dimensions, by 2 sqrt(2) in the sum of absolute values,
    and a reward in [-1, 1] by 2.
    """
    return math.nextafter((2 * math.sqrt(2) + 2) * alpha, math.inf)


def squared_hellinger(size: float) -> float:
    """Return 1 minus the affinity of both laws of (second feature, answer); noise of scale 1, features at +-size.

    It is size^3 / 192 for small sizes. The integrand has kinks at +-size, 0 and +-size / 2, where the quadrature is
    split; beyond the outermost ones it is a product of exponentials, and its integral is exact.
    """
    x, x_weights = _pieces(size)
    y, y_weights = _pieces(size / 2)
    x, y = x[:, None], y[None, :]
    near, far = np.exp(-np.abs(x - size)), np.exp(-np.abs(x + size))
    centre = np.exp(-np.abs(y))
    above, below = np.exp(-np.abs(y - size / 2)), np.exp(-np.abs(y + size / 2))
    # the difference of the laws term by term, so that nothing cancels where both are almost the same
    difference = near * centre * np.expm1(np.abs(y) - np.abs(y - size / 2))
    difference = difference + far * centre * np.expm1(np.abs(y) - np.abs(y + size / 2))
    both = np.sqrt((near + far) * centre) + np.sqrt(near * above + far * below)
    # a law is its sum over 8, by two densities of 1/2 and a mixture of two; half of the integral of (p - q)^2 / (..)^2
    return float(min(x_weights @ (difference / both) ** 2 @ y_weights / 16, 1.0))


def _pieces(end: float) -> tuple[Array, Array]:
    """Return places and weights of an integral over the line, with kinks at 0 and +-end and e^-|x| beyond them."""
    right, half = (_NODES + 1) / 2 * end, _WEIGHTS / 2 * end
    return np.concatenate([[-end], -right, right, [end]]), np.concatenate([[1.0], half, half, [1.0]])


_SPEAKS = 0.5


def constants_of(settings: LplrSettings, problem: LinearBandit | None = None) -> paper.PaperConstants:
    """Return the constants at the configured horizon, and from which horizons the printed threshold and width speak.

    Both are for the last full epoch, where a phase has about horizon / (4 dimension) users.
    """
    plan, resolution, horizon = plan_of(settings), settings.resolution(), settings.horizon
    constants = paper.constants(
        ("beta", resolution.beta, "Remark 4.8"),
        ("gamma", resolution.gamma, "section 4.1"),
        ("layers of bins", float(resolution.depth), "section 4.1"),
        ("failure probability", resolution.fail_prob, "Theorem 4.7"),
        ("phases of an epoch", float(plan.phases), "Algorithm 2"),
        *((f"noise deviation of {label}", plan.scale(label), "Algorithms 3 to 5") for label, _ in plan.leaves.update),
        *(_least_errors(settings) if settings.model == "local" else ()),
        ("printed threshold", threshold(settings, horizon), "Algorithm 4"),
        ("printed half width", width(settings, horizon), "Theorem 4.7"),
    )
    bin_speaks = paper.SpeakingHorizon(
        name="printed threshold of a bin",
        speaks="a bin counts as active that holds half of all users",
        log10=paper.log10_horizon(lambda horizon: threshold(settings, horizon) < _SPEAKS, smallest=2.0),
        source="Algorithm 4",
    )
    width_speaks = paper.SpeakingHorizon(
        name="printed half width",
        speaks="a half width below 0.5",
        log10=paper.log10_horizon(lambda horizon: width(settings, horizon) < _SPEAKS, smallest=2.0),
        source="Theorem 4.7",
    )
    return paper.PaperConstants(constants=constants, horizons=(bin_speaks, width_speaks))


def _least_errors(settings: LplrSettings) -> tuple[tuple[str, float, str], tuple[str, float, str]]:
    """Return the lower bounds on errors, which are about local privacy: name, value and source of each."""
    squared = least_squared_error(settings.epsilon, settings.horizon)
    noisy = settings.epsilon / epsilon_of_input_perturbation(1.0)
    absolute = least_error_of_input_perturbation(noisy, settings.horizon)
    return (
        ("least squared error of any local estimator, worst law", squared, "Theorem 2.1, at the claimed epsilon"),
        ("least absolute error by noisy records, worst law", absolute, "Theorem 2.2, at the claimed epsilon"),
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
