"""The public names: exactly the intended ones, documented, and called as in TensorFlow."""

import enum
import inspect
import operator
import types
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.core.exports import PUBLIC
from gradtape.on_demand import load_everything

DATA = Path(__file__).resolve().parent / "data"
NAMES_FILE = DATA / "public_names.txt"
REGENERATE = "python tests/test_public_names.py"

FUNCTIONS = {name: item for name, item in PUBLIC.items() if inspect.isfunction(item)}

# gradtape's own functions, which TensorFlow does not have.
OWN_FUNCTIONS = {
    f"autodiff.{name}"
    for name in (
        "check_gradients",
        "hessian",
        "hessian_diag",
        "hvp",
        "jacfwd",
        "jacobian",
        "jacrev",
        "jvp",
        "per_example_gradient",
        "value_and_gradient",
        "vjp",
    )
} | {"config.numpy_dispatch", "config.numpy_dispatch_enabled"}

# TensorFlow hides these parameters in **kwargs.
SIGNATURES_SPELLED_OUT = {"meshgrid"}


def tensorflow_signatures():
    """For each public function of TensorFlow its parameters and their defaults, as text."""
    lines = (DATA / "tensorflow_signatures.txt").read_text(encoding="utf-8").splitlines()
    return {line.partition("(")[0]: "(" + line.partition("(")[2] for line in lines}


SIGNATURES = tensorflow_signatures()


class _Shown:
    """A default value whose repr is the given text."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def signature_of(function):
    """Parameters and defaults as text, without annotations; functions and enums by name."""
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        default = parameter.default
        if inspect.isfunction(default):
            default = _Shown(default.__name__)
        elif isinstance(default, enum.Enum):
            default = _Shown(str(default))
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty, default=default))
    return str(inspect.Signature(parameters))


def names_in(module, prefix=""):
    """The public names a user finds in a module and in the namespaces below it."""
    names = set()
    for name, item in vars(module).items():
        if name.startswith("_"):
            continue
        dotted = f"{prefix}{name}"
        if not isinstance(item, types.ModuleType):
            names.add(dotted)
        elif any(public.startswith(f"{dotted}.") for public in PUBLIC):
            names |= names_in(item, f"{dotted}.")
    return names


def test_public_names_are_those_in_the_list():
    committed = NAMES_FILE.read_text(encoding="utf-8").split()
    actual = names_in(tf)
    missing, unintended = sorted(set(committed) - actual), sorted(actual - set(committed))
    assert committed == sorted(actual), (
        f"Missing: {missing}. Not in {NAMES_FILE.name}: {unintended}. "
        f"If this is intended, run: {REGENERATE}"
    )


@pytest.mark.parametrize("name", PUBLIC)
def test_every_exported_name_can_be_reached(name):
    assert operator.attrgetter(name)(tf) is PUBLIC[name]


@pytest.mark.parametrize("name", [name for name, item in PUBLIC.items() if callable(item)])
def test_public_callables_have_a_docstring(name):
    summary = (inspect.getdoc(PUBLIC[name]) or "").partition("\n")[0]
    assert summary.endswith("."), summary


def test_own_functions_are_not_tensorflows():
    assert set(FUNCTIONS) - set(SIGNATURES) == OWN_FUNCTIONS


def _with_tuples(signature):
    """The signature with tuples for lists, which as defaults would be shared by all calls."""
    return signature.replace("[", "(").replace("]", ")")


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - OWN_FUNCTIONS))
def test_functions_are_called_as_in_tensorflow(name):
    if name in SIGNATURES_SPELLED_OUT:
        assert "**kwargs" in SIGNATURES[name]
    else:
        assert _with_tuples(signature_of(FUNCTIONS[name])) == _with_tuples(SIGNATURES[name])


@pytest.mark.parametrize(
    ("module", "wrong", "nearest"),
    [
        (tf, "reduce_som", "reduce_sum"),
        (tf, "gradienttape", "GradientTape"),
        (tf.math, "tanhh", "tanh"),
    ],
)
def test_missing_attribute_names_the_nearest(module, wrong, nearest):
    with pytest.raises(
        AttributeError, match=rf"no attribute '{wrong}'.* Did you mean '{nearest}'\?"
    ):
        getattr(module, wrong)


def test_missing_attribute_without_a_near_name():
    with pytest.raises(
        AttributeError, match=r"module 'gradtape.math' has no attribute 'qqqqqqqq'\.$"
    ):
        tf.math.qqqqqqqq  # noqa: B018


if __name__ == "__main__":
    load_everything()
    NAMES_FILE.write_text("\n".join(sorted(names_in(tf))) + "\n", encoding="utf-8")
