"""The planted defects themselves: broken noise, broken clipping, broken rules, as replacements for steps of a plan."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from algorithms.lsvi_ucb.noise import StepNoise
from algorithms.lsvi_ucb.plan import draw_vectors
from algorithms.ucrl_vtr.plan import products
from algorithms.ucrl_vtr.planning import Regressed, solve
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.sums import parts_of, whole
from dpaudit import Recorder
from dpaudit.model.mechanism import Array


def draws(regression: Regression, recorder: Recorder, contribution: Array) -> Array:
    """One node's noise for every part of a contribution, as one array."""
    return whole([m.release(np.zeros_like(v), recorder.rng) for _, m, v in parts_of(regression, contribution)])


@dataclass
class Fenwick:
    """A tree of which `node(k, fresh)` says what noise the node that ends at k gets; `fresh()` draws honest noise."""

    regression: Any
    recorder: Any
    node: Any
    output: Any = None
    length: int = 0
    total: Any = 0.0
    noise: dict[Any, Any] = field(default_factory=lambda: {0: 0.0})

    def step(self, contribution: Array) -> Any:
        self.length += 1
        k = self.length
        self.total = self.total + contribution
        node = self.node(self, k, lambda: draws(self.regression, self.recorder, contribution))
        self.noise[k] = self.noise[k & (k - 1)] + node
        answer = self.total + self.noise[k] if self.output is None else self.output(self, k)
        if k & (k - 1) == 0:
            for (label, mechanism, value), (_, _, out) in zip(
                parts_of(self.regression, self.total + np.zeros_like(answer)),
                parts_of(self.regression, answer),
                strict=True,
            ):
                self.recorder.record(label, mechanism, value, out)
        return answer


def tree(node: Callable[..., Any], output: Callable[..., Any] | None = None) -> Callable[..., Fenwick]:
    """A step `open` whose trees get their noise from `node`."""
    return lambda regression, recorder, horizon: Fenwick(regression, recorder, node, output)


def honest(held: Any, k: int, fresh: Callable[[], Array]) -> Array:
    return fresh()


def leaves_only(held: Any, k: int, fresh: Callable[[], Array]) -> Array:
    """T7: noise on nodes of one episode, none on inner nodes."""
    noise = fresh()
    return noise if k % 2 else np.zeros_like(noise)


def one_draw(held: Any, k: int, fresh: Callable[[], Array]) -> Any:
    """T8: one draw for all nodes."""
    if "first" not in held.noise:
        held.noise["first"] = fresh()
    return held.noise["first"]


def shared_over_steps() -> Callable[..., Fenwick]:
    """T8: every step's tree takes the noise of the first step's."""
    kept = {}

    def node(held: Any, k: int, fresh: Callable[[], Array]) -> Any:
        if (held.regression.name, k) == ("step 1", k):
            kept[k] = fresh()
        return kept[k]

    return tree(node)


def vector_from_matrix(held: Any, k: int, fresh: Callable[[], Array]) -> Array:
    """T8: the vector's noise is the first column of the matrix's."""
    noise = fresh()
    noise[..., -1] = noise[..., 0]
    return noise


def no_diagonal(held: Any, k: int, fresh: Callable[[], Array]) -> Array:
    """T10: the diagonal is left exact."""
    noise = fresh()
    size = noise.shape[-2]
    noise[..., np.arange(size), np.arange(size)] = 0.0
    return noise


def fresh_prefixes(held: Any, k: int) -> Any:
    """T9: independent noise on every prefix, as if it were a node."""
    return held.total + draws(held.regression, held.recorder, held.total)


def late_noise(held: Any, k: int) -> Any:
    """T20: the noise of the prefix before, on the sum up to now."""
    return held.total + held.noise[k - 1]


def clean_shift(held: Any, k: int) -> Any:
    """T14: a shift that restores a least eigenvalue, read off the exact matrix."""
    least = np.linalg.eigvalsh(held.total[..., :-1])[..., 0]
    answer = held.total + held.noise[k]
    size = answer.shape[-2]
    answer[..., np.arange(size), np.arange(size)] += 200.0 * (9.0 - least)[..., None]
    return answer


def vector_scaled(factor: float) -> Callable[..., Any]:
    """T6: the vector's noise is too small."""
    return lambda held: replace(
        held, noises=tuple((label, replace(m, vector_stddev=m.vector_stddev * factor)) for label, m in held.noises)
    )


def matrix_scaled(factor: float) -> Callable[..., Any]:
    """T11: the matrix's noise is too small."""
    return lambda held: replace(
        held, noises=tuple((label, replace(m, matrix_stddev=m.matrix_stddev * factor)) for label, m in held.noises)
    )


def full_budget_each(regressions: tuple[Regression, ...]) -> tuple[Any, ...]:
    """T5: matrix and vector each calibrated as if alone."""

    def alone(held: Any) -> Any:
        ((label, joint),) = held.noises
        unit = joint.matrix_stddev / np.sqrt(4.5)
        changed = replace(joint, matrix_stddev=np.sqrt(2) * unit, vector_stddev=2 * unit)
        return replace(held, noises=((label, changed),))

    return tuple(alone(held) for held in regressions)


def upper_clip(values: Array, top: float) -> Array:
    """T13: clipped from above only, as printed."""
    return np.minimum(values, top)


def unclipped(regressions: tuple[Regression, ...], features: Array, targets: Array) -> Array:
    """T13: features and targets enter as they come."""
    return products(features, targets)


def solve_without_floor(statistics: Array, ridge: float, shifts: Array, floor: float) -> Regressed:
    """T13: no floor under the eigenvalues."""
    return solve(statistics, ridge, shifts, -1e300)


def one_vector_draw(noise: StepNoise, recorder: Recorder, shape: tuple[int, ...], times: int) -> Array:
    """T17: one draw for all releases of a step."""
    first = draw_vectors(noise, recorder, shape, 1)[0]
    for _ in range(times - 1):
        recorder.record(noise.vector_label, noise.vector, np.zeros(shape), first)
    return np.repeat(first[None], times, axis=0)


def scaled_vectors(factor: Callable[[Any], float]) -> Callable[..., Any]:
    """T15: the vectors' noise is too small."""
    return lambda plan: replace(
        plan, noises=tuple(replace(held, vector=held.vector.scaled(factor(plan))) for held in plan.noises)
    )


def exact_rule(noisy: Any, exact: bool) -> bool:
    """T16: the switching rule looks at exact matrices."""
    return exact
