"""The workloads as TensorFlow code: run with TensorFlow, and unchanged with gradtape."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from workloads.data import (
    Block,
    Chain,
    CheapChain,
    Cnn,
    Embedding,
    Images,
    Mlp,
    Rnn,
    Rosenbrock,
    TanhMap,
)

Step = Callable[[], tuple[Any, list[Any]]]


class TensorFlowStyle:
    """Builds steps; each returns its loss and the gradients, in the order of the data's arrays."""

    def __init__(self, library: str) -> None:
        self.tf = importlib.import_module(library)
        self.version = self.tf.__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss or gradient as an array."""
        return value.numpy()

    def chain(self, data: Chain) -> Step:
        """Five elementwise ops a round; a vector is summed at the end."""
        tf = self.tf
        variable = tf.Variable(data.start)
        is_vector = data.start.ndim > 0

        def step():
            with tf.GradientTape() as tape:
                x = tf.convert_to_tensor(variable)
                y = x
                for _ in range(data.rounds):
                    y = tf.sin(y * x)
                    y = tf.tanh(y + x) - 0.1
                if is_vector:
                    y = tf.reduce_sum(y)
            return y, [tape.gradient(y, variable)]

        return step

    def cheap_chain(self, data: CheapChain) -> Step:
        """A multiplication and an addition a round, on one scalar."""
        tf = self.tf
        variable = tf.Variable(data.start)

        def step():
            with tf.GradientTape() as tape:
                x = tf.convert_to_tensor(variable)
                y = x
                for _ in range(data.ops // 2):
                    y = y * 0.5 + x
            return y, [tape.gradient(y, variable)]

        return step

    def mlp(self, data: Mlp) -> Step:
        """Forward, cross-entropy, gradient and update of a ReLU network."""
        tf = self.tf
        inputs = tf.constant(data.inputs)
        labels = tf.constant(data.labels)
        variables = [tf.Variable(array) for array in data.parameters()]
        layers = list(zip(variables[0::2], variables[1::2], strict=True))

        def step():
            with tf.GradientTape() as tape:
                hidden = inputs
                for weights, bias in layers[:-1]:
                    hidden = tf.nn.relu(hidden @ weights + bias)
                weights, bias = layers[-1]
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=hidden @ weights + bias
                )
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, variables)
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(data.learning_rate * gradient)
            return loss, gradients

        return step

    def mlp_function(self, data: Mlp) -> Step:
        """The same as a function: traced in the first call."""
        return self.tf.function(self.mlp(data))

    def chain_function(self, data: Chain) -> Step:
        """The chain as a function."""
        return self.tf.function(self.chain(data))

    def first_call(self, data: Mlp) -> Step:
        """A step that makes a function anew and calls it once."""
        step = self.mlp(data)
        return lambda: self.tf.function(step)()

    def rnn(self, data: Rnn) -> Step:
        """A Python loop over the sequence; the loss is the mean square of the last state."""
        tf = self.tf
        inputs = [tf.constant(array) for array in data.inputs]
        start = tf.constant(data.state)
        input_weights = tf.Variable(data.input_weights)
        state_weights = tf.Variable(data.state_weights)
        bias = tf.Variable(data.bias)

        def step():
            with tf.GradientTape() as tape:
                state = start
                for x in inputs:
                    state = tf.tanh(x @ input_weights + state @ state_weights + bias)
                loss = tf.reduce_mean(tf.square(state))
            return loss, tape.gradient(loss, [input_weights, state_weights, bias])

        return step

    def block(self, data: Block) -> Step:
        """Attention and feed-forward layer, each after a layer norm and with a residual."""
        tf = self.tf
        tokens = tf.constant(data.tokens)
        p = {name: tf.Variable(array) for name, array in data.parameters.items()}
        batch, length, width = data.tokens.shape
        head_width = width // data.heads

        def linear(x, name):
            return tf.tensordot(x, p[f"{name}_weights"], 1) + p[f"{name}_bias"]

        def layer_norm(x, name):
            centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
            variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
            normal = centred * tf.math.rsqrt(variance + data.epsilon)
            return normal * p[f"{name}_scale"] + p[f"{name}_shift"]

        def split_heads(x):
            return tf.transpose(
                tf.reshape(x, [batch, length, data.heads, head_width]), [0, 2, 1, 3]
            )

        def attention(x):
            query, key, value = (split_heads(linear(x, n)) for n in ("query", "key", "value"))
            scores = tf.matmul(query, key, transpose_b=True) * head_width**-0.5
            mixed = tf.transpose(tf.nn.softmax(scores) @ value, [0, 2, 1, 3])
            return linear(tf.reshape(mixed, [batch, length, width]), "output")

        def step():
            with tf.GradientTape() as tape:
                x = tokens + attention(layer_norm(tokens, "norm1"))
                hidden = tf.nn.relu(linear(layer_norm(x, "norm2"), "expand"))
                x = x + linear(hidden, "contract")
                loss = tf.reduce_mean(tf.square(x))
            return loss, tape.gradient(loss, list(p.values()))

        return step

    def cnn(self, data: Cnn) -> Step:
        """Forward, cross-entropy, gradient and update of a convolutional network."""
        tf = self.tf
        images, labels = tf.constant(data.images), tf.constant(data.labels)
        filters = [tf.Variable(array) for array in data.filters]
        biases = [tf.Variable(array) for array in data.filter_biases]
        weights, bias = tf.Variable(data.weights), tf.Variable(data.bias)
        variables = [*filters, *biases, weights, bias]

        def step():
            with tf.GradientTape() as tape:
                hidden = images
                for kernel, shift in zip(filters, biases, strict=True):
                    hidden = tf.nn.bias_add(tf.nn.conv2d(hidden, kernel, 1, "SAME"), shift)
                    hidden = tf.nn.max_pool2d(tf.nn.relu(hidden), 2, 2, "VALID")
                logits = tf.reshape(hidden, [len(data.images), -1]) @ weights + bias
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=logits
                )
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, variables)
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(data.learning_rate * gradient)
            return loss, gradients

        return step

    def embedding(self, data: Embedding) -> Step:
        """Lookup, mean squared error, sparse gradient and update of the rows looked up."""
        tf = self.tf
        table = tf.Variable(data.table)
        ids, wanted = tf.constant(data.ids), tf.constant(data.wanted)

        def step():
            with tf.GradientTape() as tape:
                rows = tf.nn.embedding_lookup(table, ids)
                loss = tf.reduce_mean(tf.square(rows - wanted))
            gradient = tape.gradient(loss, table)
            change = tf.IndexedSlices(data.learning_rate * gradient.values, gradient.indices)
            table.scatter_sub(change)
            return loss, [gradient.values]

        return step

    def two_layers(self, data: TanhMap) -> tuple[Any, Callable[[Any], Any]]:
        """Return the inputs of the tanh layers, and the layers as a function."""
        tf = self.tf
        weights = [tf.constant(array) for array in data.weights]
        biases = [tf.constant(array) for array in data.biases]

        def layers(x):
            hidden = tf.tanh(x @ weights[0] + biases[0])
            return tf.tanh(hidden @ weights[1] + biases[1])

        return tf.constant(data.inputs), layers

    def jacobian(self, data: TanhMap) -> Step:
        """The values, and their derivatives with respect to all inputs."""
        tf = self.tf
        x, layers = self.two_layers(data)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layers(x)
            return y, [tape.jacobian(y, x)]

        return step

    def batch_jacobian(self, data: TanhMap) -> Step:
        """The values, and the derivatives of each example with respect to its own inputs."""
        tf = self.tf
        x, layers = self.two_layers(data)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layers(x)
            return y, [tape.batch_jacobian(y, x)]

        return step

    def rosenbrock(self, x: Any) -> Any:
        """Return the function of which the Hessian is asked."""
        tf = self.tf
        left, right = x[:-1], x[1:]
        return tf.reduce_sum(100.0 * tf.square(right - tf.square(left)) + tf.square(1.0 - left))

    def hessian(self, data: Rosenbrock) -> Step:
        """The matrix alone: the Jacobian of the gradient."""
        tf = self.tf
        x = tf.constant(data.point)

        def step():
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = self.rosenbrock(x)
                gradient = inner.gradient(y, x)
            matrix = outer.jacobian(gradient, x)
            return matrix, [matrix]

        return step

    def pipeline(self, data: Images) -> Step:
        """All batches of an epoch; the last one stands for them."""
        tf = self.tf
        dataset = tf.data.Dataset.from_tensor_slices((data.images, data.labels))
        if data.scaled:
            dataset = dataset.map(
                lambda image, label: (tf.cast(image, tf.float32) / 255.0, label),
                num_parallel_calls=tf.data.AUTOTUNE,
            )
        dataset = dataset.shuffle(data.buffer, seed=1).batch(data.batch).prefetch(tf.data.AUTOTUNE)

        def step():
            for images, labels in dataset:
                last = images, labels
            images, labels = last
            return tf.cast(images[0, 0, 0], tf.float32), [images, labels]

        return step
