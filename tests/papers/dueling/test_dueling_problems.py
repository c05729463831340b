"""Problems are well-formed duels; real files are read as written, and a bad one is one clear message."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms._dueling.notes import person_note
from algorithms.dp_ebs import DpEbs
from algorithms.problems import load
from algorithms.problems.comparison_log import read_log
from algorithms.problems.duels import Duels, fitted_utilities, logistic
from algorithms.problems.preflib import read_soc
from dpaudit.errors import ConfigError

SOC = """# FILE NAME: toy.soc
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 10
# ALTERNATIVE NAME 1: Shrimp
# ALTERNATIVE NAME 2: Sea eel
# ALTERNATIVE NAME 3: Tuna
6: 1,2,3
4: 3,1,2
"""
OLD = "3\n1,Shrimp\n2,Sea eel\n3,Tuna\n10,10,2\n6,1,2,3\n4,3,1,2\n"
LOG = """question_id,model_a,model_b,winner,judge
1,alpha,beta,model_a,ann
2,beta,alpha,model_b,ann
3,alpha,gamma,tie,bob
4,gamma,beta,tie (bothbad),ann
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Any]:
    def write(text: str, name: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("points", [3, 16, 101])
def test_a_net_of_the_circle_loses_at_most_its_stated_error_and_regret_has_it(points: int) -> None:
    """Over 50 directions: the best point's regret is that of the net, which comes close to 2 - 2 cos(pi / N)."""
    nets = [load("circle")(points=points, seed=seed) for seed in range(50)]
    most = 1 - math.cos(math.pi / points)
    errors = [net.beyond for net in nets]
    assert 0 <= min(errors) <= max(errors) <= most
    assert max(errors) > 0.8 * most
    for net in nets:
        assert net.regret.min() == pytest.approx(2 * net.beyond)
        assert net.regret.max() <= 4
    assert f"{most:.6f}" in nets[0].description


def test_what_is_proved_of_a_champion_has_the_error_of_its_net() -> None:
    """Two points' best loses at least twice the error in every round."""
    net = replace(load("circle")(points=4, seed=2), beyond=0.01)
    bound = DpEbs(variant="champion", epsilon=1.0, horizon=10**6, arms=4).regret_upper_bound(net)
    exact = DpEbs(variant="champion", epsilon=1.0, horizon=10**6, arms=4).regret_upper_bound(replace(net, beyond=0.0))
    assert bound is not None
    assert exact is not None
    assert bound.value >= exact.value + 0.02 * 10**6


@pytest.mark.parametrize("name", ["bradley_terry", "preference_matrix", "sphere", "modechoice"])
def test_a_problem_is_a_table_of_opposite_preferences(name: str) -> None:
    """Rows and columns add up to 1, regret is 0 at the best option and nowhere negative, arrays are read-only."""
    problem = load(name)()
    assert problem.name == name
    assert np.allclose(problem.preferences + problem.preferences.T, 1)
    assert problem.preference_regret[problem.best, problem.best] == 0
    with pytest.raises(ValueError, match="read-only"):
        problem.preferences[0, 0] = 1


def test_the_travellers_are_210_and_their_shares_follow_luce() -> None:
    """58, 63, 30 and 59 chose air, train, bus and car; P(train over bus) = 63 / 93."""
    problem = load("modechoice")()
    assert "210 travellers" in problem.description
    assert problem.names == ("air", "train", "bus", "car")
    assert problem.preferences[1, 2] == pytest.approx(63 / 93)
    assert np.linalg.norm(problem.features, axis=1).max() == pytest.approx(1)
    weighted = load("modechoice")(shares=(0.14, 0.13, 0.09, 0.64))
    assert weighted.labels[weighted.best] == "car"
    assert weighted.preferences[3, 0] == pytest.approx(0.64 / 0.78)


@pytest.mark.parametrize("text", [SOC, OLD], ids=["marked", "unmarked"])
def test_both_layouts_of_preflib_are_read(text: str, written: Callable[..., Any]) -> None:
    """Ten people: six rank shrimp, eel, tuna and four rank tuna, shrimp, eel."""
    held = read_soc(written(text, "toy.soc"))
    assert held.names == ("Shrimp", "Sea eel", "Tuna")
    assert held.people == 10
    assert held.wins().tolist() == [[0, 10, 6], [0, 0, 6], [4, 4, 0]]
    problem = load("preflib")(path=written(text, "toy.soc"), prior=0.0)
    assert problem.preferences[0].tolist() == [0.5, 1.0, 0.6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (SOC.replace("6: 1,2,3", "6: 1,2"), "line 7: expected 'count: a,b,...' with each of the options 1 to 3"),
        (SOC.replace("6: 1,2,3", "6: {1,2},3"), "line 7"),
        (SOC.replace("6: 1,2,3", "six: 1,2,3"), "line 7: expected a positive whole number, of at most 18 digits"),
        (SOC.split("6:", maxsplit=1)[0], "holds no orders"),
        ("# TITLE: x\n1: 1,2\n", "lacks the line '# NUMBER ALTERNATIVES"),
        ("3\n1,a\n", "ends after line 2"),
    ],
)
def test_a_bad_soc_file_names_line_and_rule(text: str, message: str, written: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=message):
        read_soc(written(text, "bad.soc"))


def test_a_log_counts_wins_ties_and_the_busiest_judge(written: Callable[..., Any]) -> None:
    """Ann voted three times; a tie is half a win for either side, or nothing."""
    held = read_log(written(LOG, "log.csv"))
    assert held.names == ("alpha", "beta", "gamma")
    assert held.votes_per_person == 3
    assert held.wins("half").tolist() == [[0, 2, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]]
    assert held.wins("drop").sum() == 2
    lines = '{"model_a": "a", "model_b": "b", "winner": "model_a", "judge": "x"}\n' * 2
    assert read_log(written(lines, "log.jsonl")).votes_per_person == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOG.replace("model_b,ann", "both,ann"), "line 3: winner 'both' is none of"),
        (LOG.replace("winner", "result"), "line 2: lacks winner"),
        ("model_a,model_b,winner\na,a,tie\n", "no votes between two different options"),
    ],
)
def test_a_bad_log_names_line_and_rule(text: str, message: str, written: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=message):
        read_log(written(text, "log.csv"))


def test_a_person_with_several_votes_is_told_the_group_s_epsilon(written: Callable[..., Any]) -> None:
    """Three votes of one person cost three times the delivered 0.4474 of R2 at T = 1000, K = 3."""
    problem = load("comparison_log")(path=written(LOG, "log.csv"))
    config = DpEbs(epsilon=1, horizon=1000, arms=3)
    nodes = config.tree().squared_nodes
    (note,) = person_note(config.declaration(), "replace_one", problem.votes_per_person)
    assert f"up to {problem.votes_per_person}" in note
    assert f"{3 * nodes / 40:.4g}" in note
    assert note in config.notes(problem)


def test_fitted_utilities_reproduce_bradley_terry_counts() -> None:
    """From 10,000 expected duels a pair, utilities come back within 0.01."""
    truth = np.array([0.7, 0.1, -0.8])
    wins = 10_000 * logistic(truth)
    np.fill_diagonal(wins, 0)
    assert fitted_utilities(wins) == pytest.approx(truth - truth.mean(), abs=0.01)


@pytest.mark.parametrize(
    ("table", "message"),
    [([[0.5, 0.9], [0.2, 0.5]], "= 1"), ([[0.5]], "square"), ([[0.5, 1.2], [-0.2, 0.5]], "entries")],
)
def test_a_table_that_is_no_preference_is_refused(table: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Duels(name="x", description="x", preferences=np.array(table))


def test_a_problem_of_another_size_is_refused() -> None:
    from dpaudit import Streams

    with pytest.raises(ValueError, match="arms=3"):
        DpEbs(epsilon=1, horizon=50, arms=3).run(load("bradley_terry")(), Streams.spawn(np.random.default_rng(0)), 1)
