"""The audit domain of kernel bandits: the smallest on which the privacy bound is attained exactly."""

import numpy as np

from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.checks import OpenProbability, open_probability


def audit_domain(*, canary_share: OpenProbability = 0.06) -> KernelBandit:
    """Return three contexts and two actions on two orthogonal unit features, for kernel = "features".

    Context 0 maps to the first feature whatever the action, context 1 to the first or the second by its
    action, context 2 to the second. So the shift that a user with context 0 causes does not depend on the
    random action, and context 1 shows which direction was estimated to be better. `canary_share` is the
    expected share of points on the first feature; below one half that direction is the rarer one, and the
    sensitivity bound is attained there. Mean rewards are 0.
    Raises: ValueError: canary_share outside (0, 0.5].

    >>> audit_domain().mean_reward.shape
    (3, 2)
    """
    share = open_probability("canary_share", canary_share)
    if share > 0.5:
        raise ValueError(f"Expected canary_share={canary_share!r} to be at most 0.5.")
    first, second = [1.0, 0.0], [0.0, 1.0]
    return KernelBandit(
        name="audit_domain",
        description="Two orthogonal features; the sensitivity bound is attained at context 0.",
        contexts=np.arange(3.0)[:, None],
        actions=np.arange(2.0)[:, None],
        context_probabilities=np.array([share / 3, 4 * share / 3, 1 - 5 * share / 3]),
        mean_reward=np.zeros((3, 2)),
        features=np.array([first, first, first, second, second, second]),
    )
