"""Write tensorflow_answers/: what TensorFlow answers to every call the op table's cases make.

Run `make answers`, or, where TensorFlow 2.21 is installed beside what the tests need (hypothesis,
pytest, scipy), from the root of the project:

    PYTHONPATH=src:tests python tests/data/make_tensorflow_answers.py

For each sample of each case it calls `tf.raw_ops` in the sample's dtype and in float32, and records
values and gradients; for each failure, the exception. Lines of tensorflow_expressions.txt are
evaluated too, in float64 and float32, and those of tensorflow_refusals.txt in float32. What
TensorFlow refuses is recorded as refused. At the end the script says what could not be called.
"""

import collections
import os
import warnings
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]
from tensorflow.python.framework import (  # pyright: ignore[reportMissingImports]
    op_def_registry,  # pyright: ignore[reportAttributeAccessIssue]
)

from answers import storage  # pyright: ignore[reportMissingImports]
from answers.calls import NoCallError, call_of, narrowed  # pyright: ignore[reportMissingImports]
from answers.differences import UNRECORDED  # pyright: ignore[reportMissingImports]
from answers.evaluation import answer_of, tensors_of  # pyright: ignore[reportMissingImports]
from answers.expressions import (  # pyright: ignore[reportMissingImports]
    EXPRESSIONS,
    REFUSALS,
    arguments_of,
    function_of,
)
from gradtape.core.op import OPS
from gradtape.on_demand import load_everything
from op_table.cases import cases_by_module  # pyright: ignore[reportMissingImports]


def as_tensorflow_takes_it(op_name, name, call):
    """An argument for TensorFlow: dtypes are its own, tuples lists or, of tensors, arrays."""
    value = call[name]
    if isinstance(value, np.dtype):
        return tf.as_dtype(value)
    if isinstance(value, tuple):
        arguments = op_def_registry.get(op_name).input_arg
        inputs = {arg.name: arg.type_attr for arg in arguments}
        if name not in inputs:
            return list(value)
        fixed = {arg.name: arg.type for arg in arguments if arg.type}
        if name in fixed:
            return tf.constant(np.array(value, tf.as_dtype(fixed[name]).as_numpy_dtype))
        alike = [
            call[other].dtype
            for other, attr in inputs.items()
            if attr and attr == inputs[name] and isinstance(call.get(other), np.ndarray)
        ]
        return tf.constant(np.array(value, alike[0] if alike else np.int32))
    return tensors_of(tf, value)


def answer(op_name, call):
    arguments = {name: as_tensorflow_takes_it(op_name, name, call) for name in call}
    return answer_of(tf, getattr(tf.raw_ops, op_name), arguments)


def record_case(case, skipped):
    """Records of all samples and failures of a case."""
    records = []
    for kind, items in (("sample", case.samples), ("failure", case.failures)):
        for number, item in enumerate(items):
            key = f"{case.op}-{kind}-{number}"
            if key in UNRECORDED:
                skipped[f"{case.op}: {UNRECORDED[key]}"].append(key)
                continue
            try:
                call = call_of(case, item)
                stored = {name: storage.encode(value) for name, value in call.items()}
            except Exception as error:
                reason = str(error) if isinstance(error, NoCallError) else repr(error)
                skipped[f"{case.op}: {reason}"].append(key)
                continue
            record = {"key": key, "op": case.op, "call": stored, "answer": answer(case.op, call)}
            small = narrowed(call) if kind == "sample" else None
            if small is not None:
                record["float32"] = answer(case.op, small)
            records.append(record)
    return records


def record_expression(text, precisions=("float64", "float32")):
    """The record of one expression, in both dtypes."""
    found = {"key": text}
    for name in precisions:
        arguments = arguments_of(tf, text, name)
        found[name] = answer_of(tf, function_of(tf, text), arguments)
    return found


def main():
    warnings.simplefilter("ignore")
    tf.get_logger().setLevel("ERROR")
    load_everything()
    skipped, refused, total = collections.defaultdict(list), [], 0
    for path in Path(storage.FOLDER).glob("*.json.gz"):
        path.unlink()
    for module, cases in cases_by_module().items():
        records = []
        for case in cases:
            op = OPS.get(case.op)
            if op is None or op.raw is False or case.random:
                why = "no row" if op is None else "random" if case.random else "raw=False"
                skipped[f"{case.op}: {why}"].append(case.op)
            elif op_def_registry.get(case.op) is None:
                skipped[f"{case.op}: no op type of TensorFlow"].append(case.op)
            else:
                records += record_case(case, skipped)
        if records:
            content = {"tensorflow": tf.__version__, "records": records}
            total += storage.save(module, content)
            refused += [r for r in records if "sample" in r["key"] and "error" in r["answer"]]
    records = [record_expression(text) for text in EXPRESSIONS]
    total += storage.save("expressions", {"tensorflow": tf.__version__, "records": records})
    refusals = [record_expression(text, ("float32",)) for text in REFUSALS]
    total += storage.save("refusals", {"tensorflow": tf.__version__, "records": refusals})

    for reason, keys in sorted(skipped.items()):
        print(f"not called: {reason} ({len(keys)})")
    for record in refused:
        print(f"refused: {record['key']}: {record['answer']['error']}")
    for record in records:
        if "error" in record["float32"]:
            print(f"refused: {record['key']}: {record['float32']}")
    for record in refusals:
        if "error" not in record["float32"]:
            print(f"accepted: {record['key']}")
    print(f"wrote {total} bytes of answers of TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
