"""Refutations show one pair: what was refuted without one, what still is, and what a certificate says of it."""

import json
import math
from dataclasses import replace

import pytest

import dpaudit as dp
from dpaudit.accounting import accountant
from dpaudit.accounting.accountant import Question
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.engines import Precision
from dpaudit.model.bracket import Bracket
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition_kinds import ConditionKind
from dpaudit.model.declaration import Declaration
from dpaudit.model.witness import Witness
from dpaudit.verifier import verify
from mechanisms import Exponential, Finite, Gaussian, Laplace, PermuteAndFlip, TreeAggregation

REPLACED = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
CHECKED = dp.Condition(kind="attained", text="A replay saw one pair move all releases by as much.", status="checked")


def gaussian(
    label: str = "sums", stddev: float = 4.0, sensitivity: float = 1.0, neighbours: Neighbours = "replace_one"
) -> dp.Release:
    return dp.Release(label=label, mechanism=Gaussian(stddev=stddev, l2_sensitivity=sensitivity, neighbours=neighbours))


def tree(signs: tuple[int, ...] = (1,)) -> dp.Release:
    leaf = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    return dp.Release(label="stream", mechanism=TreeAggregation(horizon=4, leaf=leaf, signs=signs))


PARTS = dp.Parallel(parts=(gaussian("a"), gaussian("b")), key="the day of arrival")
SHUFFLED = dp.Parallel(
    parts=(gaussian("a", 2.0, 2.0), gaussian("b", 2.0, 2.0)), key="a shuffled order", visibility="secret"
)
GRAM = dp.Sequential(parts=(gaussian("gram", 8.0, math.sqrt(2)), gaussian("target", 8.0, 2.0)))
TRUE_CLAIMS: dict[str, tuple[Declaration, float]] = {
    "a group over a tree": (dp.Group(part=tree(), size=2), 3.35),
    "a group over messages": (dp.Group(part=dp.Local(part=gaussian()), size=2), 1.7),
    "a group over parts": (dp.Group(part=PARTS, size=2), 1.7),
    "a shuffled order": (dp.Repeat(part=SHUFFLED, times=1), 3.0),
    "two queries and two pairs": (GRAM, 1.018),
}
"""Claims that hold: of two leaves, two messages, two parts, a mixture, and a Gram matrix with its target."""


@pytest.mark.parametrize("name", TRUE_CLAIMS)
def test_a_true_claim_is_not_refuted_where_no_pair_breaks_it(name: str) -> None:
    """Neither at the bound that was wrong before nor far below it; the verifier agrees."""
    declared, epsilon = TRUE_CLAIMS[name]
    certificate = dp.certify(declared, replace(REPLACED, epsilon=epsilon))
    assert certificate.verdict == "not_proved"
    assert verify(certificate.to_json()).complaints == ()


def test_the_same_tree_fact_written_as_signs_is_certified() -> None:
    """Two leaves of one sign: epsilon 3.3414 at sd 4 is the tree's own exact loss, below the group's 3.7086."""
    certificate = dp.certify(tree(signs=(1, 1)), replace(REPLACED, epsilon=3.35))
    assert certificate.verdict in ("certified", "refuted")
    assert certificate.tight.epsilon.upper - certificate.tight.epsilon.lower < 1e-6


def test_what_one_pair_would_break_is_said_to_rest_on_an_assumption() -> None:
    """The reason names the assumption, a condition lists it, and the witness says that it is assumed."""
    certificate = dp.certify(GRAM, replace(REPLACED, epsilon=1.018))
    assert any(reason.startswith("The claim is false if one pair attains") for reason in certificate.reasons)
    assert Witness(labels=(), attained="assumed") in certificate.witnesses
    assert ("attained", "assumed") in {(held.kind, held.status) for held in certificate.conditions}
    assert certificate.tight.epsilon.lower < 1.018


def test_a_checked_common_pair_refutes_and_an_assumed_one_does_not() -> None:
    """The same declaration and claim, with what a replay has seen."""
    claim = replace(REPLACED, epsilon=1.018)
    found = dp.certify(GRAM, claim, conditions=(CHECKED,))
    assert (found.verdict, {witness.attained for witness in found.witnesses}) == ("refuted", {"checked"})
    assert verify(found.to_json()).accepted
    for other in (
        replace(CHECKED, status="assumed"),
        replace(CHECKED, about=("gram",)),
        replace(CHECKED, status="violated"),
    ):
        certificate = dp.certify(GRAM, claim, conditions=(other,))
        assert certificate.verdict == "not_proved"
        assert verify(certificate.to_json()).accepted


def test_a_pair_that_is_said_to_be_checked_says_what_was_looked_at() -> None:
    """The sentence of the assumption is refused; other words are the run's own, and a note says so."""
    claim = replace(REPLACED, epsilon=1.018)
    notes = verify(dp.certify(GRAM, claim, conditions=(CHECKED,)).to_json()).notes
    assert "Taken from the certificate: that a run saw one pair move all releases at once." in notes
    bare = dp.Condition(kind="attained", status="checked")
    (complaint,) = verify(dp.certify(GRAM, claim, conditions=(bare,)).to_json()).complaints
    assert complaint == "a pair is said to have been checked, and not what was looked at"


TRUE_REFUTATIONS: dict[str, Declaration] = {
    "one release": gaussian(stddev=3.0),
    "one query often": dp.Repeat(part=gaussian(stddev=10.0), times=100),
    "one query with two noises": dp.Sequential(parts=(gaussian(stddev=4.0), gaussian(stddev=5.0))),
    "one of two parts": dp.Parallel(parts=(gaussian("a", 3.0), gaussian("b", 9.0)), key="the day of arrival"),
    "one of two queries": dp.Sequential(parts=(gaussian("a", 3.0), gaussian("b", 90.0))),
}


@pytest.mark.parametrize("name", TRUE_REFUTATIONS)
def test_one_query_refutes_by_definition(name: str) -> None:
    """Its witness names one release and the part that the record enters; the verifier recomputes it."""
    certificate = dp.certify(dp.Billboard(part=TRUE_REFUTATIONS[name]), replace(REPLACED, model="joint"))
    assert certificate.verdict == "refuted"
    assert {(len(witness.labels), witness.attained) for witness in certificate.witnesses} == {(1, "by_definition")}
    assert f"Some pair moves '{certificate.witnesses[0].labels[0]}'" in certificate.reasons[0]
    assert verify(certificate.to_json()).accepted
    assert dp.Certificate.from_json(certificate.to_json()) == certificate


def test_releases_of_one_label_with_other_sensitivities_are_not_one_query() -> None:
    """A label alone does not make two queries one: the stated sensitivities must agree."""
    both = dp.Sequential(parts=(gaussian("sums", 6.0, 1.0), gaussian("sums", 8.0, 1.5)))
    assert dp.certify(both, replace(REPLACED, epsilon=0.9)).verdict == "not_proved"


def test_a_witness_of_several_queries_by_definition_cannot_exist() -> None:
    with pytest.raises(ValueError, match="by definition"):
        Witness(labels=("a", "b"), attained="by_definition")


@pytest.mark.parametrize("kind", ["sensitivity", "fresh_noise", "floating_point"])
def test_a_violated_condition_leaves_no_upper_bound(kind: ConditionKind) -> None:
    """Neither in the certificate nor in what it answers later; the verifier derives the same."""
    broken = dp.Condition(kind=kind, status="violated")
    certificate = dp.certify(gaussian(stddev=30.0), REPLACED, conditions=(broken,))
    assert certificate.verdict == "not_proved"
    assert certificate.tight.epsilon.upper == certificate.epsilon_at(1e-3).upper == math.inf
    assert certificate.tight.delta.upper == certificate.delta_at(2.0).upper == 1.0
    assert "at most" not in " ".join(certificate.reasons)
    assert verify(certificate.to_json()).accepted


def test_a_key_or_a_read_that_contradicts_its_own_condition_is_refused() -> None:
    """The record's own value as key, and other users' data beside a billboard."""
    for key in ("the record's own value", "its value", "the value of the record"):
        with pytest.raises(ValueError, match="cells"):
            dp.Parallel(parts=(gaussian(),), key=key)
    for read in ("other users' rewards", "the data of everybody"):
        with pytest.raises(ValueError, match="own data"):
            dp.Billboard(part=gaussian(), reads=(read,))
    with pytest.raises(ValueError, match="visibility"):
        dp.Parallel(parts=(gaussian(),), key="a day", visibility="hidden")  # type: ignore[arg-type]


def test_pure_noise_of_two_queries_adds_up_for_a_common_pair_only() -> None:
    """Two Laplace releases of epsilon 0.6 each: 0.6 by definition, 1.2 for one checked pair."""
    noise = Laplace(scale=1 / 0.6, l1_sensitivity=1.0, neighbours="replace_one")
    both = dp.Sequential(parts=(dp.Release(label="a", mechanism=noise), dp.Release(label="b", mechanism=noise)))
    claim = dp.Claim(epsilon=1.0, neighbours="replace_one")
    assert dp.certify(both, claim).verdict == "not_proved"
    assert dp.certify(both, claim).tight.epsilon.lower == pytest.approx(0.6)
    assert dp.certify(both, claim, conditions=(CHECKED,)).verdict == "refuted"


def test_queries_that_share_a_label_have_one_witness() -> None:
    """A Gaussian release has the largest epsilon and a choice the largest delta; both are labelled "a"."""
    choice = Exponential(epsilon=4.0, linf_sensitivity=1.0, neighbours="replace_one")
    noise = Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="replace_one")
    both = dp.Sequential(parts=(dp.Release(label="a", mechanism=choice), dp.Release(label="a", mechanism=noise)))
    certificate = dp.certify(both, dp.Claim(epsilon=1.5, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert len(certificate.witnesses) == 1
    assert verify(certificate.to_json()).accepted


def test_a_witness_that_stands_twice_is_refused() -> None:
    data = dp.certify(gaussian(), replace(REPLACED, epsilon=2.0)).to_dict()
    assert verify(json.dumps(data)).accepted
    data["witnesses"] *= 2
    assert verify(json.dumps(data | {"digest": digest_of(data)})).complaints == ("a witness stands twice",)


def test_laws_of_which_doubles_keep_next_to_nothing_in_common_are_followed_twice() -> None:
    """All but 2^-60 of each law lies where the other one has nothing, which is all in doubles."""
    nearly = Finite(first=(2.0**60, 1.0, 0.0), second=(0.0, 1.0, 2.0**60), neighbours="replace_one")
    twice = dp.Repeat(part=dp.Release(label="a", mechanism=nearly), times=2)
    certificate = dp.certify(twice, dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert verify(certificate.to_json()).accepted


FLIP = PermuteAndFlip(scale=5.1, linf_sensitivity=1.0, neighbours="add_remove")
DRAWN = Exponential(epsilon=1.3, linf_sensitivity=1.0, neighbours="add_remove", utilities="monotone")
OF_TWO_CHOICES = dp.Parallel(
    parts=(dp.Release(label="flip", mechanism=FLIP), dp.Release(label="drawn", mechanism=DRAWN)), key="the region"
)
"""A permute-and-flip of .392, and an exponential mechanism of range .65, whose own pair shows .325 alone."""


def witnessed(epsilon: float) -> tuple[dp.Certificate, tuple[str, ...]]:
    """Return the certificate of one of both choices, and what the checker finds against it."""
    found = dp.certify(OF_TWO_CHOICES, dp.Claim(epsilon=epsilon, delta=1e-5, neighbours="add_remove"))
    return found, verify(found.to_json()).complaints


@pytest.mark.parametrize(("epsilon", "verdict"), [(0.5, "refuted"), (0.86, "certified")])
def test_the_witness_is_the_choice_whose_best_pair_attains_the_end(epsilon: float, verdict: str) -> None:
    found, complaints = witnessed(epsilon)
    assert found.verdict == verdict
    assert found.witnesses[0].labels == ("drawn",)
    assert complaints == ()


def test_a_witness_by_one_pair_of_each_choice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin compares one pair of each choice, as if no query might choose its own."""
    bracket = accountant._attained

    def by_one_pair(alternatives: Alternatives, precision: Precision, question: Question) -> Bracket:
        choose = len(alternatives) > 1
        return (bracket if choose else accountant._worst)(alternatives, precision, question)

    monkeypatch.setattr(accountant, "_attained", by_one_pair)
    found, complaints = witnessed(0.5)
    assert found.witnesses[0].labels == ("flip",)
    assert complaints
