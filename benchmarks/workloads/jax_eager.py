"""The workloads in JAX without `jit`: every op is dispatched on its own, as in an eager library."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from workloads.data import Block, Chain, Embedding, Mlp, Rnn, Rosenbrock, TanhMap

Step = Callable[[], tuple[Any, list[Any]]]


class JaxEager:
    """Builds steps; each returns its loss and the gradients, in the order of the data's arrays."""

    version = jax.__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss or gradient as an array."""
        return np.asarray(value)

    def gradient_step(self, loss: Callable[..., Any], *parameters: np.ndarray) -> Step:
        """Return a step that waits for loss and gradients, since JAX dispatches ahead."""
        arrays = [jnp.asarray(array) for array in parameters]
        positions = tuple(range(len(arrays)))
        value_and_gradients = jax.value_and_grad(loss, argnums=positions)

        def step():
            value, gradients = jax.block_until_ready(value_and_gradients(*arrays))
            return value, list(gradients)

        return step

    def chain(self, data: Chain) -> Step:
        """Five elementwise ops a round; a vector is summed at the end."""
        is_vector = data.start.ndim > 0

        def loss(x):
            y = x
            for _ in range(data.rounds):
                y = jnp.sin(y * x)
                y = jnp.tanh(y + x) - 0.1
            return y.sum() if is_vector else y

        return self.gradient_step(loss, data.start)

    def mlp(self, data: Mlp) -> Step:
        """Forward, cross-entropy, gradient and update of a ReLU network."""
        inputs = jnp.asarray(data.inputs)
        labels = jnp.asarray(data.labels)[:, None]
        parameters = [jnp.asarray(array) for array in data.parameters()]

        def loss(parameters):
            layers = list(zip(parameters[0::2], parameters[1::2], strict=True))
            hidden = inputs
            for weights, bias in layers[:-1]:
                hidden = jax.nn.relu(hidden @ weights + bias)
            weights, bias = layers[-1]
            log_probabilities = jax.nn.log_softmax(hidden @ weights + bias)
            return -jnp.take_along_axis(log_probabilities, labels, axis=1).mean()

        value_and_gradients = jax.value_and_grad(loss)

        def step():
            value, gradients = value_and_gradients(parameters)
            pairs = zip(parameters, gradients, strict=True)
            parameters[:] = [array - data.learning_rate * slope for array, slope in pairs]
            jax.block_until_ready(parameters)
            return value, gradients

        return step

    def rnn(self, data: Rnn) -> Step:
        """A Python loop over the sequence; the loss is the mean square of the last state."""
        inputs = [jnp.asarray(array) for array in data.inputs]
        start = jnp.asarray(data.state)

        def loss(input_weights, state_weights, bias):
            state = start
            for x in inputs:
                state = jnp.tanh(x @ input_weights + state @ state_weights + bias)
            return jnp.square(state).mean()

        return self.gradient_step(loss, data.input_weights, data.state_weights, data.bias)

    def block(self, data: Block) -> Step:
        """Attention and feed-forward layer, each after a layer norm and with a residual."""
        tokens = jnp.asarray(data.tokens)
        batch, length, width = data.tokens.shape
        head_width = width // data.heads

        def linear(p, x, name):
            return x @ p[f"{name}_weights"] + p[f"{name}_bias"]

        def layer_norm(p, x, name):
            normal = jax.nn.standardize(x, axis=-1, epsilon=data.epsilon)
            return normal * p[f"{name}_scale"] + p[f"{name}_shift"]

        def split_heads(x):
            return x.reshape(batch, length, data.heads, head_width).transpose(0, 2, 1, 3)

        def attention(p, x):
            query, key, value = (split_heads(linear(p, x, n)) for n in ("query", "key", "value"))
            scores = query @ key.swapaxes(-2, -1) * head_width**-0.5
            mixed = (jax.nn.softmax(scores) @ value).transpose(0, 2, 1, 3)
            return linear(p, mixed.reshape(batch, length, width), "output")

        def loss(*parameters):
            p = dict(zip(data.parameters, parameters, strict=True))
            x = tokens + attention(p, layer_norm(p, tokens, "norm1"))
            hidden = jax.nn.relu(linear(p, layer_norm(p, x, "norm2"), "expand"))
            x = x + linear(p, hidden, "contract")
            return jnp.square(x).mean()

        return self.gradient_step(loss, *data.parameters.values())

    def embedding(self, data: Embedding) -> Step:
        """Lookup, mean squared error, gradient of the rows looked up and their update.

        With respect to the rows, since JAX has no sparse gradient of a table.
        """
        state = {"table": jnp.asarray(data.table)}
        ids, wanted = jnp.asarray(data.ids), jnp.asarray(data.wanted)
        value_and_gradient = jax.value_and_grad(lambda rows: jnp.square(rows - wanted).mean())

        def step():
            loss, gradient = value_and_gradient(state["table"][ids])
            state["table"] = state["table"].at[ids].add(-data.learning_rate * gradient)
            jax.block_until_ready(state)
            return loss, [gradient]

        return step

    def two_layers(self, data: TanhMap) -> tuple[Any, Callable[[Any], Any]]:
        """Return the inputs of the layers, and the layers as a function with its value twice."""
        weights = [jnp.asarray(array) for array in data.weights]
        biases = [jnp.asarray(array) for array in data.biases]

        def layers(x):
            hidden = jnp.tanh(x @ weights[0] + biases[0])
            y = jnp.tanh(hidden @ weights[1] + biases[1])
            return y, y

        return jnp.asarray(data.inputs), layers

    def jacobian(self, data: TanhMap) -> Step:
        """The values, and their derivatives with respect to all inputs."""
        x, layers = self.two_layers(data)

        def step():
            jacobian, y = jax.block_until_ready(jax.jacrev(layers, has_aux=True)(x))
            return y, [jacobian]

        return step

    def batch_jacobian(self, data: TanhMap) -> Step:
        """The values, and the derivatives of each example with respect to its own inputs."""
        x, layers = self.two_layers(data)

        def step():
            function = jax.vmap(jax.jacrev(layers, has_aux=True))
            jacobians, y = jax.block_until_ready(function(x))
            return y, [jacobians]

        return step

    def hessian(self, data: Rosenbrock) -> Step:
        """The matrix alone."""
        x = jnp.asarray(data.point)

        def rosenbrock(x):
            left, right = x[:-1], x[1:]
            return (100.0 * jnp.square(right - jnp.square(left)) + jnp.square(1.0 - left)).sum()

        def step():
            matrix = jax.block_until_ready(jax.hessian(rosenbrock)(x))
            return matrix, [matrix]

        return step
