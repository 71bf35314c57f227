"""tf.print: values of tensors in structures, written to a stream, a log or a file."""

import pprint
import sys

import numpy as np

from .core import nest
from .core.convert import convert_to_tensor
from .core.effects import perform
from .core.exports import export, public
from .core.indexed_slices import IndexedSlices
from .core.log import get_logger
from .core.ragged_tensor import RaggedTensor
from .core.sparse_tensor import SparseTensor
from .core.tensor import EagerTensor, Tensor
from .core.variable import Variable

_STREAMS = (
    "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to "
    "be in the form of 'file://<filepath>'."
)
_LEVELS = ("info", "warning", "error")


@export("print")
def print_(*inputs, **kwargs):
    """Prints tensors, Python values and structures of them.

    Args:
        inputs: what to print.
        kwargs: `output_stream`, sys.stderr unless it is sys.stdout, a `"file://"` path to append
            to, or the name of a logging level; `summarize`, how many elements at each end of an
            axis are shown, 3 or -1 for all; `sep`, a space; `end`, a line break; `name`.

    Raises:
        ValueError: there is no such stream or keyword.
    """
    stream = kwargs.pop("output_stream", None)
    kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    write = _writer(stream)
    edge = 3 if summarize is None else summarize
    leaves = nest.flatten(inputs, expand_composites=True)
    tensors = [convert_to_tensor(x) for x in leaves if isinstance(x, (Tensor, Variable))]

    def print_values(*arrays):
        values = iter(arrays)
        shown = [
            EagerTensor(next(values)) if isinstance(x, (Tensor, Variable)) else x for x in leaves
        ]
        items = nest.pack_sequence_as(inputs, shown, expand_composites=True)
        if len(items) == 1 and _is_scalar_string(items[0]):
            text = items[0]._value.item().decode(errors="replace")
        else:
            text = sep.join([_text(item, edge) for item in items])
        write(text + ("\n" if end is None else end))
        return ()

    perform("PrintV2", print_values, tensors)


def _is_scalar_string(item):
    return isinstance(item, Tensor) and item.dtype.name == "string" and item.shape.rank == 0


def _writer(stream):
    """The function that takes the text to where it belongs."""
    # The standard streams are looked up when something is printed: they may be others by then.
    if stream is None or stream is sys.stderr:
        return lambda text: _put(sys.stderr, text)
    if stream is sys.stdout:
        return lambda text: _put(sys.stdout, text)
    if stream in _LEVELS:
        return lambda text: getattr(get_logger(), stream)(text)
    if isinstance(stream, str) and stream.startswith("file://"):
        return lambda text: _append(stream.removeprefix("file://"), text)
    if callable(getattr(stream, "write", None)):
        return lambda text: _put(stream, text)
    level = getattr(stream, "__name__", None)
    if callable(stream) and level in _LEVELS:
        return lambda text: getattr(get_logger(), level)(text)
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
        f"{_STREAMS}"
    )


def _append(path, text):
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def _put(stream, text):
    stream.write(text)
    stream.flush()


class _Verbatim:
    """A tensor inside a structure, which is shown as its text, without quotes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _text(item, edge):
    if isinstance(item, str):
        return item
    if nest.is_nested(item):
        shown = nest.map_structure(lambda leaf: _leaf(leaf, edge), item)
        return pprint.pformat(shown, width=2**31)
    leaf = _leaf(item, edge)
    return leaf.text if isinstance(leaf, _Verbatim) else pprint.pformat(leaf)


def _leaf(item, edge):
    if isinstance(item, RaggedTensor):
        return _Verbatim(_ragged_text(item, edge))
    if isinstance(item, SparseTensor):
        return _Verbatim(_sparse_text(item, edge))
    if isinstance(item, (Tensor, Variable, IndexedSlices)):
        return _Verbatim(tensor_text(np.asarray(convert_to_tensor(item)._value), edge))
    return item


def _ragged_text(ragged, edge):
    if ragged.dtype.name == "string":
        values = ragged.flat_values.numpy()
        texts = np.array([_quoted(item) for item in values.flat], object).reshape(values.shape)
    else:
        texts = public("as_string")(ragged.flat_values).numpy()
        texts = np.array([item.decode() for item in texts.flat], object).reshape(texts.shape)
    return _rows_text(ragged.with_flat_values(_as_strings(texts)).to_list(), edge)


def _quoted(item):
    text = item.decode(errors="replace").replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _as_strings(texts):
    return convert_to_tensor(texts) if texts.size else EagerTensor(texts)


def _rows_text(rows, edge):
    if isinstance(rows, bytes):
        return rows.decode()
    shortened = edge >= 0 and len(rows) > 2 * edge
    kept = [*rows[:edge], *rows[len(rows) - edge :]] if shortened else rows
    shown = [_rows_text(row, edge) for row in kept]
    if shortened:
        shown.insert(edge, "...")
    return f"[{', '.join(shown)}]"


def _sparse_text(sparse, edge):
    parts = [tensor_text(np.asarray(part._value), edge) for part in sparse._components()]
    indices, values, shape = parts
    return f"'SparseTensor(indices={indices}, values={values}, shape={shape})'"


def tensor_text(array, edge):
    """A tensor's value as tf.print shows it; at most `edge` elements at each end of an axis."""
    show = _element_text(array.dtype)
    if not array.ndim:
        return show(array[()])
    return _axis_text(array, edge, show, 1)


def _axis_text(array, edge, show, depth):
    if not array.size and array.shape[0]:
        return "[" + "\n" * (array.ndim - 1) + " " * depth + "...]"
    shortened = edge >= 0 and len(array) > 2 * edge
    rows = [*array[:edge], *array[len(array) - edge :]] if shortened else list(array)
    if array.ndim == 1:
        shown, gap = [show(item) for item in rows], " "
    else:
        shown = [_axis_text(row, edge, show, depth + 1) for row in rows]
        gap = "\n" * (array.ndim - 1) + " " * depth
    if shortened:
        shown.insert(edge, "...")
    return "[" + gap.join(shown) + "]"


def _element_text(dtype):
    if dtype.kind == "O":
        return lambda item: '"' + item.decode(errors="replace") + '"'
    if dtype.kind == "b":
        return lambda item: str(int(item))
    if dtype.kind in "iu":
        return lambda item: str(int(item))
    if dtype.kind == "c":
        return _complex_text
    digits = 17 if dtype.itemsize == 8 else 9
    return lambda item: float_text(item, digits)


def float_text(number, digits):
    """The shortest of a few decimal forms that reads back as the same number."""
    value = float(number)
    if not np.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    kind = np.float64 if digits == 17 else np.float32
    short = f"{value:.{6 if digits == 9 else 15}g}"
    return short if kind(short) == value else f"{value:.{digits}g}"


def _complex_text(number):
    digits = 9 if number.dtype.itemsize == 8 else 17
    return f"({float_text(number.real, digits)},{float_text(number.imag, digits)})"
