"""Digits that only rounding decides are no leak where arithmetic counts as exact, however a number is written."""

import csv
import io
import json
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import Settings, audit
from audits.experiment.function_case import function_case
from audits.outputs.calls import as_run
from audits.replay.fine_columns import fine_columns, with_exact_columns
from audits.replay.one_call import Player
from dpaudit import AuditResult, Claim
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings as SuiteSettings

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
AGES = [23, 35, 41, 58, 64, 37, 29, 51]
PAIR = AGES, [age for age in AGES if age != 64]


def counts(ages: list[int], rng: np.random.Generator, scale: float = 2.0) -> tuple[float, float]:
    """Return two noisy counts, which keep the claim at scale 2."""
    return len(ages) + rng.laplace(0, scale), sum(age > 40 for age in ages) + rng.laplace(0, scale)


def audited(
    release: Callable[[list[int], np.random.Generator], Any], pair: tuple[list[int], list[int]] = PAIR
) -> AuditResult:
    """Return the audit of one pair of neighbours, on few runs."""
    return audit(
        release, neighbours=pair, claim=CLAIM, runs=2_000, rng=np.random.default_rng(1), how=Settings(control_runs=0)
    )


def as_table(numbers: tuple[float, float]) -> str:
    """Return numbers as a table of text."""
    table = io.StringIO()
    csv.writer(table).writerow(numbers)
    return table.getvalue()


WRITTEN: dict[str, Callable[[tuple[float, float]], Any]] = {
    "text": lambda numbers: f"{numbers[0]} and {numbers[1]}",
    "json": lambda numbers: json.dumps({"all": numbers[0], "old": numbers[1]}),
    "csv": as_table,
    "fraction": lambda numbers: Fraction(8) + Fraction(numbers[0]),
    "decimal": lambda numbers: Decimal(8) + Decimal(numbers[0]),
    "long double": lambda numbers: np.longdouble(1) / 3 + np.longdouble(numbers[0]),
    "bytes": lambda numbers: struct.pack("<d", numbers[0]),
}


@pytest.mark.parametrize("written", WRITTEN)
def test_no_way_to_write_a_number_is_a_leak(written: str) -> None:
    """All columns that tell the digits below those of a double are left out, and all numbers are kept."""

    def release(ages: list[int], rng: np.random.Generator) -> Any:
        return WRITTEN[written](counts(ages, rng))

    case = with_exact_columns(function_case(release, (AGES, AGES[1:]), CLAIM), None)
    call = Player(run=case.run).call(AGES, 1)
    told = [name for name in call.columns if name.split()[-1] in ("rest", "digit", "decimals", "@0", "@1")]
    assert set(told) <= case.fine
    assert not [name for name in case.fine if name.startswith("number ") and "@" not in name]


def test_a_table_with_all_digits_keeps_its_claim() -> None:
    """Before, the last digit of one of two written numbers was an output that no noise gives."""
    assert audited(lambda ages, rng: json.dumps(counts(ages, rng))).verdict != "violation"


def test_an_exact_sum_of_noise_and_answer_keeps_its_claim() -> None:
    """Before, the part that a double leaves out told one record from none: it is there where the sum is not 0."""

    def release(ages: list[int], rng: np.random.Generator) -> Fraction:
        return Fraction(len(ages)) + Fraction(rng.laplace(0, 1.0))

    assert audited(release, ([30], [])).verdict != "violation"


def test_a_word_between_written_numbers_is_seen() -> None:
    """Broken twin: a word follows exact data beside two numbers with all their digits."""

    def release(ages: list[int], rng: np.random.Generator) -> str:
        numbers = counts(ages, rng)
        return f"{numbers[0]} {'many' if len(ages) > 7 else 'few'} {numbers[1]}"

    result = audited(release)
    assert result.verdict == "violation"


def test_digits_that_do_not_follow_the_noise_are_read() -> None:
    """A secret below the digits of a double, beside noise on whole numbers, is an output like any other."""

    def hidden(ages: list[int], rng: np.random.Generator) -> int:
        return round(len(ages) + rng.laplace(0, 1.0)) * 10**20 + len(ages)

    run = as_run(hidden)[0]
    assert not fine_columns(Player(run=run), AGES, [(1,), (2,)])


def test_a_function_that_does_not_repeat_itself_has_no_such_columns() -> None:
    """Other noise than that of rng moves every digit: nothing is known of it, and all of it is attacked."""
    own = np.random.default_rng(1)
    run = as_run(lambda data: f"{len(data) + own.laplace()}")[0]
    assert not fine_columns(Player(run=run), AGES, [(1,), (2,)])


def test_the_fixture_judges_no_digit_of_rounding_either() -> None:
    """`dp.check_function` reads outputs as `audit` does: no attack sees what a double leaves out."""

    def release(ages: list[int], rng: np.random.Generator) -> Fraction:
        return Fraction(len(ages)) + Fraction(rng.laplace(0, 1.0))

    dp = PrivacyChecks(
        test="t",
        mark=pytest.mark.dp(epsilon=1.0, neighbours="add_remove", runs=2_000).mark,
        folder=Path(),
        settings=SuiteSettings(profile="fast", significance=0.01, evidence=None, seed=1),
        tell=dict[str, Any]().__setitem__,
    )
    assert dp.check_function(release, ([30], [])).verdict != "violation"
