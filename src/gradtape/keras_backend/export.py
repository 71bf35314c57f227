"""Exporting for serving: SavedModel and ONNX files are made by other backends."""


class NumpyExportArchive:
    """What Keras's `ExportArchive` is on this backend; gradtape has no format for serving."""

    def track(self, resource):
        raise NotImplementedError(_message("track"))

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        raise NotImplementedError(_message("add_endpoint"))

    def track_and_add_endpoint(self, name, resource, input_signature, **kwargs):
        raise NotImplementedError(_message("track_and_add_endpoint"))

    def add_variable_collection(self, name, variables):
        raise NotImplementedError(_message("add_variable_collection"))

    def write_out(self, filepath, options=None, verbose=True):
        raise NotImplementedError(_message("write_out"))


def _message(function):
    return (
        f"`ExportArchive.{function}` is not supported on gradtape. Save the model with "
        "`model.save('model.keras')`, load the file in Keras on TensorFlow or JAX, and export it "
        "there."
    )
