"""Loads parts of the library when one of their names is first asked for.

Importing all of it takes longer than importing NumPy does, and most programs need few of its
files. Those that every program needs are imported at once; the others by topic.
"""

import sys
import threading
from importlib import import_module

from .core import op as op_table
from .core.exports import PUBLIC, set_load
from .namespaces import make_module, publish

_PACKAGE = __name__.rpartition(".")[0]

# By topic: the files, and the namespaces they have names in. Names at the top may be in any.
_TOPICS = {
    "arrays": (
        "ops.bits ops.blocks ops.counting ops.partition ops.reversal ops.searching ops.uniqueness",
        "",
    ),
    "control": ("control_flow iteration printing python_functions tensor_array", ""),
    "function": (
        "graph.default_graph graph.function graph.gradients",
        "types types.experimental",
    ),
    "variables": ("initial_values", ""),
    "math": (
        "ops.bessel ops.counting ops.integrals ops.inverse_permutation ops.polynomials "
        "ops.ranking ops.segment ops.sobol ops.truncation",
        "math.special",
    ),
    "linalg": (
        "ops.banded ops.determinants ops.diagonals ops.eig ops.eigen ops.factorizations "
        "ops.iterative_solvers ops.least_squares ops.lu_solvers ops.matrix_functions ops.solvers "
        "ops.tensor_diagonals ops.tridiagonal_eigen",
        "linalg linalg.experimental",
    ),
    "nn": (
        "ops.blocks ops.candidate_sampling ops.convolution_api ops.ctc ops.ctc_decoding "
        "ops.isotonic ops.local_response ops.moments ops.patches ops.pooling_api ops.ranking "
        "ops.sampled_losses ops.space_batches ops.sparse_embedding",
        "nn",
    ),
    "image": (
        "ops.boxes ops.colors ops.crops ops.image_quality ops.patches "
        "ops.random_image ops.resize ops.suppression formats.jpeg_quality formats.pictures",
        "image",
    ),
    "signal": ("ops.fourier ops.fourier_any_axes ops.spectral ops.taper_windows", "signal"),
    "quantization": ("ops.quantization", "quantization"),
    "debugging": ("assertions settings ops.finite_checks", "debugging"),
    "config": (
        "devices numpy_switch settings",
        "config config.experimental config.optimizer config.threading",
    ),
    "lookup": ("hash_tables table_initializers", "lookup lookup.experimental"),
    "profiler": ("profiling", "profiler profiler.experimental"),
    "facts": (
        "facts tensor_conversions test_cases",
        "autograph autograph.experimental compat sysconfig test version",
    ),
    "sparse": (
        "core.sparse_tensor ops.feature_crosses ops.segment ops.sets ops.sparse ops.sparse_math "
        "ops.sampled_products ops.sparse_serialization",
        "sets sparse",
    ),
    "ragged": (
        "core.ragged_tensor ops.feature_crosses ops.ragged_conversion ops.ragged_functions "
        "ops.ragged_parts ops.ragged_reduction",
        "ragged",
    ),
    "strings": (
        "ops.string_buckets ops.string_joining ops.string_splitting ops.strings",
        "strings",
    ),
    "data": (
        "data data.dataset data.sources data.selection data.batches data.mapping data.generators "
        "data.queries data.shuffling data.sampling data.resampling data.caching data.saving "
        "data.snapshots data.fingerprints data.padding data.uneven data.rebatching data.windows "
        "data.combining data.grouping data.buckets data.reducers data.random_access "
        "data.flattening data.reduction data.prefetching data.options data.errors_ignored "
        "data.tables data.files data.records data.csv_files data.csv_columns data.sql "
        "data.example_files data.specs data.optional data.variants data.initializers",
        "",
    ),
    "op types": ("ops.op_type_functions", ""),
    "raw_ops": ("raw_ops", ""),
    "experimental": ("experimental experimental.names", ""),
    "io": (
        "formats.audio formats.decoding formats.files formats.pictures formats.proto_decoding "
        "formats.tensor_proto formats.tfrecords formats.example_features formats.example_parsing "
        "ops.sparse_serialization",
        "audio io io.gfile",
    ),
    "train": ("formats.examples", "train"),
}

# Classes that other files of their topic add methods to; public when those are loaded too.
_HOMES = {"RaggedTensor": "ragged", "SparseTensor": "sparse", "sparse.SparseTensor": "sparse"}

_loaded = set()
_lock = threading.RLock()


def make_namespaces():
    """Makes the modules of all topics, still empty, so that they can be imported by name."""
    for _, namespaces in _TOPICS.values():
        for path in namespaces.split():
            make_module(_root(), path)


def provide(dotted):
    """Loads topics until there is a public name `dotted`; says whether there is one."""
    namespace = dotted.rpartition(".")[0]
    likely = [topic for topic, (_, served) in _TOPICS.items() if namespace in served.split()]
    likely += [topic for topic in _TOPICS if topic in (dotted, namespace)]
    if dotted in _HOMES:
        _load(_HOMES[dotted])
    for topic in (*likely, *_TOPICS):
        if dotted in PUBLIC:
            break
        _load(topic)
    return dotted in PUBLIC


def load_everything():
    """Loads all topics."""
    for topic in _TOPICS:
        _load(topic)


def _load(topic):
    with _lock:  # a second thread must wait until the names are there
        if topic in _loaded:
            return
        _loaded.add(topic)
        try:
            for name in _TOPICS[topic][0].split():
                import_module(f"{_PACKAGE}.{name}")
        except BaseException:
            _loaded.discard(topic)
            raise
        publish(_root(), {n: PUBLIC[n] for n in PUBLIC if _HOMES.get(n, topic) in _loaded})


def _root():
    return sys.modules[_PACKAGE]


op_table.declare_the_rest = load_everything
set_load(provide)
