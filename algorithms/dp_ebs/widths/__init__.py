"""The confidence widths of DP-EBS, and the schedule of its batched variant."""
