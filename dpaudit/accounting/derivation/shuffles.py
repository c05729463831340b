"""How the shuffled reports of one randomiser conclude, above and below."""

from functools import partial

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import chained
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, each, either, entered
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.shuffling import data_sets_beside, shuffled_above, shuffled_attained
from dpaudit.model.declaration import Shuffle


def shuffled(judgement: Judgement) -> Alternatives:
    """Return one report among those of all users; those of a person's records change one after another."""
    report = join(judgement.part.above)
    return chained((shuffled_above(report, node_of(judgement, Shuffle)),), judgement.move.records)


def reports_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a report attains beside the data sets of others that are tried."""
    node, report = node_of(judgement, Shuffle), judgement.part.below(asked)
    if not (tried := data_sets_beside(node)):
        return each(report, partial(shuffled_attained, node))
    ways = {number: each(report, partial(shuffled_attained, node, beside=number)) for number in range(len(tried))}
    return either(entered(way, judgement.path, number) for number, way in ways.items())
