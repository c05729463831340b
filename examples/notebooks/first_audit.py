# %% [markdown]
# # A first audit
#
# A function publishes a mean age with Laplace noise. It promises epsilon = 1. The ages are clipped to [0, 100], and one of four may change: the mean moves by
# at most 25, so the noise needs scale 25. This function has less.

# %%
import numpy as np

from audits import Settings, audit
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="replace_one", unit="one person's age")
YOUNGER, OLDER = np.array([20.0, 30.0, 40.0, 0.0]), np.array([20.0, 30.0, 40.0, 100.0])


def mean_age(ages, rng, n_runs):
    return np.clip(ages, 0, 100).mean() + rng.laplace(scale=12.0, size=n_runs)


found = audit(
    mean_age, neighbours=(YOUNGER, OLDER), claim=CLAIM, runs=20_000, significance=0.01, rng=np.random.default_rng(7)
)
found.verdict
# Out: violation

# %% [markdown]
# The verdict rests on a lower bound. A true claim is accused with probability at most 0.01.

# %%
from dpaudit.wording.numerals import at_least

at_least(found.epsilon_lower, 3), found.significance
# Out: ('2.01', 0.01)

# %% [markdown]
# With the noise that the claim needs, an audit in floating arithmetic finds something else: the last bits of a sum depend on the answer (Mironov, 2012). The claim is
# false of the numbers as they are published, although it is true on paper.

# %%
def enough_noise(ages, rng, n_runs):
    return np.clip(ages, 0, 100).mean() + rng.laplace(scale=25.0, size=n_runs)


bits = audit(
    enough_noise,
    neighbours=(YOUNGER, OLDER),
    claim=CLAIM,
    runs=20_000,
    significance=0.01,
    rng=np.random.default_rng(7),
    how=Settings(arithmetic="floating"),
)
bits.verdict
# Out: violation

# %%
"\n".join(bits.remarks)
# Out: The output is at least 74.2344: 20 of 400 fresh runs on the first data set, 81 of 400 on the second.
# Out: Drawn from rng: laplace of scale 25 at notebook.py:2; one draw a run. Without additive noise the output is 22.5 on the first data set and 47.5 on the second data set.
# Out: The floating-point lattice of the outputs differs between the data sets: their last bits show epsilon of at least 3.47. Round outputs to a coarse grid or draw discrete noise; arithmetic='exact' judges noise as real-valued.

# %% [markdown]
# Round what is published, or draw whole numbers by exact noise. Then nothing is found. That is no proof: the audit says what it would have caught. Here it was tried on a control, in which
# two runs of this code count as one.

# %%
def rounded(ages, rng, n_runs):
    return np.round(enough_noise(ages, rng, n_runs), 1)


clean = audit(
    rounded, neighbours=(YOUNGER, OLDER), claim=CLAIM, runs=20_000, significance=0.01, rng=np.random.default_rng(7)
)
clean.verdict, at_least(clean.epsilon_lower, 3)
# Out: ('not_refuted', '0.941')

# %%
from dpaudit.wording.audits import power_phrase

power_phrase(clean)
# Out: A version that leaks 2 times as much would have been caught with probability 0.9 or more (5,625 runs of it; error 0.1).

# %% [markdown]
# A certificate proves the claim for the noise that is declared. The two belong together: the proof is about the declaration, the audit about the code.

# %%
from dpaudit import Release, certify
from mechanisms import Laplace

declared = Release(label="mean age", mechanism=Laplace(scale=25.0, l1_sensitivity=25.0, neighbours="replace_one"))
certify(declared, CLAIM).verdict
# Out: certified
