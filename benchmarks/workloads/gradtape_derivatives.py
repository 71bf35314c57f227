"""Derivatives that gradtape has functions for and TensorFlow leaves to the user."""

from typing import Any

from workloads.data import Mlp, Rosenbrock, TanhMap
from workloads.tensorflow_style import Step, TensorFlowStyle


class GradtapeDerivatives(TensorFlowStyle):
    """TensorFlow's workloads, and those for `gradtape.autodiff`."""

    def hessian(self, data: Rosenbrock) -> Step:
        """The matrix alone."""
        tf = self.tf
        x = tf.constant(data.point)

        def step():
            matrix = tf.autodiff.hessian(self.rosenbrock, x)
            return matrix, [matrix]

        return step

    def loss(self, inputs: Any, labels: Any, *parameters: Any) -> Any:
        """Return the mean cross-entropy of a tanh network, which is curved everywhere."""
        tf = self.tf
        hidden = inputs
        for weights, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
            hidden = tf.tanh(hidden @ weights + bias)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=hidden @ parameters[-2] + parameters[-1]
        )
        return tf.reduce_mean(losses)

    def gradient(self, data: Mlp) -> Step:
        """Loss and gradient, without an update."""
        tf = self.tf
        inputs, labels = tf.constant(data.inputs), tf.constant(data.labels)
        parameters = [tf.constant(array) for array in data.parameters()]

        def step():
            with tf.GradientTape() as tape:
                tape.watch(parameters)
                loss = self.loss(inputs, labels, *parameters)
            return loss, tape.gradient(loss, parameters)

        return step

    def hvp(self, data: Mlp) -> Step:
        """The Hessian of the same loss times a vector."""
        tf = self.tf
        inputs, labels = tf.constant(data.inputs), tf.constant(data.labels)
        parameters = [tf.constant(array) for array in data.parameters()]
        vector = [tf.ones_like(parameter) for parameter in parameters]

        def step():
            product = tf.autodiff.hvp(
                lambda *given: self.loss(inputs, labels, *given), parameters, vector
            )
            return product[0], product

        return step

    def per_example(self, data: Mlp) -> Step:
        """The gradient of each example's loss."""
        tf = self.tf
        inputs, labels = tf.constant(data.inputs), tf.constant(data.labels)
        parameters = [tf.constant(array) for array in data.parameters()]

        def loss_of_one(x, label):
            return self.loss(x[tf.newaxis], label[tf.newaxis], *parameters)

        def step():
            gradients = tf.autodiff.per_example_gradient(loss_of_one, parameters, inputs, labels)
            return gradients[0], gradients

        return step

    def rows(self, data: TanhMap) -> Step:
        """A Jacobian with a limit to how many of its rows are computed at a time."""
        tf = self.tf
        x, layers = self.two_layers(data)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = layers(x)
            return y, [tape.jacobian(y, x, parallel_iterations=data.rows_in_flight)]

        return step

    def kept(self, data: Mlp) -> Step:
        """The gradient of a deep network of equal layers, whose activations the tape keeps."""
        return self.deep(data, lambda segment: segment)

    def recomputed(self, data: Mlp) -> Step:
        """The same, where only what comes into each of its 8 segments is kept."""
        return self.deep(data, self.tf.recompute_grad)

    def deep(self, data: Mlp, wrap: Any, segments: int = 8) -> Step:
        """Residual tanh layers, in segments that `wrap` may change."""
        tf = self.tf
        inputs = tf.constant(data.inputs)
        parameters = [tf.constant(array) for array in data.parameters()]
        size = len(parameters) // segments
        parts = [parameters[i : i + size] for i in range(0, len(parameters), size)]

        def segment(x, *layers):
            for weights, bias in zip(layers[0::2], layers[1::2], strict=True):
                x = x + tf.tanh(x @ weights + bias)
            return x

        wrapped = wrap(segment)

        def step():
            with tf.GradientTape() as tape:
                tape.watch(parameters)
                x = inputs
                for part in parts:
                    x = wrapped(x, *part)
                loss = tf.reduce_mean(tf.square(x))
                del x
            return loss, tape.gradient(loss, parameters)

        return step
