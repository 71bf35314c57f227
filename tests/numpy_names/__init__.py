"""tf.experimental.numpy: the calls it is tested with, and what TensorFlow answers to them."""
