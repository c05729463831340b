"""Audits of synthesizers: statistics of synthetic tables, membership as the verdict, disclosure risks beside it."""
