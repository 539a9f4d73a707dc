"""What a tool shows before it is there: a picture and a text that wait for a step to end.

TRL plays the slots of a batch in a plain loop, and looks at what their tools gave only when all of
them were called. A tool that sends its step and gives these lets all the slots step at once.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from PIL import Image as PILImage
from PIL import ImageFile

from ui_gym.contract.device import Image


class LazyPicture(ImageFile.ImageFile):
    """A Pillow image that is read when somebody looks at it, as one of a file is.

    Then it becomes a plain `PIL.Image.Image`. Mode (RGB) and size are known before.

    Args:
        size: (width, height), pixels.
        wait: Gives the picture, shape (height, width, 3), uint8; what it raises, looking raises.
    """

    def __init__(self, size: tuple[int, int], wait: Callable[[], Image]) -> None:
        self._full = size
        self._wait = wait
        super().__init__(io.BytesIO())

    def _open(self) -> None:
        # What Pillow asks of a reader of files ("Writing your own image plugin").
        self._mode = "RGB"
        self._size = self._full

    def load(self) -> Any:
        """Wait for the picture, and become it; as Pillow's own `StubImageFile` does."""
        plain = PILImage.fromarray(self._wait())
        self.__class__ = type(plain)  # type: ignore[assignment]
        self.__dict__ = plain.__dict__
        return plain.load()

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.load()
        return self.__reduce_ex__(protocol)  # now a plain image's


class LazyText(dict[str, str]):
    """A content part ``{"type": "text", "text": ...}`` whose text is waited for when it is read.

    It is a dict all through, since what TRL logs becomes a table of Arrow.
    """

    def __init__(self, wait: Callable[[], str]) -> None:
        super().__init__(type="text", text="")
        self._wait: Callable[[], str] | None = wait

    def __getitem__(self, key: str) -> str:
        if key == "text":
            self._fill()
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        if key == "text":
            self._fill()
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # its own, so that ``{**part}`` asks for each value

    def items(self) -> Any:
        self._fill()
        return super().items()

    def values(self) -> Any:
        self._fill()
        return super().values()

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(other)

    __hash__ = None

    def __repr__(self) -> str:
        self._fill()
        return super().__repr__()

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _fill(self) -> None:
        if self._wait is not None:
            self["text"] = self._wait()
            self._wait = None


@functools.cache
def lazy_works() -> bool:
    """Whether this Pillow's images can be lazy: `LazyPicture` leans on what Pillow asks of readers
    of files, which another version may ask otherwise."""
    looked = []
    picture = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)

    def wait() -> Image:
        looked.append(True)
        return picture

    try:
        lazy = LazyPicture((6, 4), wait)
        early = bool(looked) or (lazy.size, lazy.mode) != ((6, 4), "RGB")
        same = np.array_equal(np.asarray(lazy.convert("RGB")), picture)
    # Whatever Pillow raises, it says no.
    except Exception:
        return False
    return same and not early and len(looked) == 1
