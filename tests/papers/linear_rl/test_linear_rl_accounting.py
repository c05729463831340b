"""Noise, declarations and printed arguments of UCRL-VTR and LSVI-UCB, against printed and independent values."""

# ruff: noqa: N806  # the paper's letters

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms._linear_rl.calibration import exact_mu, nodes_printed
from algorithms._linear_rl.l1_moves import l1_moves
from algorithms._linear_rl.values import value_ranges
from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb.noise import noises_of, schedule_of, tree_horizon
from algorithms.lsvi_ucb.printed_scales import batch_scales, noise_scales
from algorithms.ucrl_vtr import UcrlVtr
from algorithms.ucrl_vtr import printed_scales as printed
from algorithms.ucrl_vtr.noise import levels, noisy_regressions
from dpaudit import Condition, Release, Repeat, bracket_delta, bracket_epsilon, certify, fold
from dpaudit.accounting.views import delivered_model
from dpaudit.model.declaration import Declaration, children, walk, with_children
from dpaudit.model.losses import GaussianLoss
from dpaudit.printed.argument import conclude
from mechanisms import Gaussian, JointGaussian
from tests.narrowing import as_a, matrix_stddev_of, scale_of, stddev_of

TOGETHER = (Condition(kind="attained", status="checked"),)
"""One pair of neighbours moves all releases by their whole sensitivities at once."""


SCALES = """
1e3 5 5  1  1e-5 11 10 0.268051 36.7405 502523  5.92566e7 46223.7 1251.29 1.58855e7 2693.39 3.02819e6 10477.8 395.693
1e4 2 2 0.5 1e-3 15 14 0.216914 10.841  64264.9 8.72105e6 17729.7 146.367 2.25998e6 271.336 950728    5861.17 39.1182
"""
"""K, H, d, epsilon, delta, nodes, levels, mu and Hoeffding's term; of the joint model the printed deviation, the shift,
the radius, the tight deviation and the shift of vectors; of the local one the first four."""


def rows(table: str) -> list[tuple[Any, ...]]:
    lines = table.strip().splitlines()
    return [tuple(cell if cell.isalpha() else float(cell) for cell in line.split()) for line in lines]


def ucrl(**changed: Any) -> UcrlVtr:
    known: dict[str, Any] = {
        "model": "joint",
        "epsilon": 1.0,
        "delta": 1e-5,
        "episodes": 1000,
        "steps": 5,
        "dimension": 5,
    }
    return UcrlVtr(**{**known, **changed})


def lsvi(**changed: Any) -> LsviUcb:
    known: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "episodes": 10_000, "steps": 5, "dimension": 5}
    return LsviUcb(**{**known, **changed})


def epsilon_of(mu: float, delta: float) -> float:
    leaf = Release(label="all", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one"))
    return bracket_epsilon(fold(leaf, "replace_one"), delta).upper


@pytest.mark.parametrize("row", rows(SCALES), ids=["five steps", "two steps"])
def test_the_scales_of_algorithm_1_have_their_golden_values(row: tuple[float, ...]) -> None:
    """Six digits each, in both models."""
    K, H, d = (int(size) for size in row[:3])
    config = ucrl(episodes=K, steps=H, dimension=d, epsilon=row[3], delta=row[4])
    tail = math.log(6 * K * H / 0.05)
    hoeffding = printed.hoeffding_term(episodes=K, steps=H, d=d, fail_prob=0.05)
    found: list[float] = [nodes_printed(K), levels(config), exact_mu(config.epsilon, config.delta), hoeffding]
    for model, nodes in (("joint", nodes_printed(K)), ("local", K)):
        paper, tight = (
            noisy_regressions(replace(config, model=model, calibration=calibration))[0].noises[0][1]
            for calibration in ("paper", "tight")
        )
        deviation = printed.matrix_deviation(stddev_of(paper), nodes, d, tail)
        radius = printed.printed_radius(1.0, H**2, deviation) + hoeffding
        found += [stddev_of(paper), deviation, radius, matrix_stddev_of(tight)]
        if model == "joint":
            found.append(printed.vector_deviation(stddev_of(paper), nodes, d, tail))
    assert found == pytest.approx(list(row[5:]), rel=6e-6)


def test_the_scales_of_algorithm_3_have_their_golden_values() -> None:
    """K = 1000, H = d = 5, epsilon 1, delta 1e-5: deviations, shifts, radii at the last episode."""
    config = ucrl(bonus="bernstein", calibration="paper")
    first, second = noisy_regressions(config)[:2]
    stddevs = [stddev_of(held.noises[0][1]) for held in (first, second)]
    tail = math.log(24 * 1000 * 5 / 0.05)
    shifts = [printed.matrix_deviation(stddev, 11, 5, tail) for stddev in stddevs]
    terms = printed.bernstein_terms(episode=1000, episodes=1000, steps=5, d=5, fail_prob=0.05)
    radii = [printed.printed_radius(1.0, 1.0, shifts[0]) + term for term in terms[:2]]
    local = stddev_of(noisy_regressions(replace(config, model="local"))[0].noises[0][1])
    golden = [214951, 2.68689e7, 2.73233e7, 3.41541e9, 32044.8, 31774.7, 1102.79]
    assert [*stddevs, *shifts, *radii, local] == pytest.approx(golden, rel=3e-6)
    units = printed.noise_units(joint=True, bernstein=True, epsilon=1, delta=1e-5, episodes=10_000, steps=5)
    stated = 2 / units * math.sqrt(4 * 5 * 15)
    assert units == pytest.approx(5.061e4, rel=1e-4)
    assert stated == pytest.approx(6.8e-4, rel=0.01)
    assert epsilon_of(stated, 1e-5) == pytest.approx(0.0012, abs=6e-5)
    assert exact_mu(1, 1e-5) / stated == pytest.approx(392, abs=0.6)


def test_the_tight_noise_of_algorithm_3_halves_the_budget_between_its_regressions() -> None:
    """d sqrt(9 (H - 1) m) / mu* and H^4 sqrt(9 (H - 1) m) / mu*."""
    for model, m in (("joint", 10), ("local", 1)):
        first, second = noisy_regressions(ucrl(model=model, bonus="bernstein"))[:2]
        unit = math.sqrt(9 * 4 * m) / exact_mu(1, 1e-5)
        assert matrix_stddev_of(first.noises[0][1]) == pytest.approx(5 * unit, rel=1e-7)
        assert as_a(JointGaussian, second.noises[0][1]).vector_stddev == pytest.approx(625 * unit, rel=1e-7)


@pytest.mark.parametrize(
    ("shape", "budget", "golden", "tight"),
    [
        (
            {"episodes": 10_000, "steps": 5, "dimension": 5},
            {"epsilon": 1, "delta": 1e-5},
            (11, 5, 910, 11, 4, 900364, 2.01328e6, 1.80788e8, 9.03939e8, 2.12092e7, 33.8818, 2.73339e8),
            (33.3678, 447.676),
        ),
        (
            {"episodes": 1000, "steps": 2, "dimension": 2},
            {"epsilon": 0.5, "delta": 1e-3},
            (7, 4, 143, 7, 3, 397182, 397182, 4.83507e7, 9.67015e7, 3.43479e6, None, None),
            (22.5849, None),
        ),
    ],
)
def test_the_scales_of_algorithm_2_have_their_golden_values(
    shape: dict[str, Any], budget: dict[str, float], golden: tuple[float | None, ...], tight: tuple[float | None, ...]
) -> None:
    """Batches, nodes, deviations, shifts, radius; and the tight deviations."""
    config = lsvi(calibration="paper", **shape, **budget)
    schedule = schedule_of(config)
    K, H, d, B = shape["episodes"], shape["steps"], shape["dimension"], schedule.planned
    matrix, vector = noise_scales(budget["epsilon"], budget["delta"], B=B, steps=H)
    scales = batch_scales(matrix, vector, B=B, episodes=K, steps=H, d=d, fail_prob=0.05)
    found: list[float] = [B, nodes_printed(B), schedule.length, schedule.batches, tree_horizon(config).bit_length()]
    found += [matrix, vector, scales.deviation, scales.extra, scales.vector, scales.log_chi, scales.radius]
    for value, expected in zip(found, golden, strict=True):
        assert expected is None or value == pytest.approx(expected, rel=3e-6)
    noise = noises_of(lsvi(**shape, **budget))[0]
    assert stddev_of(noise.matrix) == pytest.approx(tight[0], rel=3e-6)
    assert tight[1] is None or stddev_of(noise.vector) == pytest.approx(tight[1], rel=3e-6)


def with_rule(node: Declaration, old: str, new: str) -> Declaration:
    """The same argument with the rule `new` wherever it has `old`."""
    changed = with_children(node, tuple(with_rule(child, old, new) for child in children(node)))
    if changed.printed is not None and changed.printed.rule == old:
        return replace(changed, printed=replace(changed.printed, rule=new))
    return changed


def by_theorem(node: Declaration) -> Declaration:
    """The same argument with advanced composition itself where the paper uses its shorthand."""
    return with_rule(node, "advanced_short", "advanced")


def test_the_printed_chains_replay_to_their_stated_totals() -> None:
    """Step by step with the theorem for the shorthand, Corollary 5 ends at 0.25 and Theorem 8 at 0.046 of the claim.

    Corollaries 5 and 6 meet Appendix F.3 to the digit; the theorem with ln(1.25 / delta) ends below the claim.
    """
    for model in ("joint", "local"):
        declared = ucrl(calibration="paper", model=model).declaration()
        assert conclude(declared, "replace_one").epsilon == pytest.approx(1, rel=1e-12)
        assert conclude(with_rule(declared, "classic_gaussian_2", "classic_gaussian"), "replace_one").epsilon < 0.99
    assert conclude(by_theorem(ucrl(calibration="paper").declaration()), "replace_one").epsilon == pytest.approx(
        0.25, abs=0.005
    )
    assert conclude(by_theorem(lsvi(calibration="paper").declaration()), "replace_one").epsilon == pytest.approx(
        0.046, abs=5e-4
    )
    bernstein = ucrl(calibration="paper", bonus="bernstein").declaration()
    assert conclude(by_theorem(bernstein), "replace_one").epsilon == pytest.approx(0.25, abs=0.005)


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(ucrl(model="joint", calibration="paper"), id="joint"),
        pytest.param(ucrl(model="local", calibration="paper"), id="local"),
        pytest.param(lsvi(calibration="paper"), id="batched"),
    ],
)
def test_every_printed_argument_holds_as_written_at_one_and_its_claim_beyond(config: UcrlVtr | LsviUcb) -> None:
    """At epsilon 1 each step follows by its rule. At 8 the shorthand of advanced composition is out of its range."""
    certificate = certify(config.declaration(), config.claim())
    assert (certificate.verdict, certificate.printed.valid) == ("certified", True)
    assert certificate.printed.epsilon == pytest.approx(1.0)
    beyond = replace(config, epsilon=8.0)
    certificate = certify(beyond.declaration(), beyond.claim())
    assert certificate.verdict == "certified"
    assert certificate.printed.valid == (config.model == "local")


SHARED: dict[str, Any] = {
    "delta": st.floats(1e-9, 0.1),
    "dimension": st.integers(1, 12),
    "clipping": st.sampled_from(["horizon", "range_aware"]),
}
CONFIGURATIONS = st.one_of(
    st.builds(
        UcrlVtr,
        epsilon=st.floats(0.05, 20),
        episodes=st.integers(1, 10**6),
        steps=st.integers(2, 8),
        model=st.sampled_from(["joint", "local"]),
        bonus=st.sampled_from(["hoeffding", "bernstein"]),
        symmetry=st.sampled_from(["half", "mirror", "sqrt2"]),
        **SHARED,
    ),
    st.builds(
        LsviUcb,
        epsilon=st.floats(0.5, 20),
        episodes=st.integers(2, 10**6),
        steps=st.integers(1, 8),
        schedule=st.sampled_from(["static", "switching"]),
        least_batches=st.just(2),
        **SHARED,
    ),
)


@settings(deadline=None)
@given(CONFIGURATIONS)
def test_the_tight_noise_meets_its_claim_exactly(config: UcrlVtr | LsviUcb) -> None:
    """Certified; and, if one pair attains all, no claim that is smaller by 1e-7: any epsilon, model and schedule."""
    form = fold(config.declaration(), "replace_one", TOGETHER)
    assert bracket_delta(form, config.epsilon).upper <= config.delta
    assert bracket_delta(form, config.epsilon * (1 - 1e-7)).lower > config.delta
    assert delivered_model(config.declaration()) == config.model


def test_range_aware_clipping_needs_less_noise() -> None:
    """Bounds H - h in place of H: sqrt(sum j^4 / ((H - 1) H^4)) of the deviation, about 1/sqrt(5) for large H."""
    for steps in (2, 5, 20):
        wide, narrow = (
            matrix_stddev_of(noisy_regressions(ucrl(steps=steps, clipping=clipping))[0].noises[0][1])
            for clipping in ("horizon", "range_aware")
        )
        expected = math.sqrt(sum(j**4 for j in range(1, steps)) / ((steps - 1) * steps**4))
        assert narrow / wide == pytest.approx(expected, rel=1e-6)
    assert value_ranges(3, "horizon") == (3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("model", "bonus", "d"),
    [
        ("local", "hoeffding", 9),
        ("local", "bernstein", 4),
        pytest.param("joint", "hoeffding", 4, marks=pytest.mark.slow),
    ],
)
def test_the_pure_remarks_are_refuted_and_their_repair_is_certified(model: str, bonus: str, d: int) -> None:
    """Euclidean sensitivities under Laplace noise cost up to d / sqrt(2) and sqrt(d) times the claim."""
    config = ucrl(model=model, bonus=bonus, dimension=d, delta=0.0, calibration="pure_paper")
    certificate = certify(config.declaration(), config.claim(), conditions=config.conditions())
    assert (certificate.verdict, certificate.printed.valid) == ("refuted", False)
    repaired = replace(config, calibration="pure_repaired")
    certificate = certify(repaired.declaration(), repaired.claim())
    assert (certificate.verdict, certificate.printed.valid) == ("certified", True)
    for bad, good in zip(noisy_regressions(config), noisy_regressions(repaired), strict=True):
        scale = scale_of(bad.noises[0][1])
        assert scale_of(good.noises[0][1]) == pytest.approx(scale * d / math.sqrt(2))
        assert scale_of(good.noises[1][1]) == pytest.approx(scale * math.sqrt(d))


def test_the_pure_remark_on_algorithm_2_is_refuted_and_its_repair_certified() -> None:
    """The same for batches, in dimension 10."""
    for name, verdict in (("pure_paper", "refuted"), ("pure_repaired", "certified")):
        config = lsvi(dimension=10, delta=0.0, calibration=name)
        assert certify(config.declaration(), config.claim(), conditions=config.conditions()).verdict == verdict


def test_l1_moves_are_attained_and_the_matrix_move_is_the_largest_there_is() -> None:
    """For d = 2, 3, 4 against every sign matrix: the largest eigenvalue spread is the largest l1 distance."""
    for d in (2, 3, 4):
        upper = np.triu_indices(d)
        best = 0.0
        for signs in product((1.0, -1.0), repeat=len(upper[0])):
            matrix = np.zeros((d, d))
            matrix[upper] = signs
            spectrum = np.linalg.eigvalsh(matrix + np.triu(matrix, 1).T)
            best = max(best, spectrum[-1] - spectrum[0])
        assert l1_moves(d, 1.0, 0.0)[0] == pytest.approx(best, rel=1e-9)
    for d in (1, 2, 5, 10):
        of_matrix, of_vector = l1_moves(d, 1.0, 1.0)
        assert of_matrix <= math.sqrt(2) * d * (1 + 1e-12)
        assert of_vector <= 2 * math.sqrt(d) * (1 + 1e-12)
        assert l1_moves(d, 0.0, 1.0)[1] == pytest.approx(2 * math.sqrt(d))


def test_the_declaration_lists_one_release_for_each_noise_of_the_plan() -> None:
    """Joint: H - 1 trees of floor(log2 K) + 1 nodes, and H - 1 messages locally; all labels differ."""
    for model, bonus, symmetry in product(("joint", "local"), ("hoeffding", "bernstein"), ("half", "mirror")):
        config = ucrl(model=model, bonus=bonus, symmetry=symmetry)
        nodes = [node for _, node in walk(config.declaration())]
        leaves = [node for node in nodes if isinstance(node, Release)]
        expected = 4 * (1 if symmetry == "half" else 2) * (2 if bonus == "bernstein" else 1)
        assert len({leaf.label for leaf in leaves}) == len(leaves) == expected
        assert {node.times for node in nodes if isinstance(node, Repeat)} == ({10} if model == "joint" else set())
        assert all(isinstance(leaf.mechanism.loss(), GaussianLoss) for leaf in leaves)


def test_one_batch_releases_nothing_and_says_so() -> None:
    """(K epsilon)^(2/5) below d^(3/5) H^(1/5): one policy, fixed before any data."""
    config = lsvi(epsilon=0.1, episodes=1000, steps=20, dimension=10)
    assert schedule_of(config).batches == 1
    certificate = certify(config.declaration(), config.claim(), conditions=config.conditions())
    assert (certificate.verdict, certificate.tight.epsilon.upper) == ("stated", 0.0)
    assert schedule_of(replace(config, least_batches=2)).batches == 2
