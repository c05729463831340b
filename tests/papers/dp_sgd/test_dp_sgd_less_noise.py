"""DP-SGD with so much less noise that a control has an epsilon of known size."""

import pytest

from algorithms.dp_sgd.algorithm import DpSgd
from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.certification.less_noise import with_less_noise

CONFIG = DpSgd(epsilon=0.75, delta=1e-5, noise_multiplier=4.0, sample_rate=0.1, steps=40, max_grad_norm=0.1)


@pytest.mark.parametrize("epsilon", [1.75, 7.5, 30.0])
def test_the_noise_is_as_small_as_the_size_allows(epsilon: float) -> None:
    """Epsilon is no power of the noise under sampling: the proved one lies within a twentieth below the size.

    One step by the ratio of the epsilons, as if epsilon were proportional, misses each of the sizes.
    """
    weaker = with_less_noise(CONFIG, CONFIG.claim(), epsilon)
    assert isinstance(weaker, DpSgd)
    assert 0.95 * epsilon <= _proved(weaker) <= epsilon
    step = DpSgd(
        epsilon=0.75,
        delta=1e-5,
        noise_multiplier=4.0 * _proved(CONFIG) / epsilon,
        sample_rate=0.1,
        steps=40,
        max_grad_norm=0.1,
    )
    assert not 0.95 * epsilon <= _proved(step) <= epsilon


def _proved(config: DpSgd) -> float:
    return bracket_epsilon(fold(config.declaration(), "add_remove", ()), config.delta).upper
