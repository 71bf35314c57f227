"""The measured computations: one file of shared data, one file per way of writing them."""
