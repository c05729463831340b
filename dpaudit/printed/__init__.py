"""The printed argument of a paper: replayed rule by rule, and compared with the tight bracket factor by factor."""
