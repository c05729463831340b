"""The learner of LSVI-UCB, all runs at once: what it adds to its statistics, and the policy it learns from them."""

import numpy as np

from algorithms.lsvi_ucb.canaries import BatchCanary
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.lsvi_ucb.planning import BatchDomain, BatchPolicy, inverses_of, plan_batch
from dpaudit import Recorder
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import tape_of


class Learner:
    """The statistics of all runs: counts so far, noisy matrices, and the noise of the vectors, drawn ahead."""

    def __init__(
        self, plan: BatchPlan, domain: BatchDomain, recorder: Recorder, n_runs: int, canary: BatchCanary | None
    ) -> None:
        steps, states, actions = domain.mdp.shape
        self.plan, self.domain, self.canary, self.rng = plan, domain, canary, recorder.rng
        d = domain.features.shape[1]
        self.counts = np.zeros((n_runs, steps, states, actions, states))
        self.products = domain.features[:, :, None] * domain.features[:, None, :]
        self.sums = [plan.open(noise, recorder, plan.horizon) for noise in plan.noises]
        self.noise = [plan.draw(noise, recorder, (n_runs, d), plan.releases) for noise in plan.noises]
        self.matrices = np.zeros((n_runs, steps, d, d))
        self.own_matrices = np.zeros((n_runs, steps, d, d))
        self.exact = np.zeros((n_runs, steps, d, d))
        self.target_ratio = 0.0
        self.taken = 0

    def add(self, counts: Array) -> None:
        """Take in one leaf of the trees: the transitions of a batch, and with their own batch the canary's."""
        self.counts += counts
        cells = counts.sum(axis=4).reshape(*counts.shape[:2], -1)
        element = np.tensordot(cells, self.products, axes=(2, 0))  # sum of phi phi^T over the batch
        self.own_matrices = self.own_matrices + element
        if self.canary is not None and self.taken == self.canary.batch:
            element = element + self._canary_matrices()
        self.taken += 1
        self.exact = self.exact + element
        if self.plan.noisy:  # Lambda_b+1 less ridge and shift: Lambda_k+1 with the tree's prefix noise H_h^(b+1)
            self.matrices = np.stack([noisy_sum(element[:, h]) for h, noisy_sum in enumerate(self.sums)], axis=1)
        else:
            self.matrices = self.matrices + element

    def learn(self, runs: Array, turns: Array) -> tuple[BatchPolicy, Array, Array]:
        """Return the next policy of `runs`, each at its own turn, with their vectors: noisy, and others' exact ones."""
        plan, domain = self.plan, self.domain
        vectors = np.zeros((len(runs), *self.matrices.shape[1:3]))
        others = np.zeros_like(vectors)

        def released(h: int, values: Array) -> Array:
            # u_k+1,h = sum over i <= k of phi_i,h (r_i,h + V_h+1(s_i,h+1)), the whole history with the new values
            targets = domain.mdp.rewards[h][None, :, :, None] + values[:, None, None, :]
            self.target_ratio = max(self.target_ratio, float(targets.max()) / plan.bounds[h])
            clipped = np.clip(targets, 0.0, plan.bounds[h])
            weights = np.einsum(
                "nsat,nsat->nsa", self.counts[runs, h], np.broadcast_to(clipped, self.counts[runs, h].shape)
            )
            others[:, h] = weights.reshape(len(runs), -1) @ domain.features
            vectors[:, h] = others[:, h]
            if self.canary is not None and self.taken > self.canary.batch:
                y = np.clip(np.nan_to_num(self.canary.targets[turns, h]), 0.0, plan.bounds[h])
                vectors[:, h] += y[:, None] * _bounded(self.canary.features[h])
            if plan.noisy:  # u~_b+1,h = u_k+1,h + eta_h^(b+1)
                vectors[:, h] = self._shown((h, turns), runs, vectors[:, h], vectors[:, h] + self.noise[h][turns, runs])
            return vectors[:, h]

        # Lambda~_b+1,h = Lambda_k+1,h + (c_K + Upsilon) I + H_h^(b+1), for all h at once
        inverses = inverses_of(self.matrices[runs], plan.ridge, plan.shift if plan.noisy else 0.0)
        policy = plan_batch(plan, domain, inverses, released)
        return policy, vectors, others

    def _shown(self, step_and_turn: tuple[int, Array], runs: Array, exact: Array, noisy: Array) -> Array:
        """Return the noisy vectors of one step, each run at its own turn; a tape writes them down."""
        step, turn = step_and_turn
        noise, tape = self.plan.noises[step], tape_of(self.rng)
        if tape is None:
            return noisy
        drawn = self.noise[step][turn, runs]
        return tape.enter((noise.vector_label,), noise.vector, exact, noisy, runs=runs, drawn=drawn)

    def _canary_matrices(self) -> Array:
        """Return the canary's outer products, of features within their bound. Shape: (H, d, d)."""
        assert self.canary is not None  # noqa: S101  # callers look first
        x = np.stack([_bounded(features) for features in self.canary.features])
        return x[:, :, None] * x[:, None, :]


def _bounded(features: Array) -> Array:
    """Return features of norm at most 1; what is not a number becomes 0. Shape: (d,)."""
    finite: Array = np.nan_to_num(features, posinf=0.0, neginf=0.0)
    return finite / max(float(np.linalg.norm(finite)), 1.0)


def first_policy(plan: BatchPlan, domain: BatchDomain, n_runs: int) -> BatchPolicy:
    """Return the policy before any data: ridge alone, weights 0."""
    d = domain.features.shape[1]
    inverses = np.broadcast_to(np.eye(d) / plan.ridge, (n_runs, domain.mdp.shape[0], d, d))
    return plan_batch(plan, domain, inverses, lambda h, values: np.zeros((n_runs, d)))
