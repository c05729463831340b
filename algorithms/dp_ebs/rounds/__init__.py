"""The rounds of DP-EBS: in lock-step over runs, from removal to removal for one long run, and in batches."""
