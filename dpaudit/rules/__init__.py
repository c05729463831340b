"""The theorems that papers cite, as data: formula, source, premises, and the epsilon each one concludes.

A rule reads a `Step`: a node, the budget printed on it, and what its parts were concluded to cost. It
answers with the smallest epsilon that the theorem gives at the printed delta, and with the premises it
finds broken. `dpaudit.printed.argument` walks a tree with them. A new rule is an entry in one of the three
files, and its words are one in `rules.toml`.
"""

from dpaudit.rules.composition import COMPOSITION_RULES
from dpaudit.rules.releases import RELEASE_RULES, leaf_epsilon
from dpaudit.rules.step import Budget, Rule, Step
from dpaudit.rules.structure import STRUCTURE_RULES

RULES: dict[str, Rule] = {rule.name: rule for rule in (*RELEASE_RULES, *COMPOSITION_RULES, *STRUCTURE_RULES)}
"""Every rule by name."""

RELEASE_NAMES = tuple(rule.name for rule in RELEASE_RULES)
"""The rules about one noisy release."""

SEQUENTIAL = tuple(rule.name for rule in COMPOSITION_RULES)
"""The rules that compose one after another, whatever the tree says."""

__all__ = ["RELEASE_NAMES", "RULES", "SEQUENTIAL", "Budget", "Rule", "Step", "leaf_epsilon"]
