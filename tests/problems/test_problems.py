"""Problems are well-formed bandits, and a bad data file is one clear message."""

import csv
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms.problems import NAMES, load, origin
from algorithms.problems.kernel_bandit import KernelBandit
from algorithms.problems.tables import bundled_table, read_columns
from dpaudit.configuration.tables import read_section
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

HEADER = "mdvis,lncoins,physlm,disea,hlthf,hlthp\n"
GOOD = "3,0.0,0,5.0,0,0\n2,3.258096,1,20.0,1,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Any]:
    def write(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


BANDITS = ("rand_hie", "anes96", "grid", "audit_domain", "hardest_bandit")
PROCESSES = (
    *("random_mixture", "river_swim", "tabular_mixture"),
    *("low_rank", "delayed_low_rank", "river_swim_table", "tabular_mdp", "chain"),
    *("hardest_process", "hardest_mixture"),
)
DUELS = (
    "modechoice",
    "bradley_terry",
    "preference_matrix",
    "sphere",
    "circle",
    "preflib",
    "comparison_log",
    "hardest_duels",
)
LINEAR = ("linear_rand_hie", "hard_family", "ill_conditioned", "rare_direction", "random_atoms", "hardest_linear")
CLASSIFICATIONS = ("affairs",)


def test_every_problem_is_of_a_kind_that_is_looked_at() -> None:
    """No problem is registered without a kind; duels, linear bandits and classifications have tests of their own."""
    assert {*BANDITS, *PROCESSES, *DUELS, *LINEAR, *CLASSIFICATIONS} == set(NAMES)


@pytest.mark.parametrize("seed", range(8))
def test_play_for_the_immediate_reward_fails_where_the_reward_is_delayed(seed: int) -> None:
    """It loses at least half of what uniform play loses on every draw; on `low_rank` it loses next to nothing."""
    problem = load("delayed_low_rank")(seed=seed)
    assert problem.myopic_regret >= 0.5 * problem.uniform_regret > 0
    easy = load("low_rank")(seed=seed)
    assert easy.myopic_regret < 0.1 * easy.uniform_regret


@pytest.mark.parametrize("name", PROCESSES)
def test_every_process_has_laws_and_bounded_features(name: str) -> None:
    """Transitions that sum to 1, optimal values in [0, H], features within the bound that noise is calibrated for."""
    problem = load(name)()
    assert (problem.name, bool(problem.description)) == (name, True)
    mdp = problem.mdp
    steps, states, actions = mdp.shape
    assert np.allclose(mdp.transitions.sum(axis=-1), 1.0)
    values = mdp.optimal_values()
    assert ((values >= 0) & (values <= np.arange(steps, -1, -1)[:, None])).all()
    uniform = np.full((1, steps, states, actions), 1 / actions)
    assert 0 <= mdp.policy_values(uniform)[0] <= mdp.optimum()
    value = np.random.default_rng(0).random(states)
    if hasattr(problem, "weights"):
        moved = np.linalg.norm(problem.features @ value, axis=0)
        assert problem.weight_bound <= (problem.dimension**0.5 if name != "tabular_mixture" else states * actions**0.5)
    else:
        moved = np.linalg.norm(problem.features, axis=-1)
    assert moved.max() <= 1 + 1e-12
    with pytest.raises(ValueError, match="read-only"):
        mdp.rewards[0, 0] = 0.0


@pytest.mark.parametrize("name", BANDITS)
def test_every_problem_is_a_bounded_bandit_with_a_law(name: str) -> None:
    """Means within the bound, probabilities that sum to 1, arrays that cannot be written to."""
    problem = load(name)()
    assert problem.name == name
    assert problem.description
    assert np.abs(problem.mean_reward).max() <= problem.reward_bound
    assert math.isclose(problem.context_probabilities.sum(), 1.0)
    assert (problem.gaps.min(axis=1) == 0).all()
    with pytest.raises(ValueError, match="read-only"):
        problem.mean_reward[0, 0] = 0.0


def test_the_survey_is_a_classification_within_its_scales() -> None:
    """6,366 answers by eight scales, in [-1, 1]; about a third reported an affair."""
    problem = load("affairs")()
    assert problem.features.shape == (6366, 8)
    assert np.abs(problem.features).max() <= 1
    assert 0.3 < problem.labels.mean() < 0.35


def test_the_bundled_experiment_has_its_20190_person_years_and_no_plan_is_best_for_all() -> None:
    """Six groups and five plans; a plan's mean reward is a shrunken mean of logged rewards."""
    problem = load("rand_hie")()
    assert "20190 person-years" in problem.description
    assert problem.mean_reward.shape == (6, 5)
    assert problem.context_probabilities[2] == pytest.approx(0.498, abs=0.001)
    assert len(set(problem.mean_reward.argmax(axis=1))) > 1
    unshrunk = load("rand_hie")(prior_rows=1e-9)
    assert unshrunk.mean_reward[0, 0] == pytest.approx(0.781, abs=0.001)


def test_a_users_own_table_is_read_like_the_bundled_one(table: Callable[..., Any]) -> None:
    """Two rows: each reward follows from visits and coinsurance by the stated formula."""
    problem = load("rand_hie")(path=table(HEADER + GOOD), prior_rows=1e-12)
    assert problem.context_probabilities.tolist() == [0.5, 0, 0, 0, 0, 0.5]
    assert problem.mean_reward[0, 0] == pytest.approx(1 - 2 * 3 / 20)
    assert problem.mean_reward[5, 1] == pytest.approx(1 - 2 * (0.1 + 4 * 0.025**2))


def test_a_table_that_changed_is_read_again_and_what_a_caller_changes_is_its_own(table: Callable[..., Any]) -> None:
    """Columns are kept by content: a rewritten file gives new numbers, and a changed array leaves the next alone."""
    path = table(HEADER + GOOD)
    first = read_columns(path, ("mdvis",))["mdvis"]
    first[:] = 99.0
    assert read_columns(path, ("mdvis",))["mdvis"].tolist() == [3.0, 2.0]
    table(HEADER + GOOD.replace("3,0.0", "4,0.0"))
    assert read_columns(path, ("mdvis",))["mdvis"].tolist() == [4.0, 2.0]


def test_a_relative_data_file_is_read_beside_the_configuration(
    table: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file's name is relative to the configuration's folder, wherever the command runs."""
    name = table(HEADER + GOOD).name
    monkeypatch.chdir("/")
    read = read_section(load("rand_hie"), {"path": name}, tmp_path)
    assert read.description.endswith("2 person-years of table.csv, none in 28 of 30 cells.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "3,0.0,0,nan,0,0\n", r"row 2, column 'disea': expected a finite number, found 'nan'. Fill in"),
        (HEADER + GOOD + "3,0.0,0,,0,0\n", r"row 4, column 'disea'.*found ''"),
        (HEADER + "many,0.0,0,5,0,0\n", r"row 2, column 'mdvis'.*found 'many'"),
        ("mdvis,lncoins,physlm,hlthf,hlthp\n", r"has no column 'disea' in row 1; it needs: mdvis"),
        ("", r"has no column 'mdvis', 'lncoins'"),
        (HEADER, r"has a header but no rows"),
        (HEADER + GOOD + "3,0.0,0", r"row 4: expected 6 values, found 3; the file may be truncated"),
        (HEADER + "3,1.5,0,5,0,0\n", r"column 'lncoins': 1.5 is none of the experiment's plans"),
    ],
)
def test_a_bad_table_names_value_column_row_and_remedy(table: Callable[..., Any], text: str, message: str) -> None:
    """NaN, gaps, words, missing columns, truncation and unknown plans are configuration errors."""
    with pytest.raises(ConfigError, match=message):
        load("rand_hie")(path=table(text))


def test_a_missing_or_binary_file_is_a_clear_error(tmp_path: Path) -> None:
    """No file and no text: the path and the reason are in the message."""
    with pytest.raises(ConfigError, match=r"Cannot read the data file .*nowhere\.csv"):
        load("rand_hie")(path=tmp_path / "nowhere.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ConfigError, match="Cannot read the data file"):
        load("rand_hie")(path=tmp_path / "binary.csv")


def test_a_seed_fixes_a_synthetic_problem() -> None:
    """The same parameters give the same means; another seed gives others; the norm bounds the values by 1."""
    first, again, other = (load("grid")(seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.mean_reward, again.mean_reward)
    assert not np.array_equal(first.mean_reward, other.mean_reward)


def test_the_audit_domain_hides_the_action_and_separates_the_directions() -> None:
    """Context 0 has one feature for all actions; contexts 1 shows both; the expected share is as asked."""
    problem = load("audit_domain")(canary_share=0.06)
    features = problem.features.reshape(3, 2, 2)
    assert np.array_equal(features[0, 0], features[0, 1])
    assert features[1, 0] @ features[1, 1] == 0
    np.testing.assert_allclose(problem.context_probabilities, [0.02, 0.08, 0.90])
    share = (problem.context_probabilities[:, None] / 2 * features[:, :, 0]).sum()
    assert share == pytest.approx(0.06)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("grid", {"contexts": 0}, "contexts=0 to be a whole number"),
        ("grid", {"kernel": "linear"}, "kernel='linear' to be one of: squared_exponential, matern"),
        ("grid", {"kernel": "matern", "smoothness": 2.0}, "smoothness=2.0"),
        ("grid", {"length_scale": -1}, "length_scale=-1 to be positive"),
        ("grid", {"density": 1.5}, "density=1.5 strictly between"),
        ("audit_domain", {"canary_share": 0.7}, "canary_share=0.7 to be at most 0.5"),
        ("rand_hie", {"prior_rows": 0}, "prior_rows=0 to be positive"),
    ],
)
def test_bad_parameters_name_the_value(name: str, changed: dict[str, Any], message: str) -> None:
    """Each bad parameter is a ValueError with its value and its rule."""
    with pytest.raises(ValueError, match=message):
        load(name)(**changed)


def test_a_size_that_memory_cannot_hold_is_refused_in_one_line() -> None:
    """Every count of every problem, raised far: it is made, or refused in words, within 4 GiB of address space."""
    program = """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        from algorithms import problems
        from dpaudit.configuration.fields import fields_of
        refused = set()
        for name in problems.NAMES:
            make = problems.load(name)
            if any(field.required for field in fields_of(make)):
                continue
            for key in (field.name for field in fields_of(make) if field.hint is int):
                for size in (3_000, 10**7, 10**12):
                    try:
                        make(**{key: size})
                    except ValueError as error:
                        assert str(error).startswith("Expected "), (name, key, size, error)
                        refused.add((name, key))
        print(*sorted(f"{name}.{key}" for name, key in refused))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert {"grid.contexts", "sphere.arms", "chain.states", "low_rank.dimension"} <= set(run.stdout.split())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"context_probabilities": [0.5, 0.6]}, "to be a law"),
        ({"mean_reward": [[2.0], [0.0]]}, "at most reward_bound"),
        ({"mean_reward": [[0.0, 0.0]]}, "mean_reward of shape"),
        ({"mean_reward": [[math.nan], [0.0]]}, "mean_reward to hold finite numbers"),
        ({"features": np.eye(3)}, "one row of features a cell"),
        ({"gram": np.eye(3)}, "a row and a column a cell, 2"),
        ({"contexts": [0.0, 1.0]}, "as matrices"),
    ],
)
def test_a_malformed_bandit_cannot_be_built(
    changed: dict[str, Array | list[float | list[float]]], message: str
) -> None:
    """Shapes, laws and bounds are checked at construction."""
    good: dict[str, Any] = {
        "name": "x",
        "description": "x",
        "contexts": [[0.0], [1.0]],
        "actions": [[0.0]],
        "context_probabilities": [0.5, 0.5],
        "mean_reward": [[0.1], [0.2]],
    }
    with pytest.raises(ValueError, match=message):
        KernelBandit(**{**good, **changed})


def test_every_problem_states_its_origin_and_its_units_agree_with_it() -> None:
    """Source, licence, users; where a problem knows the units of one person, the origin says the same number."""
    for name in NAMES:
        held = origin(name)
        assert held.source
        assert held.licence
        assert held.users == ("real" if name == "affairs" else "simulated")
    for name in sorted(set(NAMES) - {"preflib", "comparison_log"}):  # two need a file
        stated = origin(name).units_per_person
        if name in DUELS:
            assert load(name)().units_per_person == 1
        else:
            assert load(name)().units_per_person == stated, name
    assert load("linear_rand_hie")().units_per_person == 5
    assert origin("rand_hie", has_path=True).source == "a file of the user"
    assert origin("no such problem") is None


def test_votes_are_those_of_the_table_read_by_other_means() -> None:
    """944 respondents, 393 votes for Dole; the group of strong Democrats below 35 by a reader of its own."""
    problem = load("anes96")()
    with bundled_table("anes96", "anes96.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quotechar="'"))
    assert (len(rows), sum(row["vote"] in ("1", "1.0") for row in rows)) == (944, 393)
    own = [float(row["vote"]) for row in rows if float(row["PID"]) == 0 and float(row["age"]) < 35]
    assert problem.context_probabilities[0] == pytest.approx(len(own) / 944)
    assert problem.mean_reward[0, 1] == pytest.approx((2 * sum(own) - len(own)) / (len(own) + 10))
    assert np.array_equal(problem.mean_reward[:, 0], -problem.mean_reward[:, 1])


def test_a_vote_for_nobody_known_is_refused_by_row_and_value(table: Callable[..., Any]) -> None:
    """One line with row, column, value and rule."""
    with pytest.raises(ConfigError, match=r"data row 2, column 'vote': 2 is none of 0, 1"):
        load("anes96")(path=table("PID\tage\tvote\n0\t30\t1\n3\t40\t2\n"))


def test_the_cell_without_rows_is_named() -> None:
    """No person-year of group 2 was under full coinsurance."""
    assert "none in group 2 at 100%" in load("rand_hie")().description


def test_river_swim_and_the_walks_lose_what_their_formulas_say() -> None:
    """RiverSwim at H = 10: uniform .2984, immediate reward .2689. A slip of 0.2 leaves 0.8^3 at the chain's end."""
    swim = load("river_swim")()
    assert (round(swim.uniform_regret, 4), round(swim.myopic_regret, 4)) == (0.2984, 0.2689)
    chain = load("chain")(states=4, steps=4)
    walked = chain.mdp.policy_values(np.eye(2)[np.zeros((1, 4, 4), dtype=int)])[0]
    assert walked == pytest.approx(0.8**3)
    assert load("chain")().myopic_regret >= 0.5 * load("chain")().uniform_regret
