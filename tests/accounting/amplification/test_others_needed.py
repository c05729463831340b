"""Lower sides of samples that need records beside the one that moves: not taken for granted, and refuting where named.

A count adds 0 or 1 for each record, so that no record is the opposite of another one. Its truth is enumerated.
"""

from itertools import product

import numpy as np
import pytest

from algorithms.dp_sgd.algorithm import DpSgd
from dpaudit import Allocate, Claim, Condition, Release, Repeat, Subsample, bracket_delta, certify, fold, verify
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from mechanisms import DiscreteLaplace, Finite, Gaussian
from tests.accounting.amplification.named_pairs import NAMED
from tests.accounting.laws import Law, delta_of

REACH = 60
OUTPUTS = np.arange(-REACH, REACH + 1)
NOISE = DiscreteLaplace(scale=1.5, l1_sensitivity=1, neighbours="add_remove")
RATE = 0.3


def drawn(chances: list[float]) -> Law:
    """The law of a noisy count of independent zeros and ones, each with its chance of being counted."""
    held = np.ones(1)
    for chance in chances:
        held = np.convolve(held, [1 - chance, chance])
    densities = [np.exp(NOISE.log_density(OUTPUTS, np.asarray(count))) for count in range(len(held))]
    return np.asarray(sum(p * density for p, density in zip(held, densities, strict=True)), np.float64)


def truth(times: int, epsilon: float) -> float:
    """The largest delta of a sampled count, over all neighbouring data sets of up to four bits, one replaced."""
    largest = 0.0
    for records in range(1, 5):
        for others in product((0, 1), repeat=records - 1):
            laws = [drawn([RATE * bit for bit in (first, *others)]) for first in (0, 1)]
            whole = [law if times == 1 else np.outer(law, law).ravel() for law in laws]
            largest = max(largest, delta_of(whole[0], whole[1], epsilon))
    return largest


def count(times: int) -> Declaration:
    """A count on Poisson samples, as its author declares it."""
    return Repeat(part=Subsample(part=Release(label="count", mechanism=NOISE), rate=RATE), times=times)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_a_true_claim_on_a_count_is_not_refuted(times: int, epsilon: float) -> None:
    """The claim holds with a fiftieth to spare. A named opposite record, the broken twin, would refute it."""
    told = round(truth(times, epsilon) * 1.02, 6)
    claim = Claim(epsilon=epsilon, delta=told, neighbours="replace_one")
    certificate = certify(count(times), claim)
    assert certificate.verdict == "not_proved"
    assert certificate.tight.delta.lower <= told
    assert "as far the other way" in " ".join(certificate.reasons)
    assert certificate.witnesses[-1].attained == "assumed"
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    assert certify(count(times), claim, conditions=(NAMED,)).verdict == "refuted"


def normal(neighbours: Neighbours = "add_remove") -> Release:
    """A noisy sum."""
    return Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours=neighbours))


PARTS: dict[str, tuple[Declaration, Neighbours]] = {
    "poisson": (Subsample(part=normal(), rate=0.4), "replace_one"),
    "secret steps": (Allocate(part=normal(), steps=3), "replace_one"),
    "a cut sample": (
        Subsample(part=normal(), rate=0.4, scheme="truncated_poisson", population=20, batch_bound=9),
        "add_remove",
    ),
    "zeroed in a set": (Subsample(part=normal("zero_out"), rate=0.4, scheme="without_replacement"), "zero_out"),
    "zeroed on a Poisson sample": (Subsample(part=normal("zero_out"), rate=0.4), "zero_out"),
    "a table": (
        Subsample(
            part=Release(
                label="code", mechanism=Finite(first=(0.75, 0.25), second=(0.25, 0.75), neighbours="add_remove")
            ),
            rate=0.4,
        ),
        "replace_one",
    ),
}


@pytest.mark.parametrize("case", PARTS)
def test_every_scheme_that_needs_others_says_so(case: str) -> None:
    """Less is attained without a named pair, and the checker agrees on both; an edited ground is not accepted."""
    tree, neighbours = PARTS[case]
    alone, named = (bracket_delta(fold(tree, neighbours, held), 0.2).lower for held in ((), (NAMED,)))
    assert alone < named * 0.99
    assert (alone > 0) == (case == "zeroed in a set")
    claim = Claim(epsilon=0.2, delta=round((alone + named) / 2, 6), neighbours=neighbours)
    open_claim, refuted = (certify(tree, claim, conditions=held, effort="quick") for held in ((), (NAMED,)))
    assert (open_claim.verdict, refuted.verdict) == ("not_proved", "refuted")
    for certificate in (open_claim, refuted):
        assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    assert not verify(refuted.to_json().replace('"attained": "checked"', '"attained": "by_definition"')).accepted


@pytest.mark.parametrize(
    ("neighbours", "scheme"), [("add_remove", "poisson"), ("replace_one", "set"), ("add_remove", "set")]
)
def test_a_record_beside_nothing_or_beside_copies_is_by_definition(neighbours: Neighbours, scheme: str) -> None:
    """These pairs need no record that the stated sensitivity does not name: they refute, as they did."""
    inside: Neighbours = neighbours if scheme == "poisson" else "replace_one"
    name = "poisson" if scheme == "poisson" else "without_replacement"
    sizes = {} if scheme == "poisson" else {"population": 10, "batch_size": 4}
    tree = Subsample(part=normal(inside), rate=0.4, scheme=name, **sizes)  # type: ignore[arg-type]  # two literals
    certificate = certify(tree, Claim(epsilon=0.2, delta=1e-4, neighbours=neighbours))
    assert certificate.verdict == "refuted"
    assert certificate.witnesses[0].attained == "by_definition"


@pytest.mark.parametrize("sampling", ["poisson", "allocation"])
def test_clipped_gradients_have_opposite_ones_and_still_refute(sampling: str) -> None:
    """DP-SGD names its pair, by the clipping of its own code; a claim of half its epsilon is false."""
    config = DpSgd(
        epsilon=0.05,
        delta=1e-5,
        noise_multiplier=2.0,
        sample_rate=0.1,
        steps=20,
        neighbours="replace_one",
        sampling=sampling,
    )
    certificate = certify(config.declaration(), config.claim(), conditions=config.conditions())
    assert certificate.verdict == "refuted"
    assert [witness.attained for witness in certificate.witnesses] == ["checked"]
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    denied = Condition(kind="attained", text="No such pair was found.", status="violated")
    assert certify(config.declaration(), config.claim(), conditions=(denied,)).verdict == "not_proved"
