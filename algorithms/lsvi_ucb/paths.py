"""One user as real users enter the statistics: the transitions of one path, counted with those of the batch."""

from dataclasses import dataclass

import numpy as np

from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.planning import BatchDomain
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UserPath:
    """The transitions of one user of one batch, which counts from 0. Shape: counts (H, S, A, S), one 1 a step."""

    counts: Array
    batch: int = 0

    def entered(self, counts: Array, number: int) -> Array:
        """Return the transitions of batch `number` with this user's, if the user is in it. Shape: (n_runs, ...)."""
        return counts + self.counts if number == self.batch else counts


def paths(plan: BatchPlan, domain: BatchDomain) -> tuple[UserPath, UserPath]:
    """Return two users whose cells lie as far apart at every step as the problem's features allow.

    Distance is that of matrices and of vectors with the largest targets, each over its sensitivity.
    """
    steps, states, actions = domain.mdp.shape
    cells = np.array([_farthest(plan, domain, h) for h in range(steps)])
    users: list[UserPath] = []
    for side in (0, 1):
        counts = np.zeros((steps, states, actions, states))
        at, chosen = np.divmod(cells[:, side], actions)
        counts[np.arange(steps), at, chosen, np.append(at[1:], at[-1])] = 1.0
        users.append(UserPath(counts=counts))
    return users[0], users[1]


def _farthest(plan: BatchPlan, domain: BatchDomain, step: int) -> tuple[int, int]:
    """Return the two cells of a step whose contributions lie furthest apart."""
    x, bound = domain.features, plan.bounds[step]
    targets = np.minimum(domain.mdp.rewards[step].ravel() + bound - 1, bound)
    vectors = targets[:, None] * x / (2 * bound)
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1) / np.sqrt(2)
    both = np.concatenate([vectors, products], axis=1)
    apart = np.linalg.norm(both[:, None] - both[None], axis=2)
    first, second = np.unravel_index(int(apart.argmax()), apart.shape)
    return int(first), int(second)
