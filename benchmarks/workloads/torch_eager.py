"""The workloads in eager PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch.autograd.functional import hessian
from torch.func import jacrev, vmap

from workloads.data import Block, Chain, Cnn, Embedding, Mlp, Rnn, Rosenbrock, TanhMap

Step = Callable[[], tuple[Any, list[Any]]]


class TorchEager:
    """Builds steps; each returns its loss and the gradients, in the order of the data's arrays."""

    version = torch.__version__

    def parameter(self, array: np.ndarray) -> Any:
        """Return a trainable tensor; matrices are held (out, in), as `F.linear` wants them."""
        return torch.tensor(array.T.copy(), requires_grad=True)

    def to_numpy(self, value: Any) -> np.ndarray:
        """Return a loss or gradient as an array, matrices turned back to (in, out)."""
        return value.detach().numpy().T

    def chain(self, data: Chain) -> Step:
        """Five elementwise ops a round; a vector is summed at the end."""
        x = self.parameter(data.start)
        is_vector = data.start.ndim > 0

        def step():
            y = x
            for _ in range(data.rounds):
                y = torch.sin(y * x)
                y = torch.tanh(y + x) - 0.1
            if is_vector:
                y = y.sum()
            return y, list(torch.autograd.grad(y, x))

        return step

    def mlp(self, data: Mlp) -> Step:
        """Forward, cross-entropy, gradient and update of a ReLU network."""
        inputs = torch.tensor(data.inputs)
        labels = torch.tensor(data.labels)
        parameters = [self.parameter(array) for array in data.parameters()]
        layers = list(zip(parameters[0::2], parameters[1::2], strict=True))

        def step():
            hidden = inputs
            for weights, bias in layers[:-1]:
                hidden = F.relu(F.linear(hidden, weights, bias))
            loss = F.cross_entropy(F.linear(hidden, *layers[-1]), labels)
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.sub_(gradient, alpha=data.learning_rate)
            return loss, list(gradients)

        return step

    def rnn(self, data: Rnn) -> Step:
        """A Python loop over the sequence; the loss is the mean square of the last state."""
        inputs = [torch.tensor(array) for array in data.inputs]
        start = torch.tensor(data.state)
        input_weights = self.parameter(data.input_weights)
        state_weights = self.parameter(data.state_weights)
        bias = self.parameter(data.bias)

        def step():
            state = start
            for x in inputs:
                state = torch.tanh(
                    F.linear(x, input_weights) + F.linear(state, state_weights, bias)
                )
            loss = state.square().mean()
            return loss, list(torch.autograd.grad(loss, [input_weights, state_weights, bias]))

        return step

    def block(self, data: Block) -> Step:
        """Attention and feed-forward layer, each after a layer norm and with a residual."""
        tokens = torch.tensor(data.tokens)
        p = {name: self.parameter(array) for name, array in data.parameters.items()}
        batch, length, width = data.tokens.shape
        head_width = width // data.heads

        def linear(x, name):
            return F.linear(x, p[f"{name}_weights"], p[f"{name}_bias"])

        def layer_norm(x, name):
            return F.layer_norm(x, (width,), p[f"{name}_scale"], p[f"{name}_shift"], data.epsilon)

        def split_heads(x):
            return x.view(batch, length, data.heads, head_width).transpose(1, 2)

        def attention(x):
            query, key, value = (split_heads(linear(x, n)) for n in ("query", "key", "value"))
            scores = query @ key.transpose(-2, -1) * head_width**-0.5
            mixed = (F.softmax(scores, dim=-1) @ value).transpose(1, 2)
            return linear(mixed.reshape(batch, length, width), "output")

        def step():
            x = tokens + attention(layer_norm(tokens, "norm1"))
            x = x + linear(F.relu(linear(layer_norm(x, "norm2"), "expand")), "contract")
            loss = x.square().mean()
            return loss, list(torch.autograd.grad(loss, list(p.values())))

        return step

    def cnn(self, data: Cnn) -> Step:
        """Forward, cross-entropy, gradient and update of a convolutional network.

        In PyTorch's own layout, channels first; gradients are turned so that `to_numpy` turns them
        to the order of the data, which is no part of a training step but costs next to nothing.
        """
        images = torch.tensor(data.images).permute(0, 3, 1, 2).contiguous()
        labels = torch.tensor(data.labels)
        filters = [
            torch.tensor(array.transpose(3, 2, 0, 1).copy(), requires_grad=True)
            for array in data.filters
        ]
        biases = [self.parameter(array) for array in data.filter_biases]
        size, outputs = data.images.shape[1] // 4, data.filters[-1].shape[-1]
        dense = data.weights.reshape(size, size, outputs, -1).transpose(3, 2, 0, 1)
        weights = torch.tensor(dense.reshape(len(dense), -1).copy(), requires_grad=True)
        bias = self.parameter(data.bias)
        parameters = [*filters, *biases, weights, bias]

        def turned(gradients):
            *convolutions, weights, bias = gradients
            count = len(filters)
            dense = weights.view(-1, outputs, size, size).permute(0, 2, 3, 1).flatten(1)
            filter_gradients = [each.permute(0, 1, 3, 2) for each in convolutions[:count]]
            return [*filter_gradients, *convolutions[count:], dense, bias]

        def step():
            hidden = images
            for kernel, shift in zip(filters, biases, strict=True):
                hidden = F.max_pool2d(F.relu(F.conv2d(hidden, kernel, shift, padding=1)), 2)
            loss = F.cross_entropy(F.linear(hidden.flatten(1), weights, bias), labels)
            gradients = torch.autograd.grad(loss, parameters)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.sub_(gradient, alpha=data.learning_rate)
            return loss, turned(gradients)

        return step

    def embedding(self, data: Embedding) -> Step:
        """Lookup, mean squared error, sparse gradient and update of the rows looked up."""
        table = torch.tensor(data.table, requires_grad=True)
        ids, wanted = torch.tensor(data.ids), torch.tensor(data.wanted)

        def step():
            rows = F.embedding(ids, table, sparse=True)
            loss = (rows - wanted).square().mean()
            (gradient,) = torch.autograd.grad(loss, table)
            with torch.no_grad():
                table.sub_(gradient, alpha=data.learning_rate)
            return loss, [gradient._values().T]

        return step

    def two_layers(self, data: TanhMap) -> tuple[Any, Callable[[Any], Any]]:
        """Return the inputs of the tanh layers, and the layers as a function that `jacrev` takes.

        Its result is there twice: what is differentiated, and what comes with the derivatives.
        """
        weights = [torch.tensor(array.T.copy()) for array in data.weights]
        biases = [torch.tensor(array) for array in data.biases]

        def layers(x):
            hidden = torch.tanh(F.linear(x, weights[0], biases[0]))
            y = torch.tanh(F.linear(hidden, weights[1], biases[1]))
            return y, y

        return torch.tensor(data.inputs), layers

    def jacobian(self, data: TanhMap) -> Step:
        """The values, and their derivatives with respect to all inputs."""
        x, layers = self.two_layers(data)

        def step():
            jacobian, y = jacrev(layers, has_aux=True)(x)
            return y.mT, [jacobian.permute(3, 2, 1, 0)]

        return step

    def batch_jacobian(self, data: TanhMap) -> Step:
        """The values, and the derivatives of each example with respect to its own inputs."""
        x, layers = self.two_layers(data)

        def step():
            jacobians, y = vmap(jacrev(layers, has_aux=True))(x)
            return y.mT, [jacobians.permute(2, 1, 0)]

        return step

    def hessian(self, data: Rosenbrock) -> Step:
        """The matrix alone, by the quickest of the ways PyTorch has."""
        x = torch.tensor(data.point)

        def rosenbrock(x):
            left, right = x[:-1], x[1:]
            return (100.0 * (right - left.square()).square() + (1.0 - left).square()).sum()

        def step():
            matrix = hessian(rosenbrock, x, vectorize=True)
            return matrix, [matrix]

        return step
