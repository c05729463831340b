"""Shuffled reports of all users, derived again."""
