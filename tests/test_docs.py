"""The code in README.md and docs/ runs, and prints what the page says it prints.

A ```python block is executed; a ```text block directly after it is its exact output. A block that
cannot run is marked ```python no-run, and an HTML comment directly above it says why. The blocks of
one page share a namespace, top to bottom.
"""

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REASON = re.compile(r"<!--\s*\S.*-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A ```python block of a page."""

    line: int  # of its first line of code, counted from 1
    code: str
    output: str | None  # the ```text block directly after it
    runs: bool


@dataclass(frozen=True)
class Fence:
    """A fenced block of any language, and the text between it and the one before."""

    line: int
    info: str
    body: str
    before: str


def read_fences(text: str) -> list[Fence]:
    fences, before, opened = [], [], None
    for number, line in enumerate(text.splitlines(), start=1):
        if opened is None and line.lstrip().startswith("```"):
            opened = (number, line.strip().removeprefix("```").strip(), line.index("`"), [])
        elif opened is None:
            before.append(line)
        elif line.strip() == "```":
            start, info, _, body = opened
            joined = "".join(f"{entry}\n" for entry in body)
            fences.append(Fence(start + 1, info, joined, "\n".join(before).strip()))
            before, opened = [], None
        else:
            opened[3].append(line[opened[2] :])
    if opened is not None:
        raise ValueError(f"the block opened in line {opened[0]} is never closed")
    return fences


def read_blocks(text: str) -> list[Block]:
    blocks, fences = [], read_fences(text)
    for fence, following in zip(fences, [*fences, None][1:], strict=True):
        language, _, mark = fence.info.partition(" ")
        if language != "python":
            continue
        if mark not in ("", "no-run"):
            raise ValueError(f"line {fence.line - 1}: expected `python` or `python no-run`")
        last_paragraph = fence.before.rpartition("\n\n")[2]
        if mark == "no-run" and not REASON.fullmatch(last_paragraph):
            raise ValueError(f"line {fence.line - 1}: a no-run block needs a reason in a comment")
        has_output = following is not None and following.info == "text" and not following.before
        output = following.body if following is not None and has_output else None
        blocks.append(Block(fence.line, fence.body, output, runs=not mark))
    return blocks


def run_blocks(text: str, name: str) -> int:
    """Execute a page's blocks, compare their output, and return how many ran."""
    namespace = {"__name__": "__main__"}
    executed = [block for block in read_blocks(text) if block.runs]
    for block in executed:
        # Blank lines before the code make tracebacks point into the page.
        code = compile("\n" * (block.line - 1) + block.code, name, "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{name}:{block.line} prints otherwise"
    return len(executed)


@pytest.fixture
def imports_put_back(monkeypatch):
    """A page may call install_as_tensorflow(); the tests after it must not notice."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = {name for name in sys.modules if name.partition(".")[0] == "tensorflow"}
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
        if name not in before:
            del sys.modules[name]


@pytest.mark.usefixtures("imports_put_back")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs_and_prints_what_it_says(page):
    executed = run_blocks(page.read_text(encoding="utf-8"), str(page))
    assert executed or page.name != "README.md", "README.md has no example that runs"


def test_contributing_shows_code_that_exists():
    sources = [*(ROOT / "src/gradtape/ops").glob("*.py"), *(ROOT / "tests").rglob("cases/*.py")]
    existing = " ".join(squeeze(path.read_text(encoding="utf-8")) for path in sources)
    shown = read_blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(shown) == 2, "the row and the case"
    for block in shown:
        assert squeeze(block.code) in existing, f"CONTRIBUTING.md:{block.line} is out of date"


def squeeze(code: str) -> str:
    """Code without what a formatter decides: spaces, line ends, trailing commas."""
    return re.sub(r",(?=[)\]}])", "", re.sub(r"\s+", "", code))


PAGE = """Text.

```python
x = 2
print(x + 1)
```
```text
3
```

```python
print(x)
```

```text
2
```
"""


def test_blocks_share_a_namespace_and_are_counted():
    assert run_blocks(PAGE, "page.md") == 2


def test_wrong_output_is_found():
    with pytest.raises(AssertionError, match=r"page\.md:4 prints otherwise"):
        run_blocks(PAGE.replace("3\n", "4\n"), "page.md")


def test_wrong_output_after_a_blank_line_is_found():
    with pytest.raises(AssertionError, match=r"page\.md:12 prints otherwise"):
        run_blocks(PAGE.replace("2\n```\n", "5\n```\n"), "page.md")


def test_error_is_reported_at_its_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as raised:
        run_blocks(PAGE.replace("print(x)", "x / 0"), "page.md")
    assert raised.traceback[-1].lineno + 1 == 12


def test_text_after_prose_is_not_output():
    assert run_blocks(PAGE.replace("```\n```text\n3", "```\nProse.\n```text\n9"), "page.md") == 2


def test_no_run_needs_a_reason():
    with pytest.raises(ValueError, match="line 3: a no-run block needs a reason"):
        run_blocks(PAGE.replace("```python\nx", "```python no-run\nx"), "page.md")


def test_no_run_with_a_reason_is_left_out():
    page = PAGE.replace("```python\nx = 2", "<!-- takes an hour -->\n```python no-run\nx = 2")
    with pytest.raises(NameError, match="'x'"):
        run_blocks(page, "page.md")


def test_unknown_mark_is_refused():
    with pytest.raises(ValueError, match="expected `python` or `python no-run`"):
        run_blocks(PAGE.replace("```python\nx", "```python norun\nx"), "page.md")


def test_unclosed_block_is_refused():
    with pytest.raises(ValueError, match="opened in line 15 is never closed"):
        run_blocks(PAGE.removesuffix("```\n"), "page.md")
