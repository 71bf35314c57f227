"""The workloads in autograd, which differentiates NumPy code."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import hessian, jacobian, value_and_grad

from workloads.data import Block, Chain, Mlp, Rnn, Rosenbrock, TanhMap

Step = Callable[[], tuple[Any, list[Any]]]


class AutogradHips:
    """Builds steps; each returns its loss and the gradients, in the order of the data's arrays."""

    version = version("autograd")

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss or gradient as an array."""
        return np.asarray(value)

    def gradient_step(self, loss: Callable[[list[Any]], Any], *parameters: np.ndarray) -> Step:
        """Return a step that computes `loss` of the list of parameters and its gradients."""
        value_and_gradients = value_and_grad(loss)
        arrays = list(parameters)
        return lambda: value_and_gradients(arrays)

    def chain(self, data: Chain) -> Step:
        """Five elementwise ops a round; a vector is summed at the end."""
        is_vector = data.start.ndim > 0

        def loss(parameters):
            (x,) = parameters
            y = x
            for _ in range(data.rounds):
                y = anp.sin(y * x)
                y = anp.tanh(y + x) - 0.1
            return anp.sum(y) if is_vector else y

        return self.gradient_step(loss, data.start)

    def mlp(self, data: Mlp) -> Step:
        """Forward, cross-entropy, gradient and update of a ReLU network."""
        rows = np.arange(len(data.labels))
        arrays = [array.copy() for array in data.parameters()]

        def loss(parameters):
            layers = list(zip(parameters[0::2], parameters[1::2], strict=True))
            hidden = data.inputs
            for weights, bias in layers[:-1]:
                hidden = anp.maximum(hidden @ weights + bias, 0)
            weights, bias = layers[-1]
            logits = hidden @ weights + bias
            logits = logits - anp.max(logits, axis=1, keepdims=True)
            log_probabilities = logits - anp.log(anp.sum(anp.exp(logits), axis=1, keepdims=True))
            return -anp.mean(log_probabilities[rows, data.labels])

        value_and_gradients = value_and_grad(loss)

        def step():
            value, gradients = value_and_gradients(arrays)
            for array, gradient in zip(arrays, gradients, strict=True):
                array -= data.learning_rate * gradient
            return value, gradients

        return step

    def rnn(self, data: Rnn) -> Step:
        """A Python loop over the sequence; the loss is the mean square of the last state."""

        def loss(parameters):
            input_weights, state_weights, bias = parameters
            state = data.state
            for x in data.inputs:
                state = anp.tanh(x @ input_weights + state @ state_weights + bias)
            return anp.mean(anp.square(state))

        return self.gradient_step(loss, data.input_weights, data.state_weights, data.bias)

    def block(self, data: Block) -> Step:
        """Attention and feed-forward layer, each after a layer norm and with a residual."""
        batch, length, width = data.tokens.shape
        head_width = width // data.heads

        def linear(p, x, name):
            return x @ p[f"{name}_weights"] + p[f"{name}_bias"]

        def layer_norm(p, x, name):
            centred = x - anp.mean(x, axis=-1, keepdims=True)
            variance = anp.mean(anp.square(centred), axis=-1, keepdims=True)
            normal = centred / anp.sqrt(variance + data.epsilon)
            return normal * p[f"{name}_scale"] + p[f"{name}_shift"]

        def split_heads(x):
            return anp.transpose(
                anp.reshape(x, (batch, length, data.heads, head_width)), (0, 2, 1, 3)
            )

        def softmax(x):
            powers = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
            return powers / anp.sum(powers, axis=-1, keepdims=True)

        def attention(p, x):
            query, key, value = (split_heads(linear(p, x, n)) for n in ("query", "key", "value"))
            scores = query @ anp.swapaxes(key, -2, -1) * head_width**-0.5
            mixed = anp.transpose(softmax(scores) @ value, (0, 2, 1, 3))
            return linear(p, anp.reshape(mixed, (batch, length, width)), "output")

        def loss(parameters):
            p = dict(zip(data.parameters, parameters, strict=True))
            x = data.tokens + attention(p, layer_norm(p, data.tokens, "norm1"))
            hidden = anp.maximum(linear(p, layer_norm(p, x, "norm2"), "expand"), 0)
            x = x + linear(p, hidden, "contract")
            return anp.mean(anp.square(x))

        return self.gradient_step(loss, *data.parameters.values())

    def jacobian(self, data: TanhMap) -> Step:
        """The values, and their derivatives with respect to all inputs."""

        def layers(x):
            hidden = anp.tanh(x @ data.weights[0] + data.biases[0])
            return anp.tanh(hidden @ data.weights[1] + data.biases[1])

        return lambda: (layers(data.inputs), [jacobian(layers)(data.inputs)])

    def hessian(self, data: Rosenbrock) -> Step:
        """The matrix alone."""

        def rosenbrock(x):
            left, right = x[:-1], x[1:]
            return anp.sum(100.0 * anp.square(right - anp.square(left)) + anp.square(1.0 - left))

        def step():
            matrix = hessian(rosenbrock)(data.point)
            return matrix, [matrix]

        return step
