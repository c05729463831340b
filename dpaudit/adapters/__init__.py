"""Adapters: from an object of another library to its claim, its declaration, and a function that an audit can run.

A library is imported in its own adapter only, when one of its objects is adapted.
"""

from dpaudit.adapters.finding import ADAPTERS, adapt
from dpaudit.adapters.release import Adapter, LibraryRelease, Question

__all__ = ["ADAPTERS", "Adapter", "LibraryRelease", "Question", "adapt"]
