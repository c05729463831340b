"""Replay of a user's function on fixed random streams: what its draws, and its outputs without noise, show."""
