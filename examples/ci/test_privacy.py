"""The project's privacy claims, as tests: each certifies what is declared and attacks what runs."""

import numpy as np
import pytest

from mechanisms import Gaussian, Laplace

YOUNGER, OLDER = np.array([20.0, 30.0, 40.0]), np.array([20.0, 30.0, 100.0])
NOISE = Laplace(scale=20.0, l1_sensitivity=20.0, neighbours="replace_one")


def mean_age(ages, rng, n_runs):
    """The mean age with noise, once for each run; ages are clipped to [40, 100], so it moves by at most 20."""
    return np.clip(ages, 40, 100).mean() + rng.laplace(scale=20.0, size=n_runs)


@pytest.mark.dp(epsilon=1.0, neighbours="replace_one", unit="one person's age")
def test_mean_age_is_private(dp):
    dp.check_function(mean_age, (YOUNGER, OLDER))


@pytest.mark.dp(epsilon=1.0, neighbours="replace_one", unit="one person's age")
def test_mean_age_has_the_noise_that_it_declares(dp):
    dp.check_release(mean_age, (YOUNGER, OLDER), mechanism=NOISE, query=lambda ages: np.clip(ages, 40, 100).mean())


@pytest.mark.dp(epsilon=1.0, delta=1e-5, neighbours="add_remove", unit="one visit")
def test_the_gaussian_that_we_use_is_private(dp):
    dp.check_mechanism(Gaussian(stddev=8.0, l2_sensitivity=2.0, neighbours="add_remove"))


def test_the_weekly_sums_keep_their_claim(dp):
    dp.check_config("privacy/weekly.toml")
