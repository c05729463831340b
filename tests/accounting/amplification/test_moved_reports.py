"""A shuffled report of two queries, of which a witness moves one."""

import math
from itertools import product

import pytest

import dpaudit as dp
from dpaudit.accounting.shuffling import data_sets_beside, shuffled_attained
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, Composition
from dpaudit.verifier import verify
from mechanisms import Finite

REPLACED: Neighbours = "replace_one"
STRONG = (0.8, 0.2), (0.3, 0.7)
WEAK = (0.6, 0.4), (0.5, 0.5)
USERS, AT = 3, 0.1


def asked(laws: tuple[tuple[float, ...], tuple[float, ...]], label: str) -> dp.Release:
    return dp.Release(label=label, mechanism=Finite(first=laws[0], second=laws[1], neighbours=REPLACED))


def both(second: str) -> dp.Shuffle:
    """A report that answers a strong and a weak question."""
    return dp.Shuffle(part=dp.Sequential(parts=(asked(STRONG, "strong"), asked(WEAK, second))), users=USERS)


def shown(moved: tuple[int, int]) -> float:
    """The largest delta of a user whose answers change by `moved`, beside all data sets: by enumeration."""
    outcomes = [*product(range(2), repeat=2)]

    def law(values: list[tuple[int, int]]) -> dict[tuple[int, ...], float]:
        found: dict[tuple[int, ...], float] = {(0, 0, 0, 0): 1.0}
        for one, two in values:
            longer: dict[tuple[int, ...], float] = {}
            for counts, mass in found.items():
                for at, (a, b) in enumerate(outcomes):
                    more = (*counts[:at], counts[at] + 1, *counts[at + 1 :])
                    longer[more] = longer.get(more, 0.0) + mass * STRONG[one][a] * WEAK[two][b]
            found = longer
        return found

    def delta(others: tuple[tuple[int, int], ...], before: tuple[int, int]) -> float:
        after = before[0] ^ moved[0], before[1] ^ moved[1]
        p, q = law([*others, before]), law([*others, after])
        return sum(max(0.0, mass - math.exp(AT) * q[key]) for key, mass in p.items())

    values = [(a, b) for a in (0, 1) for b in (0, 1)]
    return max(delta(others, before) for others in product(values, repeat=USERS - 1) for before in values)


@pytest.mark.parametrize("moved", [(1, 0), (0, 1)])
def test_a_query_shows_no_more_than_reports_that_it_alone_moves(moved: tuple[int, int]) -> None:
    """The broken twin moves both questions, and shows more than the weak one alone can."""
    node = both("weak")
    report = Composition.of(ApproximateLoss(epsilon=2.0))

    def most(which: tuple[bool, bool]) -> float:
        found = [shuffled_attained(node, report, which=which, beside=n) for n in range(len(data_sets_beside(node)))]
        return max(one.parts[0][0].hockey_stick(AT) for one in found)

    assert 0.5 * shown(moved) < most((bool(moved[0]), bool(moved[1]))) <= shown(moved)
    assert most((True, True)) > shown((0, 1))


def test_a_certificate_counts_one_query_and_is_accepted() -> None:
    claim = dp.Claim(epsilon=AT, delta=1e-3, neighbours=REPLACED)
    certificate = dp.certify(both("weak"), claim, effort="quick")
    assert {witness.labels for witness in certificate.witnesses} == {("strong",)}
    assert certificate.tight.delta.lower <= shown((1, 0))
    assert verify(certificate.to_json()).accepted
