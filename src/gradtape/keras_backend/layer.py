"""What Keras's layers inherit from their backend."""


class NumpyLayer:
    """The base that `keras.Layer` asks of a backend: layers need nothing beyond Keras itself."""
