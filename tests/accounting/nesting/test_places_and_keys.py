"""Verdicts where nodes are nested that single nodes cannot show: exchanged records, changing keys, groups, messages."""

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.views import delivered_model
from dpaudit.errors import UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Allocate
from dpaudit.model.losses import DiscreteLoss
from dpaudit.verifier import verify
from mechanisms import Finite, Gaussian, Laplace
from tests.accounting.amplification.named_pairs import NAMED


def table(label: str, first: tuple[float, ...], second: tuple[float, ...], neighbours: Neighbours) -> dp.Release:
    """Return a release of a table of two laws, given as weights."""
    return dp.Release(label=label, mechanism=Finite(first=first, second=second, neighbours=neighbours))


def surely_right(tree: dp.Declaration, epsilon: float, truth: float) -> Bracket:
    """Return the bracket of delta, which lies around the truth and which the independent checker accepts.

    The truth is counted out over all pairs of data sets of two records, all outputs and all choices by outputs.
    """
    certificate = dp.certify(tree, dp.Claim(epsilon=epsilon, delta=0.9 * truth, neighbours="add_remove"))
    assert certificate.verdict != "certified"
    assert verify(certificate.to_json()).accepted
    assert certificate.tight.delta.lower <= truth * (1 + 1e-9)
    assert certificate.tight.delta.upper >= truth * (1 - 1e-9)
    return certificate.tight.delta


def cut_sample(part: dp.Declaration, rate: float) -> dp.Subsample:
    """Return a part on a Poisson sample of two records that is cut to one."""
    return dp.Subsample(part=part, rate=rate, scheme="truncated_poisson", population=2, batch_bound=1)


def test_a_record_that_takes_a_place_in_a_cut_sample_counts_in_its_own_part() -> None:
    """A cut Poisson sample is stated for a record against none: both parts count, also where outputs pick the part."""
    one = table("a", (30.0, 1.0), (1.0, 30.0), "add_remove")
    other = table("b", (20.0, 1.0), (1.0, 31.0), "add_remove")
    once = cut_sample(dp.Parallel(parts=(one, one), key="the region"), 0.95)
    twice = cut_sample(dp.Repeat(part=dp.Parallel(parts=(one, other), key="the region"), times=2), 0.95)
    assert surely_right(once, 3.0, 0.41648198182954244).upper < 0.9
    assert surely_right(twice, 7.5, 0.33659816885228444).upper > 0.3  # one move alone: nothing above 6.9


@pytest.mark.parametrize(("epochs", "per_epoch", "truth"), [(2, 1, 0.54675), (1, 2, 0.65)])
def test_secret_steps_may_meet_different_parts(epochs: int, per_epoch: int, truth: float) -> None:
    """What a record meets at one place need not be what it meets at the next: a response, and then a leak.

    Each part all along loses 0.51 at most.
    """
    answer = table("answer", (3.0, 1.0), (1.0, 3.0), "add_remove")
    leak = table("leak", (3.0, 0.0, 7.0), (0.0, 3.0, 7.0), "add_remove")
    tree = Allocate(part=dp.Parallel(parts=(answer, leak), key="the day"), steps=2, epochs=epochs, per_epoch=per_epoch)
    surely_right(tree, 0.0, truth)
    with pytest.raises(UnsupportedError, match="'allocate' over 'parallel' under replace: no rule"):
        dp.fold(tree, "replace_one")


@dataclass(frozen=True)
class Sided:
    """A supplier's mechanism whose first law lacks an output that the second one has."""

    name: ClassVar[str] = "sided"
    neighbours: Neighbours = "add_remove"

    def loss(self) -> DiscreteLoss:
        """Return a loss of one order."""
        other = math.log(0.8 / (0.9 - 0.2 * math.e))
        return DiscreteLoss(atoms=((-1.0, 0.2), (other, 0.8)), reverse_infinite_mass=0.1, one_order=True)

    def release(self, value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return nothing new."""
        return value

    def log_density(self, output: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return nothing new."""
        return np.asarray(output - value)

    def scaled(self, factor: float) -> "Sided":
        """Return the same."""
        return self


def test_a_group_over_parts_of_two_kinds_counts_both_orders() -> None:
    """What only the second law can show is lost, too: its delta grows with the group, and no part is taken as pure."""
    laplace = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    parts = dp.Release(label="sided", mechanism=Sided()), dp.Release(label="laplace", mechanism=laplace)
    tree = dp.Group(part=dp.Parallel(parts=parts, key="the day"), size=2)
    certificate = dp.certify(tree, dp.Claim(epsilon=2.5, delta=0.15, neighbours="add_remove"))
    assert certificate.verdict == "not_proved"
    assert certificate.tight.delta.upper >= 1 - 0.9**2  # both records in the first part
    assert verify(certificate.to_json()).accepted


def test_a_group_over_a_part_without_a_largest_loss_is_still_refused() -> None:
    """A normal noise beside another kind has no black box."""
    laplace = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    normal = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    parts = dp.Release(label="normal", mechanism=normal), dp.Release(label="laplace", mechanism=laplace)
    with pytest.raises(UnsupportedError, match="no largest loss"):
        dp.fold(dp.Group(part=dp.Parallel(parts=parts, key="the day"), size=2), "add_remove")


def twice(keys: tuple[str, str]) -> dp.Sequential:
    """Return two rounds of parallel parts: the first asks a query thrice of one part, the second of the other."""
    noise = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    once = dp.Release(label="count", mechanism=noise)
    often = dp.Repeat(part=once, times=3)
    return dp.Sequential(
        parts=(dp.Parallel(parts=(often, once), key=keys[0]), dp.Parallel(parts=(once, often), key=keys[1]))
    )


def test_one_key_has_one_value() -> None:
    """A person's region is the same in both rounds, so that four releases are met; of another key nothing is known."""
    same, other = (dp.fold(twice(keys), "replace_one").lower for keys in (("region", "region"), ("region", "season")))
    assert [held.events for held in same] == [4]
    assert [held.events for held in other] == [3]


def test_a_witness_that_gives_one_key_two_values_is_rejected() -> None:
    """The broken twin: an assumption about six releases, whose witness is in both regions at once."""
    claim = dp.Claim(epsilon=1.45, delta=1e-3, neighbours="replace_one")
    assumed = dp.certify(twice(("region", "season")), claim)
    assert assumed.witnesses[-1].attained == "assumed"
    assert verify(assumed.to_json()).accepted
    forged = json.loads(assumed.to_json())
    forged["declaration"]["parts"][1]["key"] = "region"
    forged.pop("digest")
    complaints = verify(json.dumps(forged)).complaints
    assert complaints
    assert dp.certify(twice(("region", "region")), claim).verdict == "not_proved"


def test_a_sample_of_messages_protects_no_local_view() -> None:
    """Whoever gets each user's own message sees who sends one: nothing is amplified in the local view."""
    table = Finite(first=(3.0, 1.0), second=(1.0, 3.0), neighbours="add_remove")
    tree = dp.Subsample(part=dp.Local(part=dp.Release(label="vote", mechanism=table)), rate=0.5)
    assert delivered_model(tree) == "central"
    certificate = dp.certify(tree, dp.Claim(epsilon=1.0, delta=0.6, neighbours="replace_one", model="local"))
    assert certificate.verdict == "not_proved"
    assert verify(certificate.to_json()).accepted


def test_a_leak_at_a_secret_step_beside_noise_is_a_leak() -> None:
    """A release that shows everything leaves nothing to compose, on either side and in either order."""
    shown = dp.Release(label="all", mechanism=Finite(first=(1.0, 0.0), second=(0.0, 1.0), neighbours="add_remove"))
    other = dp.Release(label="some", mechanism=Finite(first=(3.0, 1.0), second=(1.0, 3.0), neighbours="add_remove"))
    tree = Allocate(part=dp.Sequential(parts=(shown, other)), steps=2)
    certificate = dp.certify(tree, dp.Claim(epsilon=1.0, delta=0.5, neighbours="add_remove"), conditions=(NAMED,))
    assert (certificate.tight.delta.lower, certificate.tight.delta.upper) == (1.0, 1.0)
    assert verify(certificate.to_json()).accepted


def test_a_cell_array_in_a_cut_sample_counts_the_record_that_is_put_in_place() -> None:
    """Cells that outputs may alternate with are boxed before they are sampled, with two moves where one is replaced."""
    cell = table("cell", (3.0, 1.0), (1.0, 3.0), "add_remove")
    cells = dp.Repeat(part=dp.Cells(inside=cell, touched=cell), times=2)
    surely_right(cut_sample(cells, 0.9), 1.0, 0.19578108590102253)
