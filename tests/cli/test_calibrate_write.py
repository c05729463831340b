"""`dpaudit calibrate --write`: the noise of the file becomes the smallest that holds, and nothing else changes."""

import json
import re
from pathlib import Path

import pytest

from dpaudit.configuration.source_lines import with_values
from tests.command_line import Write, dpaudit

CLAIM = """\
# A comment that stays.
[claim]
epsilon = 1.0 # nats
delta = 1e-5
neighbours = "replace_one"
unit = 'a "stddev = 3" in a text'

"""
REPEATED = (
    CLAIM
    + """\
[declaration]
node   =  "repeat"
times  =  40 # weeks

[declaration.part]
node = "release"
label = "sums"
mechanism = { name = "gaussian", stddev = 30.0, l2_sensitivity = 1.0 } # of 30.0
"""
)
MIXED = (
    CLAIM
    + """\
[declaration]
node = "sequential"

[[declaration.parts]]
node = "release"
label = "votes"
mechanism = { name = "randomised_response", epsilon = 0.9 }

[[declaration.parts]]
node = "release"
label = "running totals"
[declaration.parts.mechanism]
name = "tree_aggregation"
horizon = 100
leaf = { name = "laplace", scale = 5_0.0, l1_sensitivity = 1.0 }
"""
)
TRAINING = """\
[algorithm]
name = "dp_sgd"
epsilon = 8
delta = 1e-5
noise_multiplier = 3.0
sample_rate = 0.01
steps = 100
"""
COMPUTED = """\
# about
[algorithm]
name = "capri"
model = "joint"
epsilon = 1
delta = 1e-5
horizon = 1000
calibration = "paper"
"""


def test_forty_weeks_get_the_noise_that_holds_and_the_file_stays_as_it_was(write: Write) -> None:
    """30.0 becomes 23.5946, certified; one unit of the last digit less is not. Every other byte is the same."""
    path = write(REPEATED)
    result = dpaudit("calibrate", path, "--write")
    assert result.exit_code == 0
    assert result.stderr == "config.toml: declaration.part.mechanism.stddev = 23.5946, was 30.0\n"
    assert Path(path).read_text(encoding="utf-8") == REPEATED.replace("stddev = 30.0", "stddev = 23.5946")
    assert dpaudit("certify", path).exit_code == 0
    write(REPEATED.replace("stddev = 30.0", "stddev = 23.5945"))
    assert dpaudit("certify", path).exit_code == 1


def test_too_little_noise_becomes_enough_and_a_second_time_changes_nothing(write: Write) -> None:
    """From 3.0 the same number is reached; then there is nothing to write."""
    path = write(REPEATED.replace("stddev = 30.0", "stddev = 3.0"))
    assert dpaudit("certify", path).exit_code == 1
    assert dpaudit("calibrate", path, "--write").exit_code == 0
    assert "stddev = 23.5946," in Path(path).read_text(encoding="utf-8")
    again = dpaudit("calibrate", path, "--write")
    assert again.stderr == "config.toml: nothing to write\n"


def test_every_release_is_changed_in_its_own_direction(write: Write) -> None:
    """The epsilon of a randomised response falls where the scale of a tree's leaf rises; the file is certified then."""
    path = write(MIXED)
    assert dpaudit("certify", path).exit_code == 1
    assert dpaudit("calibrate", path, "--write").exit_code == 0
    text = Path(path).read_text(encoding="utf-8")
    (epsilon,) = re.findall(r"randomised_response\", epsilon = (\S+)", text)
    (scale,) = re.findall(r"scale = ([^,]+)", text)
    assert float(epsilon) < 0.9
    assert float(scale) > 50.0
    assert dpaudit("certify", path).exit_code == 0
    assert text == MIXED.replace("epsilon = 0.9 }", f"epsilon = {epsilon} }}").replace("5_0.0", scale)


def test_json_is_written_as_well(write: Write) -> None:
    """Only the number of a JSON configuration changes."""
    data = {
        "claim": {"epsilon": 1, "neighbours": "replace_one"},
        "declaration": {
            "node": "release",
            "label": "sum",
            "mechanism": {"name": "laplace", "scale": 2.5, "l1_sensitivity": 1},
        },
    }
    text = json.dumps(data, indent=1)
    path = write(text, "config.json")
    assert dpaudit("calibrate", path, "--write").exit_code == 0
    written = Path(path).read_text(encoding="utf-8")
    (scale,) = re.findall(r'"scale": ([^,]+)', written)
    assert 1 <= float(scale) <= 1.00001
    assert written == text.replace("2.5", scale)
    assert dpaudit("certify", path).exit_code == 0


def test_a_training_run_gets_its_noise_multiplier(write: Write) -> None:
    """DP-SGD has the noise as a setting; the certified multiplier is written."""
    path = write(TRAINING)
    assert dpaudit("calibrate", path, "--write").exit_code == 0
    written = Path(path).read_text(encoding="utf-8")
    (multiplier,) = re.findall(r"noise_multiplier = (\S+)", written)
    assert float(multiplier) < 3.0
    assert written == TRAINING.replace("3.0", multiplier)
    assert dpaudit("certify", path).exit_code == 0


def test_noise_that_is_no_key_is_refused_in_one_line(write: Write) -> None:
    """CAPRI computes its noise: exit 2 with the line of [algorithm], and the file stays."""
    path = write(COMPUTED)
    refused = dpaudit("calibrate", path, "--write")
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert refused.stderr == (
        "config.toml:2: [algorithm] capri computes its noise from its claim, so --write has no key to change; "
        "a calibration of the algorithm decides how much it is.\n"
    )
    assert Path(path).read_text(encoding="utf-8") == COMPUTED


def test_a_value_is_found_wherever_it_stands() -> None:
    """Inline tables, lists, quoted and dotted keys; a text that looks like a key is left alone, a table is refused."""
    text = 'a.b = 1 # b = 1\n[t]\n"b" = [{c = 1}, {c = 1, d = "c = 1"}]\n'
    changed = with_values(text, {("t", "b", 1, "c"): "2.5", ("a", "b"): "3"})
    assert changed == 'a.b = 3 # b = 1\n[t]\n"b" = [{c = 1}, {c = 2.5, d = "c = 1"}]\n'
    with pytest.raises(KeyError):
        with_values(text, {("t", "b"): "1"})
