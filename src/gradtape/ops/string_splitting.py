"""Strings taken apart into rows of words, bytes, characters or n-grams."""

import itertools

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.errors import invalid_argument
from ..core.exports import export
from ..core.ragged_tensor import RaggedTensor
from ..core.tensor import EagerTensor
from .arguments import integer
from .ragged import of_lengths, with_ragged_rank
from .strings import STRING, plain_bytes, string_operand


def string_rows(rows, dtype=STRING):
    """A ragged tensor from a list of rows."""
    flat = [item for row in rows for item in row]
    values = np.empty(len(flat), dtype)
    values[:] = flat
    return of_lengths(EagerTensor(values), np.array([len(row) for row in rows], np.int64))


def each_apart(input, function, dtypes_of_rows):
    """Ragged tensors with one more axis: what `function` makes of each string, a tuple of rows.

    A scalar string gives dense vectors.
    """
    input = string_operand(input)
    if isinstance(input, RaggedTensor):
        found = each_apart(input.flat_values, function, dtypes_of_rows)
        return tuple([_around(input, part) for part in found])
    array = np.asarray(input._value)
    results = [function(item) for item in array.reshape(-1)]
    parts = []
    for i, dtype in enumerate(dtypes_of_rows):
        part = string_rows([result[i] for result in results], dtype)
        if not array.ndim:
            part = part.values
        for size in array.shape[:0:-1]:
            part = of_lengths(part, np.full(len(part._lengths) // max(size, 1), size))
        parts.append(part)
    return tuple(parts)


def _around(rows, part):
    """Rows around values that may be ragged, one for each of their flat values."""
    if isinstance(rows.values, RaggedTensor):
        part = _around(rows.values, part)
    return RaggedTensor(part, rows.row_splits, rows._uniform)


@export("strings.split")
def split(input, sep=None, maxsplit=-1, name=None):
    """The words of each string, as one more, ragged axis.

    Args:
        input: the strings.
        sep: what stands between words; any white space if None or empty.
        maxsplit: how many times to cut at most; everywhere if -1.
    """
    joint = None if sep is None else plain_bytes(sep) or None
    return each_apart(input, lambda item: (_words(item, joint, maxsplit),), (STRING,))[0]


def _words(item, joint, maxsplit):
    if joint is None and maxsplit >= 0:
        return item.lstrip().split(None, maxsplit)
    return item.split(joint, maxsplit)


@export("strings.bytes_split")
def bytes_split(input, name=None):
    """The single bytes of each string, as one more, ragged axis."""
    return each_apart(
        input, lambda item: ([item[i : i + 1] for i in range(len(item))],), (STRING,)
    )[0]


@export("strings.ngrams")
def ngrams(
    data, ngram_width, separator=" ", pad_values=None, padding_width=None,
    preserve_short_sequences=False, name=None,
):  # fmt: skip
    """All runs of neighbours along the last axis, each joined to one string.

    Args:
        data: strings, dense or ragged.
        ngram_width: the length of the runs, or a list of lengths.
        separator: what to put between.
        pad_values: what to put before the first and after the last, a string or a pair of them.
        padding_width: how many times; one less than the width if None.
        preserve_short_sequences: whether a row shorter than the width is a run by itself.

    Returns:
        A ragged tensor, or a dense one if `data` is dense.
    """
    widths = ngram_width if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if not all([isinstance(width, int) for width in widths]):
        raise TypeError(f"ngram_width must be integers. Received: {ngram_width}.")
    if min(widths, default=1) < 1:
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    pads = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    left, right = (None, None) if pads is None else [plain_bytes(pad) for pad in pads]
    data = string_operand(data)
    is_ragged, rank = isinstance(data, RaggedTensor), data.ndim
    if not rank:
        raise ValueError("data must have rank 1 or more.")
    rows = data if is_ragged else with_ragged_rank(_two_axes(data), max(rank - 1, 1))
    joint = plain_bytes(separator)

    def runs(row):
        found = []
        for width in widths:
            count = 0 if pads is None else min(width - 1, padding_width or width - 1)
            padded = [left] * count + row + [right] * count
            found += [joint.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if not found and preserve_short_sequences and row:
            count = 0 if pads is None else min(min(widths) - 1, padding_width or min(widths) - 1)
            found = [joint.join([left] * count + row + [right] * count)]
        return found

    result = _innermost(rows, runs)
    if is_ragged:
        return result
    dense = result.to_tensor()
    return dense[0] if rank == 1 else dense


def _two_axes(data):
    return data if data.ndim > 1 else EagerTensor(np.asarray(data._value)[None])


def _innermost(rows, function):
    if isinstance(rows.values, RaggedTensor):
        return rows.with_values(_innermost(rows.values, function))
    items, splits = list(rows.values._value), rows._splits
    return string_rows([function(items[a:b]) for a, b in itertools.pairwise(splits)])


# Unicode ------------------------------------------------------------------------------------------

_OUTPUTS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_ERRORS = ("strict", "replace", "ignore")


def _codec(encoding, op_name):
    import codecs

    try:
        return _OUTPUTS.get(encoding) or codecs.lookup(encoding).name
    except LookupError:
        raise invalid_argument(
            op_name, f"Could not create converter for input encoding: {encoding}"
        ) from None


def code_points(item, codec, errors, replacement, control, op_name):
    """The code points of a string, and where each begins in it."""
    if errors not in _ERRORS:
        raise invalid_argument(
            op_name,
            f"Value for attr 'errors' of \"{errors}\" is not in the list of allowed values: "
            '"strict", "replace", "ignore"',
        )
    points, offsets, at = [], [], 0
    while at < len(item):
        try:
            text = item[at:].decode(codec)
            bad = None
        except UnicodeDecodeError as error:
            text, bad = item[at : at + error.start].decode(codec), error
        for character in text:
            points.append(ord(character))
            offsets.append(at)
            at += len(character.encode(codec))
        if bad is None:
            break
        if errors == "strict":
            raise invalid_argument(op_name, "Invalid formatting on input string")
        if errors == "replace":
            points.append(replacement)
            offsets.append(at)
        at += bad.end - bad.start
    if control:
        points = [replacement if _is_control(point) else point for point in points]
    return points, offsets


def _is_control(point):
    return point <= 0x1F or 0x7F <= point <= 0x9F


def _decoded(input, encoding, errors, replacement_char, control, dtypes_of_rows, pick):
    codec = _codec(encoding, "UnicodeDecode")
    replacement = integer(replacement_char, "UnicodeDecode")

    def parts(item):
        return pick(*code_points(item, codec, errors, replacement, control, "UnicodeDecode"))

    return each_apart(input, parts, dtypes_of_rows)


@export("strings.unicode_decode")
def unicode_decode(
    input, input_encoding, errors="replace", replacement_char=65533,
    replace_control_characters=False, name=None,
):  # fmt: skip
    """The code points of each string, as one more, ragged axis.

    Args:
        input: the strings.
        input_encoding: how they are encoded, as "UTF-8".
        errors: what to do where they are not: "replace", "ignore", or "strict" to raise.
        replacement_char: the code point that replaces.
        replace_control_characters: whether to replace control characters too.

    Raises:
        InvalidArgumentError: there is no such encoding, or a string breaks it.
    """
    return _decoded(
        input, input_encoding, errors, replacement_char, replace_control_characters,
        (np.int32,), lambda points, offsets: (points,),
    )[0]  # fmt: skip


@export("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533,
    replace_control_characters=False, name=None,
):  # fmt: skip
    """The code points of each string, and the byte at which each begins."""
    return _decoded(
        input, input_encoding, errors, replacement_char, replace_control_characters,
        (np.int32, np.int64), lambda points, offsets: (points, offsets),
    )  # fmt: skip


def _characters(codec):
    return lambda points: [chr(point).encode(codec) for point in points]


@export("strings.unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """The characters of each string, as one more, ragged axis of strings."""
    encoded = _characters(_codec(input_encoding, "UnicodeDecode"))
    return _decoded(
        input, input_encoding, errors, replacement_char, False, (STRING,),
        lambda points, offsets: (encoded(points),),
    )[0]  # fmt: skip


@export("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, name=None
):
    """The characters of each string, and the byte at which each begins."""
    encoded = _characters(_codec(input_encoding, "UnicodeDecode"))
    return _decoded(
        input, input_encoding, errors, replacement_char, False, (STRING, np.int64),
        lambda points, offsets: (encoded(points), offsets),
    )  # fmt: skip


def _check_output(encoding, op_name):
    if encoding not in _OUTPUTS:
        raise invalid_argument(
            op_name,
            f"Value for attr 'output_encoding' of \"{encoding}\" is not in the list of allowed "
            'values: "UTF-8", "UTF-16-BE", "UTF-32-BE"',
        )
    return _OUTPUTS[encoding]


def _encoded(points, codec, errors, replacement):
    text = []
    for point in points:
        if 0 <= point < 0xD800 or 0xDFFF < point <= 0x10FFFF:
            text.append(chr(point))
        elif errors == "strict":
            raise invalid_argument(
                "UnicodeEncode", "Code point is out of range for Unicode, or is a surrogate."
            )
        elif errors == "replace":
            text.append(chr(replacement))
    return "".join(text).encode(codec)


@export("strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """The strings that rows of code points along the last axis spell.

    Args:
        input: integers, dense or ragged.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: what to do with numbers that are no code points.
        replacement_char: the code point that replaces them.
    """
    codec = _check_output(output_encoding, "UnicodeEncode")
    replacement = integer(replacement_char, "UnicodeEncode")
    if not isinstance(input, RaggedTensor):
        array = np.asarray(convert_to_tensor(input, None if hasattr(input, "dtype") else "int32"))
        if not array.ndim:
            raise ValueError("input_tensor's rank must be at least 1.")
        out = np.empty(array.shape[:-1], STRING)
        for place in np.ndindex(out.shape):
            out[place] = _encoded(array[place].tolist(), codec, errors, replacement)
        return EagerTensor(out)
    if isinstance(input.values, RaggedTensor):
        return input.with_values(
            unicode_encode(input.values, output_encoding, errors, replacement_char)
        )
    out = np.empty(input._nrows, STRING)
    out[:] = [_encoded(row, codec, errors, replacement) for row in input.to_list()]
    return EagerTensor(out)


@export("strings.unicode_transcode")
def unicode_transcode(
    input, input_encoding, output_encoding, errors="replace", replacement_char=65533,
    replace_control_characters=False, name=None,
):  # fmt: skip
    """Each string in another encoding.

    Args:
        input: the strings.
        input_encoding: how they are encoded.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: what to do where they are not: "replace", "ignore", or "strict" to raise.
        replacement_char: the code point that replaces.
        replace_control_characters: whether to replace control characters too.
    """
    source, goal = _codec(input_encoding, "UnicodeTranscode"), _check_output(
        output_encoding, "UnicodeTranscode"
    )  # fmt: skip
    replacement = integer(replacement_char, "UnicodeTranscode")

    def transcoded(item):
        points, _ = code_points(
            item, source, errors, replacement, replace_control_characters, "UnicodeTranscode"
        )
        return _encoded(points, goal, errors, replacement)

    input = string_operand(input)
    flat = input.flat_values if isinstance(input, RaggedTensor) else input
    array = np.asarray(flat._value)
    out = np.empty(array.size, STRING)
    out[:] = [transcoded(item) for item in array.reshape(-1)]
    result = EagerTensor(out.reshape(array.shape))
    return input.with_flat_values(result) if isinstance(input, RaggedTensor) else result
