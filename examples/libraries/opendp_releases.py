"""OpenDP: a count, a sum and a noisy maximum. In a configuration: `[library]`, `object = "opendp_releases:count"`."""

import opendp.prelude as dp

from dpaudit.adapters import adapt

dp.enable_features("contrib")
NUMBERS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def count():
    made = NUMBERS >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
    return adapt(made, neighbours="add_remove", pair=([], [5]))


def total():
    made = NUMBERS >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=10.0)
    return adapt(made, neighbours="add_remove", pair=([1], [1, 10]))


def winner():
    votes = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    made = votes >> dp.m.then_noisy_max(dp.max_divergence(), scale=2.0)
    return adapt(made, neighbours="replace_one", distance=1.0, pair=([0.0, 0.0], [1.0, -1.0]))
