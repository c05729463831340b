"""Which local variants of the papers' algorithms can be declared shuffled, and which are refused, by name."""

import pytest

from algorithms.capri import Capri
from algorithms.dp_ebs import DpEbs
from algorithms.lplr import Lplr
from algorithms.ucrl_vtr import UcrlVtr
from dpaudit import Declaration, Local, Parallel, Shuffle, UnsupportedError, bracket_epsilon, fold


def report_of(declaration: Declaration) -> Declaration:
    """Return one user's message."""
    assert isinstance(declaration, Local)
    return declaration.part


def test_votes_of_one_duel_can_be_shuffled() -> None:
    """10,000 binary votes at epsilon 1 and delta 1e-6: .0432062 above, the clones at 2/(p + 1)."""
    vote = report_of(DpEbs(model="local", epsilon=1.0, horizon=1000, arms=3).declaration())
    found = bracket_epsilon(fold(Shuffle(part=vote, users=10_000), "replace_one"), 1e-6)
    assert 0.0432062 - 2e-7 <= found.upper <= 0.0432062 * (1 + 1e-4)
    assert 0.03 < found.lower < found.upper


def test_pure_messages_of_one_value_function_can_be_shuffled() -> None:
    """Laplace noise, repaired: above, the clones of any randomiser (.0530055 at epsilon 1); nothing from below."""
    settings = UcrlVtr(model="local", epsilon=1.0, episodes=1000, steps=3, dimension=2, calibration="pure_repaired")
    message = report_of(settings.declaration())
    alone = bracket_epsilon(fold(message, "replace_one"), 0.0).upper
    found = bracket_epsilon(fold(Shuffle(part=message, users=10_000), "replace_one"), 1e-6)
    assert found.upper < alone / 10
    assert found.lower == 0


def test_messages_with_normal_noise_are_refused() -> None:
    """CAPRI within an epoch, and UCRL-VTR with tight noise."""
    epochs = report_of(Capri(model="local", epsilon=1.0, delta=1e-5, horizon=1000).declaration())
    assert isinstance(epochs, Parallel)
    linear = UcrlVtr(model="local", epsilon=1.0, delta=1e-5, episodes=1000, steps=3, dimension=2, calibration="tight")
    for message in (epochs.parts[0], report_of(linear.declaration())):
        with pytest.raises(UnsupportedError, match="pure epsilon"):
            fold(Shuffle(part=message, users=10_000), "replace_one")


def test_messages_that_depend_on_the_user_are_refused() -> None:
    """All epochs of CAPRI together, and LPLR's two kinds of messages with cells."""
    epochs = report_of(Capri(model="local", epsilon=1.0, delta=1e-5, horizon=1000).declaration())
    linear = Lplr(epsilon=1.0, horizon=4000, dimension=2, actions=3, variant="fixed").declaration()
    for whole in (epochs, linear):
        with pytest.raises(ValueError, match="depend on the user"):
            Shuffle(part=whole, users=10_000)
