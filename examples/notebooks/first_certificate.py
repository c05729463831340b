# %% [markdown]
# # A first certificate
#
# Forty weekly sums are published, each with Gaussian noise. Is epsilon = 1 at delta = 10⁻⁵ true for all of them together?

# %%
from dpaudit import Claim, Release, Repeat, certify
from mechanisms import Gaussian

claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one customer")
noise = Gaussian(stddev=30.0, l2_sensitivity=1.0, neighbours="replace_one")
weekly = Repeat(part=Release(label="sums", mechanism=noise), times=40)
certificate = certify(weekly, claim)
certificate.verdict
# Out: certified

# %% [markdown]
# The certificate brackets epsilon from both sides. Upper ends are rounded up and lower ends down.

# %%
from dpaudit.wording.numerals import at_least, at_most

epsilon = certificate.tight.epsilon
at_least(epsilon.lower), at_most(epsilon.upper)
# Out: ('0.7685', '0.7686')

# %% [markdown]
# The claim leaves room. The smallest noise that meets it is rounded up, because less would refute the claim.

# %%
from dpaudit import smallest_noise

needed = 30.0 * smallest_noise(weekly, claim)
at_most(needed, 6)
# Out: 23.5946

# %%
def verdict(stddev: float) -> str:
    other = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="replace_one")
    return certify(Repeat(part=Release(label="sums", mechanism=other), times=40), claim).verdict


verdict(23.5946), verdict(23.5945)
# Out: ('certified', 'refuted')

# %% [markdown]
# The JSON of a certificate is checked by a program that shares no code with the accountant. An altered file is found.

# %%
from dpaudit.verifier import verify

text = certificate.to_json()
verify(text).accepted, verify(text.replace('"epsilon": 1.0', '"epsilon": 0.5')).accepted
# Out: (True, False)
