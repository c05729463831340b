"""Attacks: scores of a view, one number a run, larger where the second neighbour is likelier."""
