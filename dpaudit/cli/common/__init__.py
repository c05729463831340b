"""What commands share: exit codes, options, output and the words of verdicts."""
