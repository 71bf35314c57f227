"""Dtypes that operators give after experimental_enable_numpy_behavior, printed as JSON.

Run in a process of its own, for it changes the whole library: `promotion.py gradtape safe`.
"""

import importlib
import json
import operator
import sys

import numpy as np

DTYPES = """
bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64
complex128
"""
NUMBERS = {"1": 1, "1.5": 1.5, "2j": 2j, "[1.5, 2]": [1.5, 2], "float64 array": np.ones(2)}
OPERATORS = ["add", "sub", "truediv", "floordiv", "mod", "pow", "eq"]
METHODS = """
x.T
x.T.numpy().tolist()
x.reshape(3, 2).numpy().tolist()
x.reshape((3, 2)).shape.as_list()
x.reshape(-1).shape.as_list()
x.reshape([3, 2], order="F").numpy().tolist()
x.ravel().numpy().tolist()
x.flatten().shape.as_list()
x.clip(0, 1).numpy().tolist()
x.clip(None, 0.5).numpy().tolist()
x.astype(np.int32)
x.astype("float64")
x.astype(float)
x.transpose()
x.transpose((1, 0)).shape.as_list()
x.max().numpy().item()
x.max(axis=0).numpy().tolist()
x.min().numpy().item()
x.mean()
x.mean(0).numpy().tolist()
i.mean()
x.data
int(x.size)
x.tolist()
x.sum()
x.item()
+x
x[[1, 0]].numpy().tolist()
x[i[0]].numpy().tolist()
x[np.array([1])].numpy().tolist()
x[[0, 1], [2, 0]].numpy().tolist()
x[:, [2, 0]].numpy().tolist()
x[..., [1]].shape.as_list()
x[x > 2].numpy().tolist()
x[[True, False]].numpy().tolist()
x[[[0], [1]], [0, 2]].numpy().tolist()
x[None, [1]].shape.as_list()
t[[0], :, [1]].shape.as_list()
t[:, [0, 1], [1]].shape.as_list()
t[0, :, [1, 0]].shape.as_list()
x[-1, [-1, 0]].numpy().tolist()
x[[5]]
tf.Variable(x).T
tf.Variable([1.0, 2.0], dtype=tf.float64) * tf.constant([1.0, 2.0])
tf.constant([1.0, 2.0]) * tf.Variable([1, 2])
tnp.array(1.5)
tnp.array([1.5, 2])
tnp.array(1)
tnp.ones(2)
tnp.sum(i)
tnp.mean(i)
tnp.sin(i)
tnp.arange(3)
tf.add(i, x)
tf.multiply(i, x)
tf.matmul(x, tf.transpose(tf.cast(x, tf.float64)))
tf.maximum(i, x)
""".strip().splitlines()


def kind_of(compute):
    """The dtype of a result, plain Python results as they are, or the class of the error."""
    try:
        result = compute()
    except Exception as error:  # any error is an answer
        return f"{type(error).__name__}"
    return result.dtype.name if hasattr(result, "dtype") else result


def answers(library, mode):
    tf = importlib.import_module(library)
    tnp = tf.experimental.numpy
    tnp.experimental_enable_numpy_behavior(
        prefer_float32=mode.endswith("-float32"),
        dtype_conversion_mode=mode.removesuffix("-float32"),
    )
    tensors = {name: tf.cast(tf.constant([1, 1]), name) for name in DTYPES.split()}
    found = {}
    for a, x in tensors.items():
        for b, y in tensors.items():
            found[f"{a} * {b}"] = kind_of(lambda x=x, y=y: x * y)
        for text, number in NUMBERS.items():
            found[f"{a} * {text}"] = kind_of(lambda x=x, number=number: x * number)
            found[f"{text} * {a}"] = kind_of(lambda x=x, number=number: number * x)
    for name in OPERATORS:
        apply = getattr(operator, name)
        x, y = tensors["int32"], tensors["float32"]
        found[f"int32 {name} float32"] = kind_of(lambda f=apply, x=x, y=y: f(x, y))
        found[f"int32 {name} int32"] = kind_of(lambda f=apply, x=x: f(x, x))
    known = {
        "tf": tf,
        "tnp": tnp,
        "np": np,
        "x": tf.constant([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]]),
        "i": tf.constant([[1, 0, 1], [0, 1, 0]]),
        "t": tf.zeros([2, 3, 4]),
    }
    for text in METHODS:
        found[text] = kind_of(lambda text=text: eval(text, dict(known)))
    return found


if __name__ == "__main__":
    print(json.dumps(answers(*sys.argv[1:])))
