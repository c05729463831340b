"""The proving ground: mechanisms, correct and broken, whose privacy is known, to measure the auditor against.

Imported by nothing else in `audits`; the catalogue, the mutants and their tables are loaded where they are asked for.
"""
