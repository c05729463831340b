# %% [markdown]
# # Reproduce a paper
#
# CAPRI (Pavlovic, Salgia and Zhao, 2025) is a kernel contextual bandit. Its paper prints a noise for (epsilon, delta). How much of it is needed?

# %%
from algorithms import Capri, Lplr
from dpaudit import certify
from dpaudit.wording.numerals import at_least, at_most, nearest

settings = {"model": "joint", "epsilon": 1.0, "delta": 1e-5, "horizon": 10_000}
printed = Capri(**settings, calibration="paper")
certificate = certify(printed.declaration(), printed.claim())
certificate.verdict, certificate.printed.valid, at_most(certificate.tight.epsilon.upper)
# Out: ('certified', True, '0.04122')

# %% [markdown]
# The claim is true and far from tight. Each factor is one step of the printed argument, and what it costs in noise.

# %%
"\n".join(f"{factor.name:<24} x {factor.noise_factor:.2f}" for factor in certificate.slack.factors)
# Out: constants                x 1.41
# Out: theorem at each release  x 1.45
# Out: number of parts          x 1.53
# Out: composition theorem      x 2.39
# Out: structure                x 2.45

# %%
nearest(certificate.slack.noise_ratio)
# Out: 18.45

# %% [markdown]
# With the exact noise of one release, the claim is just met.

# %%
tight = Capri(**settings, calibration="tight")
ratio = printed.plan().noise_multiplier / tight.plan().noise_multiplier
nearest(ratio), certify(tight.declaration(), tight.claim()).verdict
# Out: ('18.45', 'certified')

# %% [markdown]
# A paper can also be wrong. LPLR (Li, Simchi-Levi and Wang, 2024) adds one-sided noise to a matrix, which is not private at any epsilon. The certificate names a
# lower bound on delta at the claimed epsilon, and the repaired variant is certified.

# %%
broken = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2, variant="paper")
refuted = certify(broken.declaration(), broken.claim())
refuted.verdict, at_least(refuted.tight.delta.lower, 3)
# Out: ('refuted', '0.105')

# %%
fixed = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2, variant="fixed")
certify(fixed.declaration(), fixed.claim()).verdict
# Out: certified
