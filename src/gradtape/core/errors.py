"""TensorFlow's exception classes, and the one place where op errors get their wording."""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op could not be carried out."""

    _code = UNKNOWN

    def __init__(self, node_def, op=None, message=None, *args):
        # Keras, on a backend that it does not know for TensorFlow, makes errors of a text alone.
        if message is None:
            node_def, message = None, node_def
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message

    @property
    def message(self):
        return self._message

    @property
    def op(self):
        return self._op

    @property
    def node_def(self):
        return self._node_def

    @property
    def error_code(self):
        return self._code

    @property
    def experimental_payloads(self):
        return {}

    def __reduce__(self):
        return type(self), (self._node_def, self._op, self._message)


def _error_class(name, code, summary):
    return type(name, (OpError,), {"__doc__": summary, "__module__": __name__, "_code": code})


CancelledError = _error_class("CancelledError", CANCELLED, "The work was cancelled.")
UnknownError = _error_class("UnknownError", UNKNOWN, "Something went wrong for an unknown reason.")
InvalidArgumentError = _error_class(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op received an argument it cannot work with."
)
DeadlineExceededError = _error_class(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "The work took longer than allowed."
)
NotFoundError = _error_class("NotFoundError", NOT_FOUND, "A file or name does not exist.")
AlreadyExistsError = _error_class(
    "AlreadyExistsError", ALREADY_EXISTS, "A file or name exists already."
)
PermissionDeniedError = _error_class(
    "PermissionDeniedError", PERMISSION_DENIED, "The caller may not do this."
)
ResourceExhaustedError = _error_class(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another resource ran out."
)
FailedPreconditionError = _error_class(
    "FailedPreconditionError", FAILED_PRECONDITION, "The state does not allow this now."
)
AbortedError = _error_class("AbortedError", ABORTED, "The work was aborted.")
OutOfRangeError = _error_class("OutOfRangeError", OUT_OF_RANGE, "An iteration went past its end.")
UnimplementedError = _error_class("UnimplementedError", UNIMPLEMENTED, "An op does not do this.")
InternalError = _error_class("InternalError", INTERNAL, "An invariant of the library was broken.")
UnavailableError = _error_class("UnavailableError", UNAVAILABLE, "A service cannot be reached.")
DataLossError = _error_class("DataLossError", DATA_LOSS, "Stored data is damaged.")
UnauthenticatedError = _error_class(
    "UnauthenticatedError", UNAUTHENTICATED, "The caller is not known."
)


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operator was applied to a symbolic tensor that has no value yet."""


def invalid_argument(op_name, message):
    """The InvalidArgumentError that op `op_name` raises, worded as TensorFlow words it."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op_name}] name: ")


def unimplemented(op_name, message):
    """The UnimplementedError that op `op_name` raises."""
    return UnimplementedError(None, None, f"{message} [Op:{op_name}] name: ")
