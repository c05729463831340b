"""A function of one's own, with a bug: the mean of three ages in [0, 100] moves by 33, and its noise is for 16."""

import numpy as np

from audits import audit
from dpaudit import Claim


def mean_age(ages, rng, n_runs):
    """The mean age with Laplace noise, once for each run."""
    return np.mean(ages) + rng.laplace(scale=16.0, size=n_runs)


if __name__ == "__main__":
    result = audit(
        mean_age,
        neighbours=([20, 30, 0], [20, 30, 100]),
        claim=Claim(epsilon=1.0, neighbours="replace_one", unit="one person's age"),
        runs=20_000,
        rng=np.random.default_rng(7),
    )
    print(f"{result.verdict}: epsilon is at least {result.epsilon_lower:.2f}, and 1 was claimed")
