"""Effects on batched tensors: one call for each element."""

from ..batching import BatchedTensor
from ..core.active import thread
from ..ops.joining import pack, unpack


def with_batches(run):
    """The function `run`, from tensors to tensors, for batched ones too: element by element."""

    def run_each(tensors):
        batched = [x for x in tensors if isinstance(x, BatchedTensor)]
        if not batched:
            return run(tensors)
        innermost = max(batched, key=lambda x: x._level)
        level, outer = innermost._level, innermost._outer_recorders
        count = innermost._inner._value.shape[0]
        recorders, thread.recorders = thread.recorders, thread.recorders[:outer]
        try:
            rows = [
                unpack(x._inner, axis=0)
                if isinstance(x, BatchedTensor) and x._level == level
                else [x] * count
                for x in tensors
            ]
            results = [run_each(list(own)) for own in zip(*rows, strict=True)]
            columns = [pack(list(column), axis=0) for column in zip(*results, strict=True)]
        finally:
            thread.recorders = recorders
        return [BatchedTensor(column, level, outer) for column in columns]

    return run_each
