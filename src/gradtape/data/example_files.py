"""Datasets of the features of serialized examples."""

import itertools

from ..core import dtypes, nest
from ..core.exports import export
from ..core.spec import TensorSpec
from ..formats.example_parsing import example_columns, parsed
from .batches import batch
from .csv_columns import shuffled_and_repeated
from .dataset import AUTOTUNE, Dataset
from .elements import as_leaf
from .file_reading import FilesInTurn
from .files import list_files
from .mapping import map as map_elements
from .prefetching import prefetch
from .records import TFRecordDataset


class ParseExampleDataset(Dataset):
    def __init__(self, source, features):
        spec = source.element_spec
        if not (
            isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([None], _STRING))
        ):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        super().__init__(source)
        self._input = source
        self._columns = example_columns(features)

    @property
    def element_spec(self):
        return self._columns.specs(self._input.element_spec.shape.as_list())

    def _elements(self):
        return itertools.starmap(self._parsed, self._input._elements())

    def _parsed(self, strings):
        found = nest.flatten(parsed(strings, self._columns))
        return tuple([as_leaf(value) for value in found])

    def _count(self):
        return self._input._count()


_STRING = dtypes.string


@export("data.experimental.parse_example_dataset")
def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """A transformation of datasets of batches of serialized examples: to dicts of features.

    Args:
        features: from names to how features are parsed, as for `tf.io.parse_example`.
        num_parallel_calls: accepted for compatibility.
        deterministic: accepted for compatibility; the order is always the same.

    Raises:
        ValueError: there are no features.
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: ParseExampleDataset(dataset, features)


class _LabelledDataset(Dataset):
    """Dicts as pairs of them, without one key, and of what stands at that key."""

    def __init__(self, source, key):
        super().__init__(source)
        self._input, self._key = source, key
        spec = source.element_spec
        positions = dict(zip(sorted(spec), range(len(spec)), strict=True))
        self._order = [*[i for name, i in positions.items() if name != key], positions[key]]

    @property
    def element_spec(self):
        spec = dict(self._input.element_spec)
        label = spec.pop(self._key)
        return spec, label

    def _elements(self):
        return map(self._rearranged, self._input._elements())

    def _rearranged(self, leaves):
        return tuple([leaves[i] for i in self._order])

    def _count(self):
        return self._input._count()


@export("data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern,
    batch_size,
    features,
    reader=None,
    label_key=None,
    reader_args=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    reader_num_threads=None,
    parser_num_threads=None,
    sloppy_ordering=False,
    drop_final_batch=False,
):
    """A dataset of batches of the features of the examples that files hold, as dicts.

    Args:
        file_pattern: a pattern of paths, or a list of them.
        batch_size: how many examples make a batch.
        features: from names to how features are parsed, as for `tf.io.parse_example`.
        reader: makes a dataset of serialized examples of a file's name; TFRecordDataset by default.
        label_key: a feature that is given by itself: elements are dicts and this feature then.
        reader_args: further arguments of `reader`.
        num_epochs: how often to go through the files; without end by default.
        shuffle: whether files and examples come in random order.
        shuffle_buffer_size: among how many examples the next one is drawn.
        shuffle_seed: what the order follows from.
        prefetch_buffer_size: how many batches to make ahead.
        reader_num_threads: how many files to take examples from in turn.
        parser_num_threads: accepted for compatibility.
        sloppy_ordering: accepted for compatibility; the order is always the same.
        drop_final_batch: whether a last batch of fewer examples is left out.

    Raises:
        InvalidArgumentError: no file matches.
        ValueError: there is no feature `label_key`.
    """
    reader = TFRecordDataset if reader is None else reader
    args = reader_args or ()
    dataset = list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    width = 1 if reader_num_threads is None else reader_num_threads
    dataset = FilesInTurn(dataset, lambda name: reader(name, *args), width)
    spec = dataset.element_spec
    if isinstance(spec, tuple) and [each.dtype for each in spec] == [_STRING, _STRING]:
        dataset = map_elements(dataset, lambda _, value: value)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = batch(dataset, batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = ParseExampleDataset(dataset, features)
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key}) must be one of the `features` keys: "
                f"{features.keys()}."
            )
        dataset = _LabelledDataset(dataset, label_key)
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return prefetch(dataset, ahead)
