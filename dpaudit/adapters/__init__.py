"""Adapters: from an object of another library to its claim, its declaration, and a function that an audit can run.

A library is imported in its own adapter only, when one of its objects is adapted.
"""

from dpaudit.adapters.finding import ADAPTERS as ADAPTERS
from dpaudit.adapters.finding import adapt as adapt
from dpaudit.adapters.release import Adapter as Adapter
from dpaudit.adapters.release import LibraryRelease as LibraryRelease
from dpaudit.adapters.release import Question as Question
