"""How the best of a secret number of runs concludes."""

from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.selection import best_above
from dpaudit.model.declaration import BestOf
from dpaudit.model.losses import Composition


def best(judgement: Judgement) -> Alternatives:
    """Return the best run of a part, which is read for all records of a person that move together."""
    count = RunCount.of(node_of(judgement, BestOf))
    return (Composition.of(best_above(judgement.part.of_the_run, count)),)
