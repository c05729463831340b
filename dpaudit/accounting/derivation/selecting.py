"""How the best of a secret number of runs concludes, above and below."""

from collections.abc import Iterable, Iterator
from functools import partial

from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, each, either, entered
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.selection import best_above
from dpaudit.accounting.worst_scores import SCORES, best_attained
from dpaudit.model.declaration import BestOf
from dpaudit.model.losses import Composition


def best(judgement: Judgement) -> Alternatives:
    """Return the best run of a part, which is read for all records of a person that move together."""
    count = RunCount.of(node_of(judgement, BestOf))
    return (Composition.of(best_above(judgement.part.of_the_run, count)),)


def best_run_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what one query shows of the best run under scores that are tried; nothing where the author names a score.

    Of several queries that a pair moves together nothing is known.
    """
    node = node_of(judgement, BestOf)
    if node.scores == "named" or asked.together:
        return {}
    run, count, pieces = judgement.part.below(asked), RunCount.of(node), node.scores == "any_setting"

    def shown(scores: Iterable[int]) -> Iterator[Found]:
        """Yield what each score shows; where one shows nothing, those of larger epsilons do not either."""
        for score in scores:
            way = each(run, partial(best_attained, count=count, score=score, pieces=pieces))
            if not any(plan.composition.parts for plans in way.values() for plan in plans):
                return
            yield entered(way, judgement.path, score)

    return either([*shown(range(SCORES // 2)), *shown(range(SCORES // 2, SCORES))])
