"""python-dp: a sum, a count and a partition strategy. `[library]`, `object = "python_dp_releases:total"`."""

from pydp.algorithms import laplacian, partition_selection

from dpaudit.adapters import adapt


def total():
    bounds = {"lower_bound": 1, "upper_bound": 10}
    return adapt(laplacian.BoundedSum, neighbours="add_remove", pair=([1], [1, 10]), epsilon=1.0, dtype="int", **bounds)


def count():
    return adapt(laplacian.Count, neighbours="add_remove", pair=([1], [1, 5]), epsilon=1.0, dtype="int")


def partition():
    strategy = partition_selection.create_truncated_geometric_partition_strategy
    return adapt(strategy, neighbours="add_remove", pair=(2, 3), epsilon=1.0, delta=0.01, max_partitions_contributed=1)
