"""`dpaudit explain NODE --instance` plays a tiny instance of a node in plain words."""

import json

import pytest

from dpaudit.accounting.derivation.whitelist import ALLOWED
from dpaudit.model.node_kinds import NODES
from dpaudit.render.instance import INSTANCES
from tests.command_line import dpaudit


def test_every_node_and_every_scheme_has_an_instance() -> None:
    """What may stand in a declaration can be played; what somebody else states has no law, and a table is a report."""
    names = {name.replace(" ", "_") for name in {*NODES, *ALLOWED}}
    assert names - {"subsample", "stated", "shuffled_table"} == {*INSTANCES}


@pytest.mark.parametrize("name", INSTANCES)
def test_an_instance_is_played_in_words(name: str) -> None:
    """Each instance shows its data sets, what is asked and what is seen."""
    told = dpaudit("explain", name.replace("_", "-"), "--instance")
    assert told.exit_code == 0
    for word in ("the data set is", "the adversary asks", "View", "Value at epsilon 0.5"):
        assert word in told.stdout


def test_the_instance_of_a_poisson_sample_has_the_value_by_hand() -> None:
    """At epsilon 0 a record that is drawn at rate .3 and answered truly at .9 is worth .3 times .8."""
    data = json.loads(dpaudit("explain", "poisson", "--instance", "--epsilon", "0", "--format", "json").stdout)
    assert [(game["relation"], round(game["value"], 12)) for game in data["games"]] == [
        ("add_remove", 0.24),
        ("zero_out", 0.24),
        ("replace_one", 0.24),
    ]
    assert any("0.34 under P, 0.1 under Q, in S" in line for line in data["games"][0]["lines"])


def test_the_instance_of_no_node_is_refused() -> None:
    """A name without an instance is a usage error, and the message lists those that have one."""
    refused = dpaudit("explain", "pate", "--instance")
    assert refused.exit_code == 2
    assert "no node with an instance" in refused.stderr
