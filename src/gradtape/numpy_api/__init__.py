"""NumPy's functions on tensors: what stands behind tf.experimental.numpy."""
