"""CAPRI as printed: one round at a time, in Gram form with M^(-1/2), for one run. Slow; an oracle only.

Every line follows Algorithm 1. Where M is singular (duplicates in S) its inverse root is the pseudo-inverse.
Shares with the product the config, the schedule, the width rule and the problem; no linear algebra.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.capri.design import Factors
from algorithms.capri.plan import Domain, Plan
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.model.mechanism import Array


@dataclass
class GramRun:
    """What one run did: per completed epoch the bound, all estimates and the survivors; and the regret."""

    scales: list[Any]
    estimates: list[Any]
    active: list[Any]
    regret: float


def inverse_root(matrix: Array, tolerance: float = 1e-10) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    kept = values > tolerance * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T


def posterior_variance(kernel: Array, basis: Any, covariance: Any, ridge: float) -> Any:
    """Eq. (6), literally, with a pseudo-inverse of K_SS."""
    k_ss, k_sr = kernel[np.ix_(basis, basis)], kernel[np.ix_(basis, covariance)]
    inverse = np.linalg.pinv(k_ss, rcond=1e-10, hermitian=True)
    inner = ridge * np.eye(len(covariance)) + k_sr.T @ inverse @ k_sr
    v = inverse @ k_sr @ np.linalg.solve(inner, k_sr.T @ inverse)
    k_s = kernel[basis]
    return (np.diag(kernel) - np.einsum("iw,ij,jw->w", k_s, v, k_s)) / ridge


def gram_maps(kernel: Array, basis: Any, covariance: Any, ridge: float) -> Array:
    """M^(-1/2) k_S(w) for every cell, as columns."""
    k_sr = kernel[np.ix_(basis, covariance)]
    m = k_sr @ k_sr.T + ridge * kernel[np.ix_(basis, basis)]
    return inverse_root(m) @ kernel[basis]


def run_per_round(plan: Plan, domain: Domain, problem: KernelBandit, rng: np.random.Generator) -> GramRun:
    kernel = domain.features @ domain.features.T
    law, n_actions = domain.context_probabilities, domain.n_actions
    active = np.ones((len(law), n_actions), dtype=bool)
    kept = GramRun(scales=[], estimates=[], active=[], regret=0.0)

    def point(context: int) -> Any:
        return context * n_actions + allowed[context][rng.integers(len(allowed[context]))]

    def points(size: int) -> Array:
        return np.array([point(context) for context in rng.choice(len(law), size=size, p=law)])

    for epoch in plan.epochs:
        allowed = [np.flatnonzero(row) for row in active]
        basis, covariance = points(epoch.length), points(epoch.length)
        maps = gram_maps(kernel, basis, covariance, plan.ridge)
        variance = posterior_variance(kernel, basis, covariance, plan.ridge)
        scale = math.sqrt(variance[active.ravel()].max())
        sigma = plan.stddev * scale
        total = np.zeros(len(basis))
        for context in rng.choice(len(law), size=epoch.length, p=law):
            cell = point(context)
            mean = problem.mean_reward.flat[cell]
            reward = 1.0 if rng.random() < (1 + mean) / 2 else -1.0
            vector = max(-plan.reward_bound, min(reward, plan.reward_bound)) * maps[:, cell]
            if plan.model == "local":
                vector = vector + rng.normal(0, sigma, len(basis))
            total += vector
            kept.regret += problem.mean_reward[context].max() - mean
        if not epoch.complete:
            continue
        if plan.model == "joint":
            total = total + rng.normal(0, sigma, len(basis))
        estimates = maps.T @ total
        reach = np.linalg.norm(maps, axis=0)[active.ravel()].max()
        factors = Factors(maps=maps[None], reach=np.array([reach]), scale=np.array([scale]))
        noise = sigma * (math.sqrt(epoch.length) if plan.model == "local" else 1.0)
        half_width = domain.half_width.of(factors, np.array([noise]))[0]
        values = np.where(active, estimates.reshape(active.shape), -np.inf)
        active = active & (values >= values.max(axis=1, keepdims=True) - 4 * half_width)
        kept.scales.append(scale)
        kept.estimates.append(estimates)
        kept.active.append(active.copy())
    return kept
