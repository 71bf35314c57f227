"""What one function has traced: specialisations by exact arguments, and the kinds that count."""

import threading
import weakref

from ..core.active import thread
from ..core.spec import TensorSpec
from ..core.tensor import EagerTensor
from .guards import Miss
from .keys import Identities
from .kinds import AnyNumber, CompositeKind, VariableKind, covers, is_spec, leaves_of, relaxed
from .retraces import History
from .signature import is_number_part

MOST_SPECIALISATIONS = 256
_MOST_KINDS = 64


class TraceLock:
    """Lets one thread at a time trace a function.

    A thread that traces already does not wait for another, which may be waiting for it: at worst
    both trace the same.
    """

    def __init__(self):
        self._lock = threading.RLock()
        self._held = threading.local()

    def __enter__(self):
        may_wait = thread.trace is None
        held = self._lock.acquire(blocking=may_wait)
        stack = self._held.__dict__.setdefault("stack", [])
        stack.append(held)

    def __exit__(self, *error):
        if self._held.stack.pop():
            self._lock.release()


class Entry:
    """One kind of arguments that counts as a trace.

    Attributes:
        kind: what it is for.
        number: which one it was.
        is_general: whether it covers calls that differ in their keys.
    """

    __slots__ = ("is_general", "kind", "number")

    def __init__(self, kind, number):
        self.kind = kind
        self.number = number
        self.is_general = _is_general(kind)


class Specialisation:
    """The paths for arguments told apart exactly.

    Attributes:
        key: what those are known by.
        entry: the kind they are of.
        paths: their traces.
        used: when they were last called.
        quick_keys: what they are known by where keys are made in a hurry.
    """

    __slots__ = ("entry", "key", "paths", "quick_keys", "used")

    def __init__(self, key, entry, paths):
        self.key = key
        self.entry = entry
        self.paths = paths
        self.used = 0
        self.quick_keys = []


class Specialisations:
    """Everything a function has traced; a method has one for each instance.

    Attributes:
        known: specialisations by key; beyond a limit, those not used for longest are dropped.
        quick: the same by the keys that the quick way of calling makes.
        varying: positions in keys at which Python numbers are inputs.
        count: how many kinds of arguments it was traced for.
        clock: counts calls, to tell which specialisation was not used for longest.
    """

    def __init__(self, name):
        self.lock = TraceLock()
        self.known: dict = {}
        self.quick: dict = {}
        self.entries: list[Entry] = []
        self.identities = Identities(weakref.WeakMethod(self._forget))
        self.history = History(name)
        self.was_called = False
        self.varying = frozenset()
        self.numbers_may_vary = True
        self.count = 0
        self.clock = 0

    def add(self, key, entry, paths):
        """A new specialisation."""
        found = Specialisation(key, entry, paths)
        self.clock += 1
        found.used = self.clock
        self.known[key] = found
        if len(self.known) > MOST_SPECIALISATIONS:
            self.drop(min(list(self.known.values()), key=lambda each: each.used))
        return found

    def drop(self, specialisation):
        self.known.pop(specialisation.key, None)
        for key in specialisation.quick_keys:
            self.quick.pop(key, None)

    def _forget(self, key):
        for found in list(self.known.values()):
            if any([part is key for part in found.key]):
                self.drop(found)

    # Kinds --------------------------------------------------------------------------------------

    def entry_for(self, kind, among_all=False):
        """An entry that covers a kind; None if there is none.

        Args:
            kind: the kind of a call whose key is not known.
            among_all: whether to look at the entries for a single key too.
        """
        for entry in self.entries:
            if (among_all or entry.is_general) and covers(entry.kind, kind):
                return entry
        return None

    def add_entry(self, kind):
        """A new entry; of too many, those go first that are found by their key anyway."""
        self.count += 1
        entry = Entry(kind, self.count)
        self.entries.append(entry)
        if len(self.entries) > _MOST_KINDS:
            special = next((e for e in self.entries if not e.is_general), self.entries[0])
            self.entries.remove(special)
        return entry

    def widened(self, kind):
        """A kind that covers this one and the known ones that can be covered together with it."""
        for entry in self.entries:
            wider = relaxed(kind, entry.kind, self.numbers_may_vary)
            if wider is not None:
                kind = wider
        return kind

    def let_vary(self, kind, key):
        """Has numbers be inputs from now on, which in `kind` may be any; says if some are new."""
        numbers = [
            leaf
            for _, leaf in leaves_of(kind)
            if type(leaf) in (int, float) or isinstance(leaf, AnyNumber)
        ]
        places = [i for i, part in enumerate(key) if is_number_part(part)]
        pairs = zip(numbers, places, strict=True)
        found = {place for leaf, place in pairs if isinstance(leaf, AnyNumber)}
        if found <= self.varying:
            return False
        self.varying |= found
        return True

    def fix_numbers(self):
        """Has Python numbers be told apart by value again, after one could not be an input."""
        self.numbers_may_vary = False
        self.varying = frozenset()
        self.entries = [e for e in self.entries if not _has_any_number(e.kind)]


def run_quickly(paths, args, arrays):
    """A call of eager tensors and plain values, whose arrays are taken out already.

    Args:
        paths: the Paths for arguments like these.
        args: the arguments.
        arrays: the arrays of the tensors among them.
    """
    path = paths.latest
    if (
        path is not None
        and path._program is not None
        and paths.by_python is None
        and thread.trace is None
        and not thread.recorders
        and thread.effects is None
        and path._program.is_quick
    ):
        found = path._program.run(arrays)
        if type(found) is not Miss:
            return path.pack([EagerTensor(array) for array in found])
    return call_paths(paths, [item for item in args if type(item) is EagerTensor])


def call_paths(paths, tensors, may_create=False):
    """A call of a function for its tensors.

    Inside vectorized_map it runs as Python: it may use tensors of all elements at once that are not
    among its arguments.
    """
    return paths.run(tensors) if thread.maps else paths.call(tensors, may_create)


def _has_any_number(kind):
    return any([isinstance(leaf, AnyNumber) for _, leaf in leaves_of(kind)])


def _is_general(kind):
    """Whether a kind covers calls that differ in their keys."""
    for _, leaf in leaves_of(kind):
        if isinstance(leaf, TensorSpec):
            if not leaf.shape.is_fully_defined():
                return True
        elif isinstance(leaf, (AnyNumber, VariableKind, CompositeKind)) or is_spec(leaf):
            return True
    return False
