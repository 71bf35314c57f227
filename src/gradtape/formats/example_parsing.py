"""tf.io.parse_example and its kin: tensors of the features of serialized examples."""

import functools

from ..core import dtypes, nest
from ..core.active import thread
from ..core.convert import conversion_error, convert_to_tensor
from ..core.effects import is_deferred, perform, real_value
from ..core.errors import invalid_argument
from ..core.exports import export
from ..graph.examples import Rehearsal
from .example_columns import Columns
from .example_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .example_wire import WireError, features_of

_OP, _SEQUENCE_OP = "ParseExampleV2", "ParseSequenceExampleV2"


@export("io.parse_example")
def parse_example(serialized, features, example_names=None, name=None):
    """The features of serialized `tf.train.Example` messages.

    Args:
        serialized: strings, an example each: a vector, or a scalar.
        features: from the names of features to how they are parsed: FixedLenFeature,
            VarLenFeature, FixedLenSequenceFeature, SparseFeature or RaggedFeature.
        example_names: names of the examples, for messages.
        name: accepted for compatibility.

    Returns:
        A dict of tensors, sparse tensors and ragged tensors.

    Raises:
        InvalidArgumentError: a string is no example, or a feature is missing, or has values of
            another dtype or number.
        ValueError: `features` makes no sense.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    columns = example_columns(features)
    serialized = _strings(serialized, _OP)
    return _run(_OP, serialized, columns)


def example_columns(features):
    """The columns that features of examples make.

    Raises:
        ValueError: one of them makes no sense.
    """
    for feature in features.values():
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
            )
    kinds = VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature
    return Columns(features, kinds, _OP)


@export("io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized `tf.train.Example` message: as `parse_example`.

    Args:
        serialized: a scalar string.
        features: from the names of features to how they are parsed.
        example_names: the name of the example, for messages.
        name: accepted for compatibility.
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be None or empty.")
    return parse_example(_scalar(serialized), features, example_names, name)


@export("io.parse_sequence_example")
def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
):
    """The features of serialized `tf.train.SequenceExample` messages.

    Args:
        serialized: strings, an example each: a vector, or a scalar.
        context_features: from names to how features of the whole are parsed: FixedLenFeature,
            VarLenFeature or RaggedFeature.
        sequence_features: from names to how sequences are parsed: FixedLenSequenceFeature,
            VarLenFeature or RaggedFeature.
        example_names: names of the examples, for messages.
        name: accepted for compatibility.

    Returns:
        Two dicts of tensors, sparse tensors and ragged tensors, and one of the lengths of the
        sequences that are dense.

    Raises:
        InvalidArgumentError: a string is no example, or a feature is missing, or has values of
            another dtype or number.
        ValueError: features make no sense.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one "
            "should have values."
        )
    context = Columns(
        context_features or {}, (VarLenFeature, FixedLenFeature, RaggedFeature), _SEQUENCE_OP
    )
    steps = Columns(
        sequence_features or {},
        (VarLenFeature, FixedLenSequenceFeature, RaggedFeature),
        _SEQUENCE_OP,
        in_steps=True,
    )
    for key, feature in (sequence_features or {}).items():
        if getattr(feature, "default_value", None) is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    serialized = _strings(serialized, _SEQUENCE_OP)

    def in_steps(array, strict):
        return steps.parsed_steps(_entries(array, _SEQUENCE_OP, strict, 2), array.shape, strict)

    found = _run(_SEQUENCE_OP, serialized, context)
    return found, *_at_every_call(_SEQUENCE_OP, serialized, in_steps, steps)


@export("io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """The features of one serialized `tf.train.SequenceExample`: as `parse_sequence_example`.

    Args:
        serialized: a scalar string.
        context_features: from names to how features of the whole are parsed.
        sequence_features: from names to how sequences are parsed.
        example_name: the name of the example, for messages.
        name: accepted for compatibility.

    Returns:
        Two dicts of tensors, sparse tensors and ragged tensors.
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    return parse_sequence_example(
        _scalar(serialized), context_features, sequence_features, example_name, name
    )[:2]


def _strings(serialized, op):
    serialized = convert_to_tensor(serialized)
    if serialized.dtype is not dtypes.string:
        raise conversion_error(serialized, dtypes.string)
    if serialized.shape.rank is not None and serialized.shape.rank > 1:
        raise invalid_argument(op, "Expected serialized to be a vector or a scalar")
    return serialized


def _scalar(serialized):
    serialized = convert_to_tensor(serialized)
    if serialized.shape.rank not in (None, 0):
        raise ValueError("Input serialized must be a scalar")
    return serialized


def parsed(array, columns, op=_OP, strict=True):
    """The tensors that columns make of an array of serialized examples."""
    return columns.parsed(_entries(array, op, strict), array.shape, strict)


def _entries(array, op, strict, field=1):
    """For each example, its features in wire format by name."""
    found = []
    for data in array.ravel().tolist():
        try:
            found.append(features_of(data, field))
        except WireError:
            if strict:
                raise invalid_argument(
                    op, f"Could not parse example input, value: '{data.decode(errors='replace')}'"
                ) from None
            found.append({})
    return found


# In graphs ----------------------------------------------------------------------------------------


def _run(op, serialized, columns):
    """The tensors that columns make of strings."""
    if not is_deferred():
        return parsed(serialized._value, columns, op)
    results = {}
    for is_fixed in (True, False):  # apart, so that shapes that are always the same are known
        part = columns.part(is_fixed)
        if part:
            parse = functools.partial(_parsed_by, part, op)
            results |= _at_every_call(op, serialized, parse, part, is_fixed)
    return columns.in_order(results)


def _parsed_by(columns, op, array, strict):
    return parsed(array, columns, op, strict)


def _at_every_call(op, serialized, parse, columns, is_fixed=False):
    """What a function makes of the array of strings; in a graph, at every call of it.

    The strings that rehearsals have are no examples. What must be there is no matter then, so that
    the shapes of results can be told.
    """
    if not is_deferred():
        return parse(serialized._value, True)
    effects = thread.effects if thread.trace is None else thread.trace.effects
    strict, results = not isinstance(effects, Rehearsal), []

    def run(array):
        result = parse(array, strict)
        results[:] = [result]
        return tuple([x._value for x in nest.flatten(result, expand_composites=True)])

    found = perform(op, run, [serialized], rehearsable=True, fixed=is_fixed)
    strict = True
    structure = results[0] if results else parse(real_value(serialized), False)
    # Datasets tell from it what they know of the shapes of their elements.
    run.open_axes = _open_axes(structure, columns, bool(serialized.shape.rank))
    return nest.pack_sequence_as(structure, found, expand_composites=True)


def _open_axes(structure, columns, is_batch):
    if isinstance(structure, dict):
        return columns.open_axes(structure, is_batch)
    results, lengths = structure
    return columns.open_axes(results, is_batch) + [int(is_batch)] * len(lengths)
