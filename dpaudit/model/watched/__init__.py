"""What a watched training loop reports, and what a replay prescribes to it."""
