"""Copies of LPLR with one planted defect each, and who notices: the catalogue B1 to B22.

A twin changes the repaired protocol in one place: a mechanism, a step of the device, or what leaves the device; the
product has no switch for any of them. `caught` lists what notices it:

    audit       the message's audit against the leaf's own claim is a violation within `runs` runs a side
    trace       one ordinary run released other noise than declared
    condition   one ordinary run reports a violated side-condition
    accountant  the declaration of what the twin does is refuted
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms.lplr import Lplr
from algorithms.lplr.cases import answers_of, case_of
from algorithms.lplr.device_steps import as_given, printed_residual
from algorithms.lplr.leaves import printed_leaves
from algorithms.lplr.likelihood_ratio import MessageRatio
from algorithms.lplr.message import Bin, Record, sent
from algorithms.lplr.plan import Plan
from algorithms.lplr.stages import Stage, cells_stage, confidence_stage, flip_stage, residual_stage, spread
from dpaudit import AuditCase, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import BallLaplace, Laplace, OneSidedWishart, SymmetrisedWishart
from tests.narrowing import scale_of

CONFIG = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2)
THIRD = 1 / 3


@dataclass(frozen=True)
class Twin:
    """One planted defect: its audit, the claim of the leaf that it breaks, and the runs a side that must do."""

    name: str
    text: str
    caught: tuple[Any, ...]
    case: Callable[[], AuditCase] | None = None
    honest: Callable[[], AuditCase] | None = None
    epsilon: float = THIRD
    runs: int = 20
    plant: Callable[[Plan], Plan] | None = None
    config: Lplr = CONFIG


# --- planting --------------------------------------------------------------------------------------------------------


def with_leaf(label: str, change: Callable[..., Any]) -> Callable[..., Any]:
    """A plan whose mechanism `label` is changed by `change(mechanism)`."""

    def plant(plan: Plan) -> Plan:
        def swap(pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
            return tuple((name, change(held) if name == label else held) for name, held in pairs)

        leaves = replace(plan.leaves, update=swap(plan.leaves.update), confidence=swap(plan.leaves.confidence))
        return replace(plan, leaves=leaves)

    return plant


def printed_leaf(label: str) -> Callable[..., Any]:
    """The printed noise on one leaf."""
    return with_leaf(label, lambda held: printed_leaves(1.0, CONFIG.dimension, held.neighbours).of(label))


def rescaled(label: str, scale: float) -> Callable[..., Any]:
    return with_leaf(label, lambda held: replace(held, scale=scale))


def stage_case(
    stage: Callable[[Plan], Stage], plant: Callable[[Plan], Plan] = lambda plan: plan
) -> Callable[..., AuditCase]:
    """The ordinary case of a stage under a twin's plan."""
    return lambda: case_of(plant(CONFIG.plan()), stage(CONFIG.plan()))


def counts(plan: Plan) -> Stage:
    return cells_stage(plan, "count", ("count",))


def matrices(plan: Plan) -> Stage:
    return cells_stage(plan, "matrix", ("matrix",))


def vectors_in_two_cells(plan: Plan) -> Stage:
    return cells_stage(plan, "vector", ("vector",))


def wide(plan: Plan) -> Stage:
    """A confidence stage whose width so far is 3: noise can bring that about."""
    return confidence_stage(plan, half_width=3.0)


def deep_flip(plan: Plan) -> Stage:
    """A reward flip in the bin of index 2: in the bin of index 0 noise that scales wrongly cannot be told."""
    index = 2
    features = spread(plan, plan.resolution.width(index))
    records = Record(features=features, reward=-1.0), Record(features=features, reward=1.0)
    return replace(flip_stage(plan), bins=(Bin(indices=(index,)),), records=records)


def long_flip(plan: Plan) -> Stage:
    """A reward flip of a record of norm 3."""
    features = spread(plan, 3.0)
    records = Record(features=features, reward=-1.0), Record(features=features, reward=1.0)
    return replace(flip_stage(plan), records=records)


def other_actions(plan: Plan) -> Stage:
    """The same features under action 0 or action 1."""
    features = spread(plan, 1.0)
    records = Record(features=features, reward=1.0), Record(features=features, reward=1.0, action=1)
    bins = tuple(Bin(indices=(0,), action=action) for action in (0, 1))
    return Stage(name="actions", description="One of two actions.", bins=bins, records=records, labels=("count",))


def with_third_cell(plan: Plan) -> Stage:
    """The two-cell stage with an untouched third cell, vectors only."""
    stage = vectors_in_two_cells(plan)
    return replace(stage, bins=(*stage.bins, Bin(indices=(1,))))


def tampered(
    stage: Callable[[Plan], Stage],
    spoil: Callable[..., Any],
    score: Callable[..., Any],
    plant: Callable[[Plan], Plan] = lambda plan: plan,
) -> Callable[..., AuditCase]:
    """A case whose messages go through `spoil(messages, exact, record, rng)` before they are seen."""

    def make() -> AuditCase:
        plan, held = plant(CONFIG.plan()), stage(CONFIG.plan())

        def run(record: Record, rng: np.random.Generator, n_runs: int) -> Any:
            exact = answers_of(plan, held, record)
            return spoil(sent(plan, Recorder(rng), exact, n_runs), exact, record, rng)

        exact = tuple(answers_of(plan, held, record) for record in held.records)
        return AuditCase(
            name="lplr twin",
            view="message",
            description="a planted defect",
            neighbours=held.records,
            relation="replace_one",
            run=run,
            score=lambda view: score(view, *exact),
        )

    return make


def honest_of(stage: Callable[[Plan], Stage], score: Callable[..., Any]) -> Callable[..., AuditCase]:
    """The honest protocol under a twin's own attack."""
    return tampered(stage, lambda messages, *_: messages, score)


# --- defects in what leaves the device -------------------------------------------------------------------------------


def own_cell_only(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[Any, Array]:
    return {name: np.where(exact[name] != 0, held, 0.0) for name, held in messages.items()}


def which_cell_is_zero(view: dict[str, Array], *_: Any) -> Any:
    held = view["count"][..., 0]
    return (held[:, 0] == 0).astype(float) - (held[:, 1] == 0)


def other_actions_missing(
    messages: dict[str, Array], _exact: dict[str, Array], record: Record, _rng: np.random.Generator
) -> dict[str, Any]:
    held = np.full_like(messages["count"], np.nan)
    held[:, record.action] = messages["count"][:, record.action]
    return {"count": held}


def which_cell_is_missing(view: dict[str, Array], *_: Any) -> Array:
    return np.isnan(view["count"][:, 0, 0]).astype(float) - np.isnan(view["count"][:, 1, 0])


def noise_by_own_index(
    messages: dict[str, Array], exact: dict[str, Array], record: Record, rng: np.random.Generator
) -> dict[str, Any]:
    """Real units: every cell gets noise for the user's own bin."""
    width = float(np.linalg.norm(record.features))
    scale = scale_of(CONFIG.plan().leaves.of("vector")) * width
    return {"vector": exact["vector"] * width + rng.laplace(0, scale, messages["vector"].shape)}


def size_of_the_untouched_cell(view: dict[str, Array], *_: Any) -> Any:
    plan = CONFIG.plan()
    wide_scale = scale_of(plan.leaves.of("vector"))
    narrow = wide_scale * plan.resolution.width(2)
    size = np.abs(view["vector"][:, 2]).sum(axis=1)
    return 2 * np.log(wide_scale / narrow) - size * (1 / narrow - 1 / wide_scale)


def exact_lower_triangle(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[str, Any]:
    held = messages["matrix"].copy()
    held[..., 1, 0] = exact["matrix"][..., 1, 0]
    return {"matrix": held}


def lower_triangle_is_the_second(view: dict[str, Array], first: Any, second: Any) -> Any:
    lower = view["matrix"][..., 1, 0]
    return (lower == second["matrix"][..., 1, 0]).all(axis=1) * 1.0 - (lower == first["matrix"][..., 1, 0]).all(axis=1)


def same_wishart_twice(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[str, Array]:
    return {"matrix": np.broadcast_to(exact["matrix"], messages["matrix"].shape).copy()}


def output_is_the_second(view: dict[str, Array], first: Any, second: Any) -> Any:
    held = view["matrix"]
    return (held == second["matrix"]).all(axis=(1, 2, 3)) * 1.0 - (held == first["matrix"]).all(axis=(1, 2, 3))


def one_degree_of_freedom(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, rng: np.random.Generator
) -> dict[str, Any]:
    """x x^T - y y^T: of rank two and never of one sign."""
    scale = scale_of(CONFIG.plan().leaves.of("matrix"))
    x, y = (np.sqrt(scale) * rng.standard_normal((*messages["matrix"].shape[:-1], 1)) for _ in range(2))
    return {"matrix": exact["matrix"] + x @ np.swapaxes(x, -1, -2) - y @ np.swapaxes(y, -1, -2)}


def sign_is_impossible(view: dict[str, Array], first: Any, second: Any) -> Any:
    """Noise of one sign is impossible under the twin, so whoever would need it was not there."""

    def one_sign(answer: Array) -> Any:
        return (np.linalg.det(view["matrix"] - answer["matrix"]) > 1e-9).any(axis=1)

    return one_sign(first) * 1.0 - one_sign(second)


def seeded_with_a_constant(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[str, Array]:
    known = constant_noise(messages["vector"].shape[1:])
    return {"vector": np.broadcast_to(exact["vector"] + known, messages["vector"].shape).copy()}


def constant_noise(shape: tuple[Any, ...]) -> Array:
    return np.random.default_rng(7).laplace(0, scale_of(CONFIG.plan().leaves.of("vector")), shape)


def known_noise_removed(view: dict[str, Array], first: Any, second: Any) -> Any:
    bare = view["vector"] - constant_noise(view["vector"].shape[1:])
    distance = [np.abs(bare - answer["vector"]).sum(axis=(1, 2)) < 1e-9 for answer in (first, second)]
    return distance[1] * 1.0 - distance[0]


def with_bin_index(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[Any, Any]:
    return {**messages, "index": np.full(len(messages["count"]), int(exact["count"][:, 0].argmax()))}


def sent_index(view: dict[str, Array], *_: Any) -> Array:
    return np.asarray(view.get("index", np.full(len(view["count"]), 0.5)), dtype=float)


def rounded_noise(
    messages: dict[str, Array], exact: dict[str, Array], _record: Record, _rng: np.random.Generator
) -> dict[str, Any]:
    noise = np.round((messages["vector"] - exact["vector"]) / 0.01) * 0.01
    return {"vector": exact["vector"] + noise}


def grid_residue(view: dict[str, Array], first: Any, second: Any) -> Any:
    def on_grid(answer: Array) -> Any:
        steps = (view["vector"] - answer["vector"]) / 0.01
        return (np.abs(steps - np.round(steps)) < 1e-6).all(axis=(1, 2))

    return on_grid(second) * 1.0 - on_grid(first)


# --- the remaining defects -------------------------------------------------------------------------------------------

SYMMETRISED = replace(CONFIG, epsilon=4.0)
"""B10 is about a leaf that the product does not have, so it brings its own claim, at epsilon 4."""


def symmetrised_laplace(halved: bool) -> Callable[..., AuditCase]:
    """Off-diagonals 1/2 or -1/2 under Laplace noise of scale 9 / epsilon; twice drawn and averaged where `halved`."""
    scale = 3 * (SYMMETRISED.dimension + 1) / SYMMETRISED.epsilon

    def run(value: Array, rng: np.random.Generator, n_runs: int) -> Any:
        noise = rng.laplace(0, scale, (2, n_runs))
        return value + (noise.mean(axis=0) if halved else noise[0])

    def log_density(x: Array) -> Array:
        size = np.abs(x)
        return np.log1p(2 * size / scale) - 2 * size / scale if halved else -size / scale

    return lambda: AuditCase(
        name="lplr off-diagonal",
        view="message",
        description="One off-diagonal entry of the matrix.",
        neighbours=(-0.5, 0.5),
        relation="replace_one",
        run=run,
        score=lambda x: log_density(x - 0.5) - log_density(x + 0.5),
    )


def two_messages(independent: bool) -> Callable[..., AuditCase]:
    """One user's confidence message on two layers; an honest user sends one, and noise alone the other time."""

    def make() -> AuditCase:
        plan = CONFIG.plan()
        held = confidence_stage(plan)
        answers = [answers_of(plan, held, record) for record in held.records]

        def run(record: Record, rng: np.random.Generator, n_runs: int) -> Array:
            again = answers_of(plan, held, record)
            second = {"width": np.zeros_like(again["width"])} if independent else again
            views = [sent(plan, Recorder(rng), exact, n_runs)["width"] for exact in (again, second)]
            return np.stack(views, axis=1)

        ratio = MessageRatio(leaves=(("width", plan.leaves.of("width")),), first=answers[0], second=answers[1])

        def score(view: Array) -> Array:
            parts = [ratio({"width": view[:, place]}) for place in range(1 if independent else 2)]
            total: Array = np.sum(parts, axis=0)
            return total

        return AuditCase(
            name="lplr two messages",
            view="message",
            description="Both messages of one user.",
            neighbours=held.records,
            relation="replace_one",
            run=run,
            score=score,
        )

    return make


def exact_activity(noisy: bool) -> Callable[..., AuditCase]:
    """Whether a bin is active, decided by its true count, or by the noisy one."""
    plan, users = CONFIG.plan(), 1_000
    threshold = plan.quantile * plan.scale("count") / np.sqrt(users)
    borderline = float(np.floor(threshold * users))

    def run(own: Any, rng: np.random.Generator, n_runs: int) -> Any:
        count = np.full(n_runs, borderline + own)
        if noisy:
            scale = scale_of(plan.leaves.of("count"))
            count = count + scale * (rng.standard_gamma(users, n_runs) - rng.standard_gamma(users, n_runs))
        return (count / users > threshold).astype(float)

    return lambda: AuditCase(
        name="lplr activity",
        view="public",
        description="Whether a bin with a borderline count is active.",
        neighbours=(0.0, 1.0),
        relation="replace_one",
        run=run,
        score=lambda view: view - 0.5,
    )


def _one_sided(held: Any) -> OneSidedWishart:
    return OneSidedWishart(dimension=held.dimension, scale=4.5, trace_sensitivity=1.0, neighbours=held.neighbours)


def _singular(held: Any) -> SymmetrisedWishart:
    return SymmetrisedWishart(
        dimension=held.dimension,
        scale=held.scale**0.5,
        nuclear_sensitivity=held.nuclear_sensitivity,
        neighbours=held.neighbours,
    )


def planted(
    name: str,
    text: str,
    plant: Callable[[Plan], Plan],
    stage: Callable[[Plan], Stage],
    caught: tuple[str, ...] = ("audit", "trace"),
    **more: Any,
) -> Twin:
    """A twin of a plan, audited by the ordinary case of a stage."""
    return Twin(name, text, caught, case=stage_case(stage, plant), honest=stage_case(stage), plant=plant, **more)


def spoilt(
    name: str,
    text: str,
    stage: Callable[[Plan], Stage],
    spoil: Callable[..., dict[str, Any]],
    score: Callable[..., Any],
    **more: Any,
) -> Twin:
    """A twin of what leaves the device."""
    return Twin(name, text, ("audit",), case=tampered(stage, spoil, score), honest=honest_of(stage, score), **more)


def device(**changed: Callable[..., Array] | float) -> Callable[..., Any]:
    return lambda plan: replace(plan, **changed)


TWINS = (
    planted("B1", "one-sided Wishart noise", with_leaf("matrix", _one_sided), matrices, runs=169, epsilon=1.0),
    planted("B2 counts", "printed scale of counts", printed_leaf("count"), counts, runs=721),
    planted("B2 vectors", "printed scale of vectors", printed_leaf("vector"), flip_stage, runs=721),
    planted("B2 widths", "printed scale of widths", printed_leaf("width"), confidence_stage, runs=205, epsilon=1.0),
    planted("B3", "epsilon not split in three", rescaled("count", 2.0), counts, runs=249),
    planted("B4", "vectors without the root of d", rescaled("vector", 6.0), flip_stage, runs=3_400),
    planted(
        "B5",
        "residuals neither clipped nor divided by 2",
        device(residual=printed_residual, deep_bound=1.0),
        residual_stage,
        caught=("audit", "condition"),
        runs=400,
    ),
    planted(
        "B5 exact",
        "the same after an exact first slope, in two cells",
        device(residual=printed_residual, deep_bound=1.0),
        lambda plan: residual_stage(plan, slope=1.0),
        caught=("audit", "condition"),
        runs=3_300,
    ),
    spoilt("B6", "noise on the user's own cell only", counts, own_cell_only, which_cell_is_zero),
    spoilt("B7", "nothing sent for other actions", other_actions, other_actions_missing, which_cell_is_missing),
    spoilt(
        "B8", "noise by the user's own index", with_third_cell, noise_by_own_index, size_of_the_untouched_cell, runs=100
    ),
    spoilt("B9", "lower triangle left exact", matrices, exact_lower_triangle, lower_triangle_is_the_second),
    Twin(
        "B10",
        "a full Laplace matrix averaged with its transpose",
        ("audit",),
        case=symmetrised_laplace(halved=True),
        honest=symmetrised_laplace(halved=False),
        epsilon=4 / 9,
        runs=20_000,
    ),
    spoilt("B11", "the same Wishart matrix added and taken away", matrices, same_wishart_twice, output_is_the_second),
    spoilt("B12", "one degree of freedom", matrices, one_degree_of_freedom, sign_is_impossible, runs=200),
    planted("B13 root", "the root of the scale", rescaled("count", 6**0.5), counts, runs=350),
    planted("B13 variance", "precision for scale", rescaled("width", 0.5), confidence_stage, runs=60, epsilon=1.0),
    planted("B13 Wishart", "the root of the Wishart scale", with_leaf("matrix", _singular), matrices, runs=20_000),
    planted(
        "B14",
        "vector noise too small by the width of the bin",
        rescaled("vector", 6 * 2**0.5 * CONFIG.plan().resolution.width(2)),
        deep_flip,
        runs=100,
    ),
    Twin(
        "B15",
        "the same users on two layers",
        ("audit", "accountant"),
        case=two_messages(independent=False),
        honest=two_messages(independent=True),
        epsilon=1.0,
        runs=1_000,
    ),
    planted(
        "B16",
        "widths not clamped",
        device(clamp=as_given),
        wide,
        caught=("audit",),
        runs=93,
        epsilon=1.0,
    ),
    Twin(
        "B17",
        "activity by the true count",
        ("audit",),
        case=exact_activity(noisy=False),
        honest=exact_activity(noisy=True),
        epsilon=1.0,
    ),
    planted(
        "B18",
        "features of norm 3 accepted",
        device(normalise=as_given),
        long_flip,
        caught=("audit", "condition"),
        runs=249,
    ),
    spoilt("B19", "a constant seed", vectors_in_two_cells, seeded_with_a_constant, known_noise_removed),
    spoilt("B20", "the index of the bin is sent along", counts, with_bin_index, sent_index),
    spoilt("B21", "noise rounded before it is added", vectors_in_two_cells, rounded_noise, grid_residue),
    Twin("B22", "the largest leaf reported for their sum", ("accountant",)),
)
"""Every broken twin. `runs` are those that the closed forms ask for; the audits get twice as many a side."""

__all__ = ["CONFIG", "THIRD", "TWINS", "BallLaplace", "Laplace", "Twin"]
