"""Work that is split over threads: every part once, and the numbers of a single thread."""

import os
import threading
import time

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import distributions, parallel

MANY = 3 * 4 * 65536 + 12


@pytest.fixture
def threads():
    """Sets the number of threads by the public function, and puts it back."""
    put = tf.config.threading.set_intra_op_parallelism_threads
    yield put
    put(0)


@pytest.mark.parametrize(("count", "size"), [(2, 20), (3, 31), (5, 30), (4, 4000)])
def test_parts_make_up_the_whole(threads, count, size):
    threads(count)
    parts = []
    parallel.in_parts(lambda start, stop: parts.append((start, stop)), size, 10)
    assert len(parts) == min(count, size // 10)
    assert sorted(i for part in parts for i in range(*part)) == list(range(size))


@pytest.mark.parametrize(("count", "size"), [(1, 4000), (4, 0), (4, 19)])
def test_little_work_stays_in_its_thread(threads, count, size):
    threads(count)
    calls = []
    parallel.in_parts(lambda *part: calls.append((part, threading.get_ident())), size, 10)
    assert calls == [((0, size), threading.get_ident())]


@pytest.mark.parametrize("bad", [0, 10])
def test_an_error_in_any_part_is_raised_when_all_have_ended(threads, bad):
    threads(2)
    ended = []

    def work(start, stop):
        if start == bad:
            raise ValueError("no")
        time.sleep(0.05)
        ended.append(start)

    with pytest.raises(ValueError, match="no"):
        parallel.in_parts(work, 20, 10)
    assert ended == [10 - bad]


@pytest.mark.parametrize("kernel", [distributions.uniform, distributions.normal])
@pytest.mark.parametrize("counter", [3, 2**32 - 100_000, 2**128 - 70_000])
def test_samples_do_not_depend_on_the_number_of_threads(threads, kernel, counter):
    samples = []
    for count in (1, 2, 3):
        threads(count)
        samples.append(kernel(7, counter, MANY, np.float32).tobytes())
    assert samples[0] == samples[1] == samples[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(threads):
    threads(2)
    expected = distributions.uniform(1, 2, MANY, np.float32)
    child = os.fork()
    if not child:
        same = (distributions.uniform(1, 2, MANY, np.float32) == expected).all()
        os._exit(0 if same else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("The forked process waits for threads it does not have.")
