"""How the shuffled reports of one randomiser conclude, above and below."""

from dataclasses import replace

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.composing import node_of
from dpaudit.accounting.derivation.groups import chained
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, either, entered
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.shuffling import data_sets_beside, releases_of, shuffled_above, shuffled_attained
from dpaudit.model.declaration import Shuffle


def shuffled(judgement: Judgement) -> Alternatives:
    """Return one report among those of all users; those of a person's records change one after another."""
    report = join(judgement.part.above)
    return chained((shuffled_above(report, node_of(judgement, Shuffle)),), judgement.move.records)


def reports_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what a report attains beside the data sets of others that are tried."""
    node, report = node_of(judgement, Shuffle), judgement.part.below(asked)
    queries = [asked.query(release) for release in releases_of(node.part)]

    def shown(number: int) -> Found:
        """Return what each query shows that moves its own releases of a report, and no others."""
        return {
            query: tuple(
                replace(
                    plan,
                    composition=shuffled_attained(
                        node, plan.composition, which=tuple(own == query for own in queries), beside=number
                    ),
                )
                for plan in plans
            )
            for query, plans in report.items()
        }

    if not (tried := data_sets_beside(node)):
        return shown(0)
    return either(entered(shown(number), judgement.path, number) for number in range(len(tried)))


def table_attained(judgement: Judgement, asked: Asked) -> Found:
    """Return what one query shows of a table; of several together nobody said which law the record has in each."""
    return {} if asked.together else reports_attained(judgement, asked)
