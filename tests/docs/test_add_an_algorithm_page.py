"""The page on adding an algorithm: its skeleton is certified, admitted and audited, and its table is complete."""

import re
import sys
import types
from pathlib import Path

import numpy as np

import algorithms
from audits import audit_case
from dpaudit import Streams, admit, certify
from dpaudit.model.algorithm import Algorithm

PAGE = (Path(algorithms.__file__).parents[1] / "docs" / "how_to" / "add_an_algorithm.md").read_text(encoding="utf-8")


def test_the_skeleton_is_certified_admitted_and_consistent(monkeypatch):
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    module = types.ModuleType("algorithms.noisy_sum")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, "add_an_algorithm.md", "exec"), module.__dict__)  # noqa: S102 - our own page
    made, problem = module.NoisySum(epsilon=1.0), (0.1, 2.0)
    assert isinstance(made, Algorithm)
    certificate = certify(made.declaration(), made.claim())
    assert certificate.verdict == "certified"
    run = made.run(problem, Streams.spawn(np.random.default_rng(1)), 5)
    assert admit(made.declaration(), run.trace) == ()
    (case,) = made.cases(problem)
    upper = certificate.tight.epsilon.upper
    found = audit_case(case, made.claim(), runs=20_000, rng=np.random.default_rng(1), certified=upper)
    assert found.verdict == "consistent"
    assert made.notes(problem) == ()


def test_the_table_names_every_member_of_the_protocol():
    named = set(re.findall(r"^\| `(\w+)\(", PAGE, flags=re.MULTILINE))
    assert named == {name for name in vars(Algorithm) if not name.startswith("_")}
