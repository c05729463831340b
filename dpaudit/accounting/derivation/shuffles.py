"""How the shuffled reports of one randomiser conclude, above and below."""

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import chained
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, each
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.shuffling import shuffled_above, shuffled_attained
from dpaudit.model.declaration import Shuffle


def shuffled(judgement: Judgement) -> Alternatives:
    """Return one report among those of all users; those of a person's records change one after another."""
    report = join(judgement.part.above)
    return chained((shuffled_above(report, node_of(judgement, Shuffle)),), judgement.move.records)


def reports_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a report attains beside users who all hold one value."""
    node = node_of(judgement, Shuffle)
    return each(judgement.part.below(asked), lambda composition: shuffled_attained(node, composition))
