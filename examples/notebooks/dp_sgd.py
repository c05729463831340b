# %% [markdown]
# # DP-SGD on a survey
#
# A logistic regression learns from a survey on affairs (statsmodels' `fair`, 6,366 respondents). Each step draws a Poisson sample of the respondents, clips each
# gradient to norm 1, and adds normal noise to their sum. The training loop is plain numpy; for PyTorch, see the page on DP-SGD.

# %%
import numpy as np

from algorithms.problems.affairs import affairs

problem = affairs()
x, y = problem.features, problem.labels
RATE, STEPS, DELTA = 0.1, 100, 1e-5
x.shape
# Out: (6366, 8)

# %% [markdown]
# Which noise multiplier gives epsilon = 1? The configuration of the algorithm finds the smallest one; it is rounded up.

# %%
from algorithms import DpSgd
from dpaudit import certify
from dpaudit.wording.numerals import at_most

tight = DpSgd(epsilon=1.0, delta=DELTA, sample_rate=RATE, steps=STEPS, calibration="tight")
multiplier = float(at_most(tight.declaration().parts[0].part.part.mechanism.noise_multiplier, 5))
multiplier
# Out: 3.9419

# %%
given = DpSgd(epsilon=1.0, delta=DELTA, sample_rate=RATE, steps=STEPS, noise_multiplier=multiplier)
certificate = certify(given.declaration(), given.claim())
certificate.verdict, at_most(certificate.tight.epsilon.upper, 5)
# Out: ('certified', '0.99993')

# %%
def trained(noise_multiplier: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        drawn = rng.random(len(x)) < RATE
        gradients = (1 / (1 + np.exp(-x[drawn] @ weights)) - y[drawn])[:, None] * x[drawn]
        clipped = gradients / np.maximum(1.0, np.linalg.norm(gradients, axis=1))[:, None]
        noisy = clipped.sum(axis=0) + rng.normal(scale=noise_multiplier, size=len(weights))
        weights -= 2.0 * noisy / (RATE * len(x))
    return weights


def accuracy(weights: np.ndarray) -> float:
    return round(float(((x @ weights > 0) == y).mean()), 2)


accuracy(trained(0.0, seed=1)), accuracy(trained(multiplier, seed=1))
# Out: (0.72, 0.72)

# %% [markdown]
# Half the noise would be another promise. The same steps cost:

# %%
half = DpSgd(epsilon=1.0, delta=DELTA, sample_rate=RATE, steps=STEPS, noise_multiplier=multiplier / 2)
refuted = certify(half.declaration(), half.claim())
refuted.verdict, at_most(refuted.tight.epsilon.upper, 3)
# Out: ('refuted', '2.39')
