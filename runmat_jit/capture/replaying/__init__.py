"""What a recording leaves, and how it is repeated: steps, segments, trees."""
