"""What the dueling bandits share: policies without privacy to compare with."""
