"""An audit of normal scores, and a configuration that names its result: what other folders show and check."""

from typing import Any

import numpy as np

from audits import audit_scores
from dpaudit import Claim
from dpaudit.model.scores_result import ScoresResult

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
CONFIGURATION = """[evidence]
scores = ["scores.json"]
[claim]
epsilon = 1.0
neighbours = "add_remove"
[declaration]
node = "release"
label = "count"
mechanism = { name = "laplace", scale = 1.0, l1_sensitivity = 1.0 }
"""


def scored(shift: float = 0.5, claim: Claim = CLAIM, **settings: Any) -> ScoresResult:
    """Return an audit of normal scores, 400 of each kind, at distance `shift`."""
    rng = np.random.default_rng(3)
    ins, outs = rng.normal(shift, 1, 400), rng.normal(0, 1, 400)
    return audit_scores(ins, outs, claim, **{"sampling": "runs", "rng": rng, **settings})
