"""PipelineDP: count, users and sum of a public partition. `[library]`, `object = "pipelinedp_releases:count"`.

Rows are visits: person, place, share of the day, and the date, which no metric reads.
"""

import pipeline_dp

from dpaudit.adapters import adapt

ONE, TWO = [(1, "a", 0.0, "1 May")], [(1, "a", 0.0, "1 May"), (2, "a", 1.0, "2 May")]
LIMITS = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
ASKED = {"neighbours": "add_remove", "pair": (ONE, TWO), "epsilon": 1.0, "delta": 1e-6, "public_partitions": ["a"]}


def count():
    return adapt(pipeline_dp.AggregateParams(metrics=[pipeline_dp.Metrics.COUNT], **LIMITS), **ASKED)


def users():
    return adapt(pipeline_dp.AggregateParams(metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT], **LIMITS), **ASKED)


def total():
    bounded = LIMITS | {"min_value": 0.0, "max_value": 1.0}
    return adapt(pipeline_dp.AggregateParams(metrics=[pipeline_dp.Metrics.SUM], **bounded), **ASKED)
