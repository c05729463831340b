"""Leaks in users' functions that the audit of one data set finds by itself, each beside an honest twin."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import Settings, audit, function_case, when_refuted
from audits.procedures.replayed import STATE, replayed
from dpaudit import Claim
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings as SuiteSettings
from dpaudit.wording.audits import audit_meaning

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
PAY = np.array([*np.linspace(0.5, 9.5, 19), 48.5])
TOWNS = ["red"] * 6 + ["green"] * 5 + ["blue"] * 4 + ["teal"]
COLOURS = ("red", "green", "blue", "teal")
VISITS = pd.DataFrame({"who": [1, 1, 1, 1, 2, 3, 3, 4, 5, 6], "pay": np.arange(10.0), "ill": [0, 1] * 5})


def unclipped(data: Any, rng: Any, leaky: Any) -> Any:
    total = data.sum() if leaky else np.clip(data, 0, 10).sum()
    return total + rng.laplace(0, 10.0)


def spends_twice(data: Any, rng: Any, leaky: Any) -> Any:
    scale = 0.5 if leaky else 2.0
    return {"n": len(data) + rng.laplace(0, scale), "high": (data > 5).sum() + rng.laplace(0, scale)}


def reuses_noise(data: Any, rng: Any, leaky: Any) -> Any:
    noise = rng.laplace(0, 2.0)
    return {"n": len(data) + noise, "high": (data > 5).sum() + (noise if leaky else rng.laplace(0, 2.0))}


def scale_of_the_data(data: Any, rng: Any, leaky: Any) -> Any:
    top = max(data, default=10.0) if leaky else 10.0
    return np.clip(data, 0, top).sum() + rng.laplace(0, top)


def divides_by_the_exact_count(data: Any, rng: Any, leaky: Any) -> Any:
    return (np.clip(data, 0, 10).sum() + rng.laplace(0, 10.0)) / (max(1, len(data)) if leaky else 20)


def divides_by_the_largest(data: Any, rng: Any, leaky: Any) -> Any:
    return np.clip(data, 0, 10).sum() / (max(data, default=1.0) if leaky else 10) + rng.laplace(0, 1.0)


def exact_when_none(data: Any, rng: Any, leaky: Any) -> Any:
    return 0.0 if leaky and len(data) == 0 else float(len(data) + rng.laplace())


def token_of_the_data(data: Any, rng: Any, leaky: Any) -> Any:
    token = int(hashlib.sha256(data.tobytes()).hexdigest()[:6], 16) if leaky else 7
    return {"n": len(data) + rng.laplace(), "token": token}


def keys_that_are_seen(data: Any, rng: Any, leaky: Any) -> Any:
    return {name: data.count(name) + rng.laplace() for name in (sorted(set(data)) if leaky else COLOURS)}


def order_of_exact_counts(data: Any, rng: Any, leaky: Any) -> Any:
    names = sorted(COLOURS, key=lambda name: (-Counter(data)[name], name)) if leaky else COLOURS
    return {name: data.count(name) + rng.laplace() for name in names}


def raises_on_a_rare_one(data: Any, rng: Any, leaky: Any) -> Any:
    weight = dict.fromkeys(COLOURS[:3] if leaky else COLOURS, 1.0)
    return sum(weight[name] for name in data if leaky or name in weight) + rng.laplace()


def chooses_too_sharply(data: Any, rng: Any, leaky: Any) -> Any:
    scores = (3.0 if leaky else 0.5) * np.array([data.count(name) for name in COLOURS])
    weights = np.exp(scores - scores.max())
    return COLOURS[rng.choice(4, p=weights / weights.sum())]


def seed_of_the_data(data: Any, rng: Any, leaky: Any) -> Any:
    own = np.random.default_rng(len(data)) if leaky else rng
    return {"sum": np.clip(data, 0, 10).sum() + own.laplace(0, 20.0), "n": len(data) + rng.laplace(0, 2.0)}


def type_of_the_data(data: Any, rng: Any, leaky: Any) -> Any:
    noisy = np.array([len(data) + rng.laplace()])
    return noisy.astype(np.float32) if leaky and (data > 40).any() else noisy


def flags_an_exact_total(data: Any, rng: Any, leaky: Any) -> Any:
    exact = np.clip(data, 0, 10).sum()
    noisy = exact + rng.laplace(0, 10.0)
    return {"sum": noisy, "large": bool((exact if leaky else noisy) > 60)}


NUMBERS = (
    *(unclipped, spends_twice, reuses_noise, scale_of_the_data, exact_when_none),
    *(divides_by_the_exact_count, divides_by_the_largest),
    *(token_of_the_data, seed_of_the_data, type_of_the_data, flags_an_exact_total),
)
CATEGORIES = (keys_that_are_seen, order_of_exact_counts, raises_on_a_rare_one, chooses_too_sharply)
CASES = [*((function, PAY) for function in NUMBERS), *((function, TOWNS) for function in CATEGORIES)]


def replay_of(function: Any, data: Any, leaky: Any, claim: Any = CLAIM, unit: Any = None) -> Any:
    def run(data: Any, rng: Any) -> Any:
        return function(data, rng, leaky)

    return replayed(run, None, data, claim, runs=2_000, rng=np.random.default_rng(5), how=Settings(unit=unit))


@pytest.mark.parametrize(("function", "data"), CASES[:-1], ids=lambda value: getattr(value, "__name__", ""))
def test_a_leak_is_confirmed_on_one_data_set_and_its_twin_is_not(function: Any, data: Any) -> None:
    leak = replay_of(function, data, leaky=True)
    assert leak.violation is not None
    assert leak.violation.epsilon > 1.0
    assert replay_of(function, data, leaky=False).violation is None


def test_a_leak_without_a_seen_law_is_attacked_on_small_data_sets() -> None:
    def chosen(data: Any, rng: Any) -> Any:
        return chooses_too_sharply(data, rng, leaky=True)

    result = audit(chosen, TOWNS, claim=CLAIM, runs=2_000, rng=np.random.default_rng(1), how=Settings(control_runs=0))
    assert result.verdict == "violation"


@pytest.mark.parametrize("leaky", [True, False])
def test_half_of_the_records_hide_one_of_them_best_among_many(leaky: bool) -> None:
    """Noise for half the records is too little for a record alone, drawn or not; others hide it in what they draw."""

    def sampled(data: Any, rng: Any) -> Any:
        drawn = data[rng.random(len(data)) < 0.5]
        needed = 1 / np.log1p(2 * np.expm1(1.0))
        return (drawn > 5).sum() + rng.laplace(0, 0.5 if leaky else needed)

    result = audit(sampled, PAY, claim=CLAIM, runs=8_000, rng=np.random.default_rng(1), how=Settings(control_runs=0))
    assert (result.verdict == "violation") is leaky


def pays_for_large_answers(data: Any, rng: Any, leaky: Any) -> Any:
    spent, shown = 0, []
    for threshold in range(20, 100, 10):
        if spent == 4:
            break
        shown.append(sum(age > threshold for age in data) + rng.laplace(0.0, 4.0))
        spent += not leaky or shown[-1] > 40
    return shown


def test_answers_that_cost_nothing_are_seen_on_a_data_set_of_few_records() -> None:
    """Large counts pass the threshold by chance, so that no law is known there; counts of one record never do."""
    ages = np.random.default_rng(11).integers(18, 90, 50).tolist()
    found = replay_of(pays_for_large_answers, ages, leaky=True).violation
    assert found is not None
    assert found.pair.small
    assert replay_of(pays_for_large_answers, ages, leaky=False).violation is None


def test_a_rare_key_is_attacked_on_the_pair_that_draws_for_it() -> None:
    """A town of one record has its key in 7 % of the runs, and no numbers move: draws alone tell the pair."""

    def popular(data: Any, rng: Any) -> Any:
        noisy = {town: data.count(town) + rng.laplace() for town in sorted(set(data))}
        return {town: value for town, value in noisy.items() if value > 3}

    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
    result = audit(popular, TOWNS, claim=claim, runs=4_000, rng=np.random.default_rng(1), how=Settings(control_runs=0))
    assert result.verdict == "violation"


def test_an_anytime_audit_takes_one_data_set_and_says_the_cause() -> None:
    def found(*, leaky: bool) -> Any:
        def run(data: Any, rng: Any) -> Any:
            return reuses_noise(data, rng, leaky=leaky)

        rng = np.random.default_rng(1)
        return audit(run, PAY, claim=CLAIM, runs=800, rng=rng, stop=when_refuted, how=Settings(control_runs=0))

    leak = found(leaky=True)
    assert leak.verdict == "violation"
    assert "one draw serves several" in " ".join(leak.remarks)
    assert found(leaky=False).verdict != "violation"


@pytest.mark.parametrize("leaky", [True, False])
def test_a_sequential_audit_names_the_cause_by_a_replay(leaky: bool) -> None:
    """The score reads the count alone; the replay names the token beside it."""

    def run(data: Any, rng: Any, n_runs: int) -> Any:
        released = [token_of_the_data(data, rng, leaky=leaky) for _ in range(n_runs)]
        return {name: np.array([one[name] for one in released]) for name in ("n", "token")}

    def score(view: Any) -> Any:
        return np.where(view["n"] < len(PAY) - 0.5, 1.0, -1.0)

    case = function_case(run, (PAY, PAY[1:]), CLAIM, score=score)
    result = audit(
        case, claim=CLAIM, runs=400, rng=np.random.default_rng(1), stop=when_refuted, how=Settings(control_runs=0)
    )
    assert (result.verdict == "violation", "'token'" in " ".join(result.remarks)) == (leaky, leaky)


def test_a_generator_is_read_as_the_list_that_it_yields() -> None:
    """Its noise is drawn as it is read, and what it raises ends its run."""

    def yields(data: Any, rng: Any, leaky: Any) -> Any:
        weight = dict.fromkeys(COLOURS[:3] if leaky else COLOURS, 1.0)
        return (data.count(name) + weight[name] * rng.laplace() for name in sorted({*COLOURS[:3], *data}))

    assert "KeyError" in " ".join(replay_of(yields, TOWNS, leaky=True).causes)
    always = replay_of(
        lambda data, rng, leaky: (data.count(name) + rng.laplace() for name in COLOURS), TOWNS, leaky=False
    )
    assert always.violation is None
    assert always.replay is not None


def test_all_rows_of_a_person_are_one_record() -> None:
    def visits(frame: Any, rng: Any, leaky: Any) -> Any:
        del leaky
        return len(frame) + rng.laplace()

    assert replay_of(visits, VISITS, leaky=True).violation is None
    found = replay_of(visits, VISITS, leaky=True, unit="who").violation
    assert found is not None
    assert "4 times the scale" in found.says


def test_a_person_whom_no_column_makes_special_is_left_out_as_well() -> None:
    """A join gives one person six rows; that person's own rows are like all others."""
    orders = pd.DataFrame({"who": [4] * 6 + [1, 2, 3, 5, 6]})

    def joined(frame: Any, rng: Any, leaky: Any) -> Any:
        people = frame.drop_duplicates("who")
        return len(people.merge(orders, on="who") if leaky else people) + rng.laplace()

    found = replay_of(joined, VISITS, leaky=True, unit="who").violation
    assert found is not None
    assert "6 times the scale" in found.says
    assert replay_of(joined, VISITS, leaky=False, unit="who").violation is None


def types_in_a_list(data: Any, rng: Any, leaky: Any) -> Any:
    high = len(data) if leaky and len(data) % 2 else float(len(data))
    return [0.0, round(high + rng.laplace(0, 2)) if isinstance(high, int) else high + rng.laplace(0, 2)]


def test_a_finding_says_output_answers_line_and_pair() -> None:
    remark = replay_of(reuses_noise, PAY, leaky=True).causes[0]
    for part in ("'n'", "'high'", "one draw serves several", "test_user_functions.py:", "fresh runs", "Pair: "):
        assert part in remark
    assert "raises KeyError in every run" in replay_of(raises_on_a_rare_one, TOWNS, leaky=True).causes[0]
    kinds = " ".join(replay_of(types_in_a_list, PAY, leaky=True).causes)
    assert "entry [1] of the output is of type" in kinds
    assert "the key 'teal'" in " ".join(replay_of(keys_that_are_seen, TOWNS, leaky=True).causes)


def test_many_certain_events_do_not_hide_the_law_behind_them() -> None:
    """Each town has a text of its own where nobody lives there; the noise is that of a mean over all 16 records."""

    def shares(data: Any, rng: Any, leaky: Any) -> Any:
        groups = {name: [1.0] * data.count(name) for name in COLOURS} | {f"no {name}": [] for name in COLOURS}
        return {name: sum(own) + rng.laplace(0, 1 / 16) if own else f"no {name}" for name, own in groups.items()}

    causes = replay_of(shares, TOWNS, leaky=True).causes
    assert any("is of type" in cause for cause in causes)
    assert any("16 times the scale of its Laplace noise" in cause for cause in causes)


@pytest.mark.parametrize("leaky", [True, False])
def test_a_sum_of_no_numbers_is_of_the_type_of_other_sums(*, leaky: bool) -> None:
    """Python's sum of numpy's numbers is a numpy.float64, and of none an int. Twin: single precision shows."""

    def total(data: Any, rng: Any, leaky: Any) -> Any:
        noisy = sum(np.clip(data, 0, 10)) + rng.laplace(0, 10)
        return np.float32(noisy) if leaky and len(data) == 0 else noisy

    assert (replay_of(total, PAY, leaky=leaky).violation is not None) is leaky


def test_a_value_that_no_record_has_decides_nothing() -> None:
    looked = replay_of(unclipped, PAY, leaky=False)
    assert looked.violation is None
    assert looked.sound
    assert any("NaN" in remark and "a record that the data do not have" in remark for remark in looked.causes)


def test_a_number_that_is_named_like_a_category_keeps_its_cause() -> None:
    """The remark on the search names the category as well; the cause of the number stands first all the same."""

    def counts(data: Any, rng: Any) -> Any:
        return {name: data.count(name) * (3 if name == "teal" else 1) + rng.laplace() for name in COLOURS}

    remarks = audit(counts, TOWNS, claim=CLAIM, runs=400, rng=np.random.default_rng(5)).remarks
    assert "'teal'" in " ".join(remark for remark in remarks if "a search of" in remark)
    assert remarks[0].startswith("'teal': the answer moves by 3 times the scale")


@pytest.mark.parametrize("leaky", [True, False])
def test_a_zero_that_no_record_holds_is_tried(*, leaky: bool) -> None:
    """What divides by a value raises at zero, which decides nothing and is told. Twin: one is added."""

    def inverse(data: Any, rng: Any, leaky: Any) -> Any:
        return sum(min(1.0, 1 / (rows if leaky else abs(rows) + 1)) for rows in data.values()) + rng.laplace(0, 1.0)

    looked = replay_of(inverse, {"anna": 7, "ben": 3, "carl": 9}, leaky=leaky)
    assert looked.violation is None
    assert any("raises ZeroDivisionError" in remark and "holds zero" in remark for remark in looked.causes) is leaky


@pytest.mark.parametrize("leaky", [True, False])
def test_values_that_no_record_has_together_are_tried(*, leaky: bool) -> None:
    """An old record of the rarest town raises; no record of the data is one."""
    rows = [{"town": "ulm" if i % 9 == 0 else "bonn", "age": 20 + i % 9} for i in range(40)]

    def count(data: Any, rng: Any, leaky: Any) -> Any:
        if leaky and any(row["town"] == "ulm" and row["age"] == 28 for row in data):
            raise KeyError("ulm")
        return len(data) + rng.laplace(0, 1)

    looked = replay_of(count, rows, leaky=leaky)
    assert looked.violation is None
    found = [remark for remark in looked.causes if "raises KeyError" in remark]
    assert all("28 of 'age'" in remark and "'ulm' of 'town'" in remark for remark in found)
    assert bool(found) is leaky


def test_state_kept_between_calls_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of a test runner holds no lock that the call needs."""
    monkeypatch.setattr("threading.active_count", lambda: 1)
    kept = {}

    def cached(data: Any, rng: Any, leaky: Any) -> Any:
        del leaky
        if "answer" not in kept:
            kept["answer"] = len(data) + rng.laplace()
        return kept["answer"]

    looked = replay_of(cached, PAY, leaky=True)
    assert STATE in looked.beside
    assert not looked.sound


@pytest.mark.parametrize("leaky", [True, False])
def test_state_that_all_records_leave_is_seen_by_a_small_data_set(
    monkeypatch: pytest.MonkeyPatch, *, leaky: bool
) -> None:
    """The largest value of the first call is kept, which most data sets share. Twin: a public bound is kept."""
    monkeypatch.setattr("threading.active_count", lambda: 1)
    kept: dict[str, float] = {}

    def bounded(data: Any, rng: Any, leaky: Any) -> Any:
        top = kept.setdefault("top", max(data, default=1.0) if leaky else 10.0)
        return np.clip(data, 0, top).sum() + rng.laplace(0, 100.0)

    assert (STATE in replay_of(bounded, PAY, leaky=leaky).beside) is leaky


def test_a_text_beside_the_output_is_named(capsys: Any) -> None:
    def prints(data: Any, rng: Any, leaky: Any) -> Any:
        print(f"{len(data) if leaky else 'done'} rows")  # noqa: T201 - the leak
        return len(data) + rng.laplace()

    assert "printed text" in " ".join(replay_of(prints, PAY, leaky=True).beside)
    assert replay_of(prints, PAY, leaky=False).channels == ()
    assert "done" in capsys.readouterr().out


def test_a_function_without_draws_says_what_could_not_be_seen() -> None:
    remarks = replay_of(lambda data, rng, leaky: float(len(data) > 3), PAY, leaky=True).beside
    assert "No draw from rng was seen" in " ".join(remarks)


@pytest.mark.parametrize("followed", [True, False])
def test_numbers_whose_law_is_not_shown_are_named(followed: bool) -> None:
    """Twin: where noise is added to each number, no remark says so."""

    def sums(data: Any, rng: Any) -> Any:
        return {"n": len(data) + (rng.laplace() if followed else rng.integers(9)), "sum": rng.normal(0, 99)}

    pair = np.ones(3), np.ones(2)
    remarks = " ".join(replayed(sums, pair, None, CLAIM, runs=200, rng=np.random.default_rng(0)).beside)
    assert ("how the draws enter 'n':" in remarks) is not followed


def test_one_of_data_and_neighbours_is_given() -> None:
    with pytest.raises(ValueError, match="either data"):
        audit(lambda data, rng: 0.0, claim=CLAIM, runs=100, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="unit='who'"):
        replayed(len, ([1], []), None, CLAIM, runs=100, rng=np.random.default_rng(0), how=Settings(unit="who"))


def test_the_fixture_takes_one_data_set_and_says_the_cause() -> None:
    """The check fails with output, answers and pair; the honest twin passes or stays undecided."""

    def leaky(data: Any, rng: Any) -> Any:
        return reuses_noise(data, rng, leaky=True)

    def honest(data: Any, rng: Any) -> Any:
        return reuses_noise(data, rng, leaky=False)

    told: dict[str, Any] = {}
    dp = PrivacyChecks(
        test="t",
        mark=pytest.mark.dp(epsilon=1.0, neighbours="add_remove", runs=200).mark,
        folder=Path(),
        settings=SuiteSettings(profile="fast", significance=0.001, evidence=None, seed=None),
        tell=told.__setitem__,
    )
    with pytest.raises(pytest.fail.Exception, match="one draw serves several of them"):
        dp.check_function(leaky, data=PAY)
    assert "violation" in told.values()
    assert dp.check_function(honest, data=PAY, arithmetic="exact").verdict != "violation"


@pytest.mark.parametrize(("scale", "verdict"), [(0.95, "violation"), (1.0, "inconclusive")])
def test_a_law_that_exceeds_the_claim_by_little_is_refuted_under_its_assumption(scale: float, verdict: str) -> None:
    """Five per cent too little noise: no attack of 400 runs sees it, and the law of the draws shows it."""

    def count(data: Any, rng: Any) -> Any:
        return len(data) + rng.laplace(0, scale)

    rng = np.random.default_rng(2)
    result = audit(count, [1, 2, 3], claim=CLAIM, runs=400, rng=rng, how=Settings(control_runs=0))
    assert result.verdict == verdict
    assert (result.bound == "replay") is (verdict == "violation")
    if verdict == "violation":
        assert result.epsilon_lower == pytest.approx(1 / 0.95)
        assert audit_meaning(result).startswith("If the outputs follow the laws of 200 replayed runs, epsilon is at")


@pytest.mark.parametrize("epsilon", [20.0, 900.0])
def test_a_large_claim_is_replayed_without_a_finding(epsilon: float) -> None:
    looked = replay_of(spends_twice, PAY, leaky=True, claim=Claim(epsilon=epsilon, neighbours="add_remove"))
    assert looked.violation is None
    assert looked.replay is not None


def test_an_event_that_few_runs_speak_against_is_no_remark() -> None:
    """An answer that is mostly one word on both data sets, by a law that keeps the claim, shows nothing in 200 runs."""

    def mostly(data: Any, rng: Any) -> str:
        return "yes" if rng.random() < (0.93 if len(data) % 2 else 0.97) else "no"

    claim = Claim(epsilon=1.0, neighbours="add_remove")
    for seed in range(8):
        looked = replayed(mostly, None, list(range(seed, 30)), claim, runs=400, rng=np.random.default_rng(seed))
        assert looked.causes == ()
        assert looked.sound


def exceeds(data: Any, rng: Any, *, threshold: float, query: float) -> int:
    limit = 20 + (rng.laplace(0, threshold) if threshold else 0.0)
    for place, above in enumerate((0.95, 0.9, 0.8, 0.6, 0.4, 0.2)):
        if sum(value > above for value in data) + (rng.laplace(0, query) if query else 0.0) > limit:
            return place
    return -1


SHARES = np.round(np.random.default_rng(7).beta(2, 2, 80), 3).tolist()


@pytest.mark.parametrize(("threshold", "query", "runs"), [(2.0, 0.0, 2_000), (0.0, 2.0, 20_000), (2.0, 4.0, 4_000)])
def test_a_sparse_vector_without_noise_on_threshold_or_answers_is_found(
    threshold: float, query: float, runs: int
) -> None:
    """Equal records bring all answers to the threshold at once; the last row, with both noises, keeps its claim."""

    def vector(data: Any, rng: Any) -> int:
        return exceeds(data, rng, threshold=threshold, query=query)

    result = audit(vector, SHARES, claim=CLAIM, runs=runs, rng=np.random.default_rng(11))
    assert (result.verdict == "violation") is not bool(threshold and query)


@pytest.mark.parametrize("function", ["an overflow", "a scale"])
def test_a_jump_far_from_the_data_is_found(function: str) -> None:
    """A sum of bytes overflows, and noise shrinks above ten large values; the data themselves show neither."""

    def jumping(data: Any, rng: Any) -> float:
        if function == "an overflow":
            return float(np.array(data, dtype=np.uint8).sum(dtype=np.uint8) + rng.laplace(0, 5.0))
        high = sum(value > 4 for value in data)
        return float(high + rng.laplace(0, 1.0 if high < 15 else 0.1))

    stars = [1, 2, 3, 4, 5, 4, 3, 2] * 7
    result = audit(jumping, stars, claim=CLAIM, runs=1_000, rng=np.random.default_rng(11))
    assert result.verdict == "violation"
