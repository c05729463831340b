"""Samples of fixed size and secret keys take for granted what no sensitivity states: listed conditions."""

import json
from fractions import Fraction

import pytest

from dpaudit import Claim, Parallel, Release, Stated, Subsample, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.semantics import Table, laws, pairs, value
from mechanisms import Gaussian

READS = Table(laws("0.9 0.1", "0.1 0.9"), {"remove": 1, "replace": 0}, reads_slots=True)
VALUES = Table(READS.laws, READS.bounds)


def sample(scheme: str, neighbours: Neighbours = "replace_one") -> Subsample:
    """A part on one of two records."""
    noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours=neighbours)
    part = Release(label="answers", mechanism=noise)
    return Subsample(part=part, rate=0.5, scheme=scheme, population=2, batch_size=1)  # type: ignore[arg-type]  # two of the schemes


def test_a_query_that_reads_identifiers_moves_where_no_replaced_value_moves_it() -> None:
    """The game of the sample of one out of two, a record removed: .4 with identifiers, nothing of values alone."""
    part = Stated(epsilon=0.0, source="answers")
    tree = Subsample(part=part, rate=0.5, scheme="without_replacement", population=2, batch_size=1)
    pair = list(pairs("remove"))[1]
    assert value(tree, {"answers": READS}, pair) == Fraction(2, 5)
    assert value(tree, {"answers": VALUES}, pair) == 0


@pytest.mark.parametrize(
    ("scheme", "claimed", "about"),
    [
        ("without_replacement", "add_remove", "a sample of fixed size"),
        ("without_replacement", "replace_one", "a sample of fixed size"),
        ("with_replacement", "replace_one", "draws with replacement"),
    ],
)
def test_every_certificate_of_such_a_sample_lists_the_condition(scheme: str, claimed: Neighbours, about: str) -> None:
    """It is assumed, and the checker wants it in its place."""
    data = certify(sample(scheme), Claim(epsilon=2.0, delta=1e-3, neighbours=claimed)).to_dict()
    assert verify(json.dumps(data)).complaints == ()
    kept = [row for row in data["conditions"] if row["kind"] != "no_identifier_read"]
    listed = [(row["about"], row["status"]) for row in data["conditions"] if row not in kept]
    assert listed == [([about], "assumed")]
    forged = {key: held for key, held in data.items() if key != "digest"} | {"conditions": kept}
    assert "read values alone" in verify(json.dumps(forged | {"digest": digest_of(forged)})).complaints[0]


def test_poisson_samples_need_no_such_condition() -> None:
    claim = Claim(epsilon=2.0, delta=1e-3, neighbours="replace_one")
    poisson = Subsample(part=sample("without_replacement", "add_remove").part, rate=0.5)
    assert not any(row.kind == "no_identifier_read" for row in certify(poisson, claim).conditions)


def test_secret_parts_list_that_the_keys_of_others_stay() -> None:
    """The rule averages over one law of the keys; a public key needs no such condition."""
    noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    parts = tuple(Release(label=name, mechanism=noise) for name in ("left", "right"))
    claim = Claim(epsilon=2.0, delta=1e-3, neighbours="add_remove")
    secret, public = (Parallel(parts=parts, key="the arm", visibility=seen) for seen in ("secret", "public"))
    data = certify(secret, claim).to_dict()
    assert verify(json.dumps(data)).complaints == ()
    kept = [row for row in data["conditions"] if row["kind"] != "independent_keys"]
    assert [row["about"] for row in data["conditions"] if row not in kept] == [["the arm"]]
    forged = {key: held for key, held in data.items() if key != "digest"} | {"conditions": kept}
    assert "The secret keys" in verify(json.dumps(forged | {"digest": digest_of(forged)})).complaints[0]
    assert not any(row.kind == "independent_keys" for row in certify(public, claim).conditions)
