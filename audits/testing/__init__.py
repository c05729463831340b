"""Contract tests for authors of mechanisms, algorithms and functions; usable from any test runner in one line.

from audits.testing import assert_algorithm, assert_function, assert_mechanism
"""

from audits.testing.algorithm import algorithm_checks
from audits.testing.check import Check
from audits.testing.contracts import assert_algorithm, assert_function, assert_mechanism
from audits.testing.frames import neighbouring_frames, neighbouring_lists
from audits.testing.leaks import Leak, smallest_leak
from audits.testing.mechanism import mechanism_checks
from audits.testing.strategies import neighbouring_data_sets, record_values

__all__ = [
    "Check",
    "Leak",
    "algorithm_checks",
    "assert_algorithm",
    "assert_function",
    "assert_mechanism",
    "mechanism_checks",
    "neighbouring_data_sets",
    "neighbouring_frames",
    "neighbouring_lists",
    "record_values",
    "smallest_leak",
]
