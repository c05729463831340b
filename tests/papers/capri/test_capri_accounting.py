"""The noise, the declaration and the certificate arithmetic of CAPRI, against printed and independent values."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms._conditions import FRESH
from algorithms.capri import Capri
from algorithms.capri.settings import completed, epochs_of
from dpaudit import Billboard, Local, Parallel, Release, bracket_delta, bracket_epsilon, fold
from dpaudit.accounting.views import delivered_model
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import walk
from tests.narrowing import l2_sensitivity_of


def capri(**changed: Any) -> Capri:
    return Capri(**{"model": "joint", "epsilon": 1.0, "delta": 1e-5, "horizon": 1000, **changed})


@settings(deadline=None)
@given(
    epsilon=st.floats(0.05, 20),
    delta=st.floats(1e-9, 0.1),
    horizon=st.integers(4, 10**7),
    calibration=st.sampled_from(["paper", "analytic_seq", "analytic_parallel", "tight"]),
    model=st.sampled_from(["joint", "local"]),
)
def test_every_calibration_meets_its_claim(
    epsilon: float, delta: float, horizon: int, calibration: str, model: str
) -> None:
    """Certified for any epsilon, also where the printed proof stops at epsilon = ln(horizon); tight to 1e-8."""
    config = capri(epsilon=epsilon, delta=delta, horizon=horizon, calibration=calibration, model=model)
    form = fold(config.declaration(), "replace_one")
    assert bracket_delta(form, epsilon).upper <= delta
    if calibration in ("tight", "analytic_parallel"):
        assert bracket_delta(form, epsilon * (1 - 1e-7)).lower > delta
    assert delivered_model(config.declaration()) == model == config.claim().model


def test_calibrations_are_ordered_from_loose_to_tight() -> None:
    """Each step of the printed argument costs noise: 4B for 2 sqrt(2) B, slots for epochs, composition for none."""
    names = ("paper", "classic_epoch", "analytic_seq", "analytic_parallel")
    found = [capri(horizon=10**4, calibration=name).plan().noise_multiplier for name in names]
    assert found == sorted(found, reverse=True)
    assert found[0] / found[1] == pytest.approx(math.sqrt(2))
    assert found[2] / found[3] == pytest.approx(math.sqrt(6))
    assert found[0] / found[3] == pytest.approx(18.4, abs=0.06)
    classic = capri(epsilon=0.5, calibration="classic_parallel").plan().noise_multiplier
    assert classic == pytest.approx(math.sqrt(2 * math.log(1.25e5)) / 0.5)
    assert capri(calibration="tight").plan() == capri(calibration="analytic_parallel").plan()


@pytest.mark.parametrize(("calibration", "epsilon"), [("classic_parallel", 1.0), ("classic_epoch", math.log(1000))])
def test_classic_formulas_stop_where_their_theorem_stops(calibration: str, epsilon: float) -> None:
    """At epsilon = 1 a release the classic Gaussian theorem says nothing; the config is refused."""
    with pytest.raises(ValueError, match=r"below 1 a release only\. Use calibration='tight'"):
        capri(calibration=calibration, epsilon=epsilon)
    assert capri(calibration=calibration, epsilon=epsilon * 0.999).epsilon < epsilon


def test_the_declaration_carries_the_printed_argument_only_where_the_printed_noise_runs() -> None:
    """Leaves: classic Gaussian at a share 1 / ln T; their node: basic composition over ln T slots."""
    slots = math.log(1000)
    for model, wrapper in (("joint", Billboard), ("local", Local)):
        tree = capri(model=model, calibration="paper").declaration()
        nodes = [node for _, node in walk(tree)]
        assert isinstance(tree, wrapper)
        leaves = [node for node in nodes if isinstance(node, Release)]
        assert {leaf.printed.rule for leaf in leaves} == {"classic_gaussian"}
        assert {leaf.printed.epsilon for leaf in leaves} == {1 / slots}
        assert {leaf.printed.delta for leaf in leaves} == {1e-5 / slots}
        (parallel,) = (node for node in nodes if isinstance(node, Parallel))
        assert (parallel.printed.rule, parallel.printed.slots, parallel.printed.epsilon) == ("basic", slots, 1.0)
        tight = capri(model=model, calibration="tight").declaration()
        assert {node.printed for _, node in walk(tight)} == {None}


def test_all_releases_share_one_mechanism_and_labels_are_unique() -> None:
    """The object that is declared is one Gaussian of sensitivity 2 reward_bound, whatever the epoch."""
    for model in ("joint", "local"):
        config = capri(model=model, reward_bound=3.0)
        leaves = [node for _, node in walk(config.declaration()) if isinstance(node, Release)]
        assert {leaf.mechanism for leaf in leaves} == {config.plan().mechanism}
        assert l2_sensitivity_of(leaves[0].mechanism) == 6.0
        assert len({leaf.label for leaf in leaves}) == len(leaves) == (5 if model == "joint" else 6)


def test_a_run_leaves_the_general_conditions_assumed() -> None:
    """What a run sees has texts of its own: replays on neighbours decide the conditions of the declaration."""
    from algorithms.capri import checks

    declared = set(conditions_of(capri().declaration()))
    looked = {*checks.EVERY_EPOCH, FRESH}
    assert looked & declared == set()


@pytest.mark.parametrize(
    ("horizon", "lengths"),
    [
        (10**3, [32, 64, 128, 256, 512, 8]),
        (10**4, [100, 200, 400, 800, 1600, 3200, 3700]),
        (4, [2, 2]),
        (6, [3, 3]),
        (10**5, [317, 634, 1268, 2536, 5072, 10144, 20288, 40576, 19165]),
    ],
)
def test_epochs_double_and_the_last_is_cut(horizon: int, lengths: list[int]) -> None:
    """ceil(sqrt(T)), then twice as long each time; the last one ends at the horizon."""
    epochs = epochs_of(horizon)
    assert [epoch.length for epoch in epochs] == lengths
    assert [epoch.complete for epoch in epochs[:-1]] == [True] * (len(epochs) - 1)


def test_natural_logarithms_leave_room_for_all_epochs_and_decimal_ones_do_not() -> None:
    """Completed epochs never exceed ln T for 3 <= T < 20,000, while log10 T is exceeded."""
    assert all(completed(t) <= math.log(t) for t in range(3, 20_000))
    assert completed(10**3) > math.log10(10**3)


def test_an_epoch_that_ends_at_the_horizon_is_complete() -> None:
    """32 (2^5 - 1) = 992 rounds make five full epochs when ceil(sqrt) is 32."""
    assert [epoch.complete for epoch in epochs_of(992)] == [True] * 5


def test_groups_pay_for_records_in_one_epoch() -> None:
    """Two and four records of one person: epsilon 2.155 and 4.746 at the tight noise for 1."""
    from dpaudit import Group

    for size, expected in ((1, 1.0), (2, 2.155), (4, 4.746)):
        form = fold(Group(part=capri().declaration(), size=size), "replace_one")
        assert bracket_epsilon(form, 1e-5).upper == pytest.approx(expected, abs=6e-4)


def test_a_smoothness_without_a_closed_form_is_refused() -> None:
    """The Matern kernel has one at three numbers."""
    with pytest.raises(ValueError, match=r"smoothness=1.0 to be one of: 0.5, 1.5, 2.5"):
        capri(smoothness=1.0)
