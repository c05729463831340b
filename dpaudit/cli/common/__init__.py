"""Shared parts of the commands: exit codes, options, output and the words of verdicts."""
