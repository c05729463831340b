"""What the dueling bandits share: their claim, voters, checks, notes, logistic regression and public baselines."""
