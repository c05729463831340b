"""Lower bounds on epsilon; each module states its evidence, its assumptions and its guarantee."""
