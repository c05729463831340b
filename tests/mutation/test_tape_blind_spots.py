"""Defects that a tape hides or that few elements show: replays find them, and say nothing about sound programs."""

from pathlib import Path

import pytest

from audits import replay_program
from tests.mutation.planting import Source, planted
from tests.mutation.test_checked import subject

TREE = "algorithms._traced_tree:TracedTree.__call__"
STEP = "mechanisms.tree_aggregation:TreeCounter.step"
DRAWN = "self._sum + self._noise[level]"
DEFECTS: tuple[tuple[str, str, Source, str], ...] = (
    (
        "all trees draw from copies of one stream",
        "pucb",
        Source(
            target=TREE,
            old="element.shape, self.recorder.rng",
            new="element.shape, __import__('copy').deepcopy(self.recorder.rng)",
        ),
        "DPA214",
    ),
    (
        "the ninth element carries four fifths of its noise",
        "pucb",
        Source(target=STEP, old=DRAWN, new=f"{DRAWN} * (0.8 if self.length == 9 else 1.0)"),
        "DPA229",
    ),
    (
        "the last element carries nine tenths of its noise",
        "ucrl joint",
        Source(target=STEP, old=DRAWN, new=f"{DRAWN} * (0.9 if self.length == self.tree.horizon else 1.0)"),
        "DPA229",
    ),
    (
        "high nodes of a tree drop what they carry",
        "ucrl joint",
        Source(
            target=STEP,
            old="if parent else 0",
            new="if parent and self.length & 15 else 0",
        ),
        "DPA229",
    ),
    (
        "features are bounded by their largest entry",
        "lsvi",
        Source(target="algorithms.lsvi_ucb.learner:_bounded", old="np.linalg.norm(finite)", new="np.abs(finite).max()"),
        "DPA220",
    ),
    (
        "the sum of all messages carries the noise of one message less",
        "capri local",
        Source(target="algorithms.capri.releases:release_messages", old="math.sqrt(users)", new="math.sqrt(users - 1)"),
        "DPA229",
    ),
    (
        "a message leaves its zeros exact",
        "capri local",
        Source(
            target="algorithms.capri.releases:message",
            old="return recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors)",
            new="exact = np.asarray(rewards)[:, None] * vectors\n"
            "    return np.where(exact == 0, 0.0, recorder.release(label, mechanism, exact))",
        ),
        "DPA224",
    ),
)


def rules_of(configuration: str, folder: Path) -> set[str]:
    """Return the rules of the findings of all replays."""
    found = subject(configuration, folder)
    return {f.rule for f in replay_program(found.algorithm, found.problem, found.declaration, ()).findings}


@pytest.mark.parametrize(
    ("configuration", "defect", "rule"), [row[1:] for row in DEFECTS], ids=[row[0] for row in DEFECTS]
)
def test_replays_find_what_one_tape_hides(configuration: str, defect: Source, rule: str, tmp_path: Path) -> None:
    """The replays name the rule."""
    subject(configuration, tmp_path)  # before the defect, which a first import would keep
    with planted(defect):
        assert rule in rules_of(configuration, tmp_path)


@pytest.mark.parametrize("configuration", sorted({row[1] for row in DEFECTS}))
def test_replays_say_nothing_about_sound_programs(configuration: str, tmp_path: Path) -> None:
    """The same replays without a defect."""
    assert rules_of(configuration, tmp_path) == set()
