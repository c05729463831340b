"""The methods that LPLR is compared with: what each one declares, what it truly costs, and that it learns."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms._claims import MESSAGE, claim_of
from algorithms.lplr.baselines import LinUcb, SufficientStatistics
from algorithms.lplr.baselines.batches import batch_lengths, statistics_of, uniform_policy
from algorithms.lplr.constants import least_error_of_input_perturbation
from algorithms.problems import load
from dpaudit import Condition, Local, Printed, Release, Streams, UnsupportedError, certify
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from mechanisms import JointGaussian

PROBLEM = load("random_atoms")(atoms=8, actions=4)

TOGETHER = (Condition(kind="attained", status="checked"),)
"""One pair of neighbours moves all releases by their whole sensitivities at once."""


def streams(seed: int = 0) -> Streams:
    return Streams.spawn(np.random.default_rng(seed))


def share(algorithm: LinUcb | SufficientStatistics) -> Any:
    """Regret over that of uniform play, 10 runs."""
    regret = algorithm.run(PROBLEM, streams(), 10).arrays["regret"].sum(axis=1).mean()
    return regret / (algorithm.horizon * PROBLEM.gaps.mean())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_sufficient_statistics_cost_exactly_epsilon(epsilon: float) -> None:
    """Half for the matrix, half for the vector; the bracket closes on the claim."""
    made = SufficientStatistics(epsilon=epsilon, horizon=10**5, dimension=2)
    certificate = certify(made.declaration(), made.claim(), conditions=TOGETHER)
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(epsilon, rel=1e-9)
    assert certificate.tight.epsilon.lower > 0.99 * epsilon
    assert admit(made.declaration(), made.run(PROBLEM, streams(), 3).trace) == ()


@pytest.mark.parametrize(
    ("epsilon", "delta", "stored"),
    [(0.1, 1e-3, 0.0075), (0.1, 1e-5, 0.0185), (1, 1e-3, 0.172), (1, 1e-5, 0.2343), (4, 1e-3, 0.906), (4, 1e-5, 1.064)],
)
def test_gaussian_statistics_deliver_far_less_than_they_claim(epsilon: float, delta: float, stored: float) -> None:
    """The printed noise of Zheng et al. (2020) is 3.3 to 6.4 times what claims need: the sensitivity is sqrt(4.5)."""
    stddev = 6 * math.sqrt(2 * math.log(2.5 / delta)) / epsilon
    noise = JointGaussian(
        matrix_stddev=stddev, vector_stddev=stddev, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"
    )
    printed = Printed(rule="classic_gaussian", epsilon=epsilon, delta=delta)
    declaration = Local(part=Release(label="statistics", mechanism=noise, printed=printed))
    certificate = certify(declaration, claim_of(MESSAGE, "local", epsilon, delta))
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(stored, abs=6e-4)
    assert noise.loss().mu == pytest.approx(math.sqrt(4.5) / stddev, rel=1e-12)
    assert 3.2 < certificate.slack.noise_ratio < 6.5


def fitted_to_noisy_records(features: Array, rewards: Array, rng: np.random.Generator) -> Array:
    """Return estimates of the parameter from records with Laplace noise of scale 1 on every number. Shape: (n_runs, d).

    Only the diagonal of the Gram matrix is biased: by the variance 2 of the noise, which is taken off.
    """
    x, y = features + rng.laplace(size=features.shape), rewards + rng.laplace(size=rewards.shape)
    users, d = features.shape[1:]
    gram = np.einsum("nui,nuj->nij", x, x) / users - 2 * np.eye(d)
    target = np.einsum("nui,nu->ni", x, y) / users
    return np.clip((np.linalg.pinv(gram) @ target[..., None])[..., 0], -1.0, 1.0)


def test_the_error_of_input_perturbation_falls_like_the_third_root_on_laws_that_change_with_the_users() -> None:
    """Mean absolute deviation, the worst over c and both parameters of Theorem 2.2's laws, at alpha = 1.

    Features (1/2, +-c n^(-1/3)): times n^(1/3) it stays between 1.8 and 3.6, above the lower bound of .31 and .35.
    On one fixed law, the twin, it falls faster than n^(-0.45).
    """
    rng = np.random.default_rng(0)

    def error(users: int, size: float, slope: float) -> float:
        signs = rng.choice([-1.0, 1.0], (400_000 // users, users))
        features = np.stack([np.full_like(signs, 0.5), size * signs], axis=2)
        off = fitted_to_noisy_records(features, 0.25 + size * slope * signs, rng) - np.array([0.5, slope])
        ends = [np.abs(0.5 * off[:, 0] + side * size * off[:, 1]) for side in (1, -1)]
        return float((ends[0] + ends[1]).mean() / 2)

    found = {
        users: max(error(users, c * users ** (-1 / 3), slope) for c in (0.5, 1.5, 4.5) for slope in (0.0, 0.5))
        for users in (1_000, 20_000)
    }
    for users, worst in found.items():
        assert 1.8 < worst * users ** (1 / 3) < 3.6
        assert worst > least_error_of_input_perturbation(1.0, users)
    assert -0.43 < math.log(found[20_000] / found[1_000]) / math.log(20) < -0.23
    fixed = [error(users, 0.45, 0.5) for users in (1_000, 20_000)]
    assert math.log(fixed[1] / fixed[0]) / math.log(20) < -0.45


def test_without_privacy_there_is_nothing_to_declare() -> None:
    made = LinUcb(horizon=1000, dimension=2)
    assert made.epsilon == math.inf
    with pytest.raises(UnsupportedError, match="no epsilon is finite"):
        made.declaration()


def test_who_pays_for_privacy_learns_later() -> None:
    """At 10^5 users and epsilon 4: no privacy, then greedy on pure statistics."""
    shared: dict[str, Any] = {"horizon": 10**5, "dimension": 2}
    order = [
        share(LinUcb(**shared)),
        share(SufficientStatistics(epsilon=4.0, policy="greedy", **shared)),
    ]
    assert order == sorted(order)
    assert order[0] < 0.01
    assert order[1] < 0.5
    assert share(SufficientStatistics(epsilon=4.0, **shared)) <= 1 + 1e-9


def test_batches_cover_the_horizon_and_statistics_are_sums_over_users() -> None:
    """Lengths sum up; with one user the Gram matrix is one outer product."""
    assert sum(batch_lengths(12_345, 1.07)) == 12_345
    gram, target = statistics_of(PROBLEM, uniform_policy(PROBLEM, 50), 1, streams())
    cells = PROBLEM.features.reshape(-1, 2)
    outers = cells[:, :, None] * cells[:, None, :]
    distance = np.abs(gram[:, None] - outers[None]).sum(axis=(2, 3)).min(axis=1)
    assert distance.max() < 1e-12
    assert np.trace(gram, axis1=1, axis2=2) == pytest.approx((target**2).sum(axis=1))
