"""tf.train.Example and its kin: the messages that TFRecord files of features hold."""

from ..core.exports import export
from .messages import Field, Message


@export("train.BytesList")
class BytesList(Message):
    """The strings of a feature, in `value`."""

    __slots__ = ()
    _fields = {"value": Field(1, "bytes", "list")}  # noqa: RUF012


@export("train.FloatList")
class FloatList(Message):
    """The numbers of a feature, in `value`, as float32."""

    __slots__ = ()
    _fields = {"value": Field(1, "float", "list")}  # noqa: RUF012


@export("train.Int64List")
class Int64List(Message):
    """The integers of a feature, in `value`."""

    __slots__ = ()
    _fields = {"value": Field(1, "int64", "list")}  # noqa: RUF012


@export("train.Feature")
class Feature(Message):
    """A feature: one of `bytes_list`, `float_list` and `int64_list`.

    Example:
        >>> Feature(int64_list=Int64List(value=[1, 2])).int64_list.value
        [1, 2]
    """

    __slots__ = ()
    _fields = {  # noqa: RUF012
        "bytes_list": Field(1, BytesList),
        "float_list": Field(2, FloatList),
        "int64_list": Field(3, Int64List),
    }
    _groups = {"kind": ("bytes_list", "float_list", "int64_list")}  # noqa: RUF012


@export("train.Features")
class Features(Message):
    """Features by name, in `feature`."""

    __slots__ = ()
    _fields = {"feature": Field(1, Feature, "map")}  # noqa: RUF012


@export("train.Example")
class Example(Message):
    """An example: its `features`."""

    __slots__ = ()
    _fields = {"features": Field(1, Features)}  # noqa: RUF012


@export("train.FeatureList")
class FeatureList(Message):
    """The features of the steps of a sequence, in `feature`."""

    __slots__ = ()
    _fields = {"feature": Field(1, Feature, "messages")}  # noqa: RUF012


@export("train.FeatureLists")
class FeatureLists(Message):
    """Sequences of features by name, in `feature_list`."""

    __slots__ = ()
    _fields = {"feature_list": Field(1, FeatureList, "map")}  # noqa: RUF012


@export("train.SequenceExample")
class SequenceExample(Message):
    """An example of sequences: features of all of it, `context`, and `feature_lists`."""

    __slots__ = ()
    _fields = {  # noqa: RUF012
        "context": Field(1, Features),
        "feature_lists": Field(2, FeatureLists),
    }
