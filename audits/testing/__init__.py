"""Contract tests for authors of mechanisms, algorithms and functions; usable from any test runner in one line.

from audits.testing import assert_algorithm, assert_function, assert_mechanism
"""

from audits.testing.algorithm import algorithm_checks as algorithm_checks
from audits.testing.check import Check as Check
from audits.testing.contracts import assert_algorithm as assert_algorithm
from audits.testing.contracts import assert_function as assert_function
from audits.testing.contracts import assert_mechanism as assert_mechanism
from audits.testing.frames import neighbouring_frames as neighbouring_frames
from audits.testing.frames import neighbouring_lists as neighbouring_lists
from audits.testing.leaks import Leak as Leak
from audits.testing.leaks import smallest_leak as smallest_leak
from audits.testing.mechanism import mechanism_checks as mechanism_checks
from audits.testing.strategies import neighbouring_data_sets as neighbouring_data_sets
from audits.testing.strategies import record_values as record_values
