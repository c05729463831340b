"""Attacks: each turns what an adversary sees into one number a run, larger where the second neighbour is likelier."""
