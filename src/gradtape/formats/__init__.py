"""Files, encoded pictures and sounds, and tensors as bytes."""
