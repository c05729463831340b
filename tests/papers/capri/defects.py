"""The defects themselves: mechanisms and steps of a plan that are wrong in one place each.

A defect is a function `plant(plan)` that returns the plan with one part replaced and a wrapper of its users;
the product has no switch for any of them. `tests/papers/capri/twins.py` says who notices which.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from algorithms._growth import Epoch
from algorithms.capri.design import Design, Factors, draw_design, factorise
from algorithms.capri.elimination import survivors
from algorithms.capri.plan import Plan
from algorithms.capri.users import Played, Users, clipped_sums
from dpaudit import Mechanism, Recorder, Streams
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian
from tests.narrowing import as_a


def own_users(users: Users) -> Users:
    return users


def steps(
    **changed: Callable[[Plan], Any],
) -> Callable[..., tuple[Any, Callable[..., Any]]]:
    """A twin that replaces fields of the plan; each is given as a function of the plan."""
    return lambda plan: (replace(plan, **{name: make(plan) for name, make in changed.items()}), own_users)


def scaled_mechanism(factor: Callable[[Plan], float]) -> Callable[..., tuple[Any, Callable[..., Any]]]:
    """A twin that runs `factor` times the declared noise."""

    def plant(plan: Plan) -> tuple[Plan, Callable[..., Any]]:
        mechanism = as_a(Gaussian, plan.mechanism).scaled(factor(plan))
        return replace(plan, mechanism=mechanism, stddev=mechanism.stddev), own_users

    return plant


def rescaled(change: Callable[..., Any]) -> Callable[..., Callable[..., Factors]]:
    """A twin of the bound alone: `change(factors, features, design, active, ridge)` returns the scale."""

    def broken(features: Array, design: Design, active: Array, ridge: float) -> Factors:
        factors = factorise(features, design, active, ridge)
        return replace(factors, scale=change(factors, features, design, active, ridge))

    return lambda _plan: broken


# --- mechanisms --------------------------------------------------------------------------------------------


class ScalarNoise(Gaussian):
    """One normal number times the vector of ones."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return value + self.stddev * rng.standard_normal((*value.shape[:-1], 1))


class NoNoise(Gaussian):
    """Nothing is added: the server would do it later."""

    def release(self, value: Array, _rng: np.random.Generator) -> Array:
        return np.array(value)


class OneSidedNoise(Gaussian):
    """The absolute value of normal noise."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return value + self.stddev * np.abs(rng.standard_normal(value.shape))


class HalfPrecisionNoise(Gaussian):
    """Noise rounded to 16 bits before it is added."""

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        noise = (self.stddev * rng.standard_normal(value.shape)).astype(np.float16)
        return value + noise.astype(np.float64)


def other_noise(
    kind: type[ScalarNoise] | type[OneSidedNoise] | type[NoNoise] | type[HalfPrecisionNoise],
) -> Callable[..., tuple[Any, Callable[..., Any]]]:
    def plant(plan: Plan) -> tuple[Plan, Callable[..., Any]]:
        honest = as_a(Gaussian, plan.mechanism)
        mechanism = kind(stddev=honest.stddev, l2_sensitivity=honest.l2_sensitivity, neighbours=honest.neighbours)
        return replace(plan, mechanism=mechanism), own_users

    return plant


def reused_noise(plan: Plan) -> tuple[Plan, Callable[..., Any]]:
    """The honest mechanism, fed in every epoch the randomness of the first."""
    box: dict[str, int] = {}

    def release(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, _users: int) -> Array:
        box.setdefault("seed", int(recorder.rng.integers(2**32)))
        frozen = Recorder(np.random.default_rng(box["seed"]), recorder.released)
        return frozen.release(label, mechanism, value)

    return replace(plan, release=release), own_users


def fixed_seed(plan: Plan) -> tuple[Plan, Callable[..., Any]]:
    """Every run draws its noise from the same seed, as a process that seeds itself would."""

    def release(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, _users: int) -> Array:
        seeded = Recorder(np.random.default_rng(7), recorder.released)
        return value + seeded.release(label, mechanism, np.zeros((1, value.shape[1])))

    return replace(plan, release=release), own_users


# --- steps -------------------------------------------------------------------------------------------------


def unclipped(played: Played, _bound: float) -> Array:
    return clipped_sums(played, math.inf)


def watched(change: Callable[..., Any]) -> Callable[..., tuple[Any, type[Any]]]:
    """A twin whose public steps secretly see the epoch's users: `change(plan, box)` returns the broken plan."""

    def plant(plan: Plan) -> tuple[Any, type[Any]]:
        box: dict[str, Any] = {}

        class Watched:
            def __init__(self, users: Users) -> None:
                self.users = users

            def play(self, epoch: Epoch, active: Array, streams: Streams) -> Played:
                played = self.users.play(epoch, active, streams)
                box["epoch"] = epoch.number
                box["counts"] = played.counts.reshape(len(active), -1)
                return played

        return change(plan, box), Watched

    return plant


def carried_over(plan: Plan, box: dict[str, Any]) -> Plan:
    def collect(played: Played, bound: float) -> Array:
        before = box["sums"] if box["epoch"] > 1 else 0.0
        box["sums"] = before + clipped_sums(played, bound)
        sums: Array = box["sums"]
        return sums

    return replace(plan, collect=collect)


def data_covariance(plan: Plan, box: dict[str, Any]) -> Plan:
    def broken(features: Array, design: Design, active: Array, ridge: float) -> Factors:
        honest = factorise(features, design, active, ridge)
        data = factorise(features, Design(covariance=box["counts"], basis=design.basis), active, ridge)
        return Factors(maps=data.maps, reach=data.reach, scale=honest.scale)

    return replace(plan, factorise=broken)


def data_covariance_throughout(plan: Plan, box: dict[str, Any]) -> Plan:
    def broken(features: Array, design: Design, active: Array, ridge: float) -> Factors:
        return factorise(features, Design(covariance=box["counts"], basis=design.basis), active, ridge)

    return replace(plan, factorise=broken)


def users_as_basis(plan: Plan, box: dict[str, Any]) -> Plan:
    def draw(law: Any, size: int, rng: np.random.Generator) -> Design:
        return Design(covariance=draw_design(law, size, rng).covariance, basis=box["counts"])

    return replace(plan, draw=draw)


def exact_elimination(plan: Plan) -> tuple[Plan, Callable[..., Any]]:
    box: dict[str, Any] = {}

    def remember(features: Array, design: Design, active: Array, ridge: float) -> Factors:
        box["factors"] = factors = factorise(features, design, active, ridge)
        return factors

    def release(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
        box["value"] = value
        return plan.release(recorder, label, mechanism, value, users)

    def eliminate(_estimates: Array, active: Array, half_width: Array) -> Array:
        factors: Factors = box["factors"]
        return survivors(factors.scale[:, None] * factors.estimates(box["value"]), active, half_width)

    return replace(plan, factorise=remember, release=release, eliminate=eliminate), own_users


def eager_users(plan: Plan) -> tuple[Plan, type[Any]]:
    """Later users of an epoch copy the best action seen so far in it."""

    class Eager:
        def __init__(self, users: Users) -> None:
            self.users = users

        def play(self, epoch: Epoch, active: Array, streams: Streams) -> Played:
            played = self.users.play(epoch, active, streams)
            action = 0 if max(reward for reward, _ in played.groups) > 0 else 1
            moved = ((reward, _all_on(action, counts) if reward == 0 else counts) for reward, counts in played.groups)
            return replace(played, groups=tuple(moved))

    return plan, Eager


def _all_on(action: int, counts: Array) -> Array:
    moved = np.zeros_like(counts)
    moved[:, :, action] = counts.sum(axis=2)
    return moved


def gram_inverse(features: Array, design: Design, active: Array, ridge: float) -> Factors:
    """M^(-1) k_S in place of M^(-1/2) k_S, with the honest bound; S as a set, zeros elsewhere."""
    honest = factorise(features, design, active, ridge)
    kernel = features @ features.T
    present = (design.basis > 0).astype(float)
    k_s = present[:, :, None] * kernel
    m = (k_s * design.covariance[:, None, :]) @ np.swapaxes(k_s, 1, 2)
    m = m + ridge * k_s * present[:, None, :]
    maps = np.linalg.pinv(m, rcond=1e-10, hermitian=True) @ k_s
    reach = np.sqrt(np.where(active, (maps**2).sum(axis=1), 0).max(axis=1))
    return Factors(maps=maps, reach=reach, scale=honest.scale)


def log_ten_multiplier(plan: Plan) -> float:
    horizon = plan.epochs[-1].stop
    slots, natural = math.log10(horizon), math.log(horizon)
    wrong = slots * math.sqrt(math.log(1.25 * slots / 1e-5))
    return wrong / (natural * math.sqrt(math.log(1.25 * natural / 1e-5)))


def symmetric_root(features: Array, design: Design, active: Array, ridge: float) -> Factors:
    """A^(-1/2) P F with the symmetric root, the projector by pseudo-inverse."""
    present = (design.basis > 0)[:, :, None] * features
    projector = np.linalg.pinv(present) @ present
    covariance = (features.T * design.covariance[:, None, :]) @ features
    values, vectors = np.linalg.eigh(projector @ covariance @ projector + ridge * np.eye(features.shape[1]))
    root = (vectors / np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return replace(factorise(features, design, active, ridge), maps=root @ projector @ features.T)


def unique_basis(law: Any, size: int, rng: np.random.Generator) -> Design:
    drawn = draw_design(law, size, rng)
    return replace(drawn, basis=np.minimum(drawn.basis, 1))


def large_basis(law: Any, size: int, rng: np.random.Generator) -> Design:
    return Design(covariance=rng.multinomial(size, law), basis=rng.multinomial(2 * size, law))
