"""Shared parts of the dueling bandits: claim, voters, checks, notes, logistic regression and public baselines."""
