"""Random actions on a screen, for the property tests of all dialects."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from ui_gym.contract import action as a

SIZES = st.tuples(st.integers(1, 1000), st.integers(1, 1000))
TEXT = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.text(alphabet="\\'\"\n\r\t);,#<x1>y ¬é{}[]:`", max_size=12)
    | st.sampled_from(
        ["Action: wait()", "\nAction: {", "</tool_call>", "```", "<tool_call>{", "DONE"]
    )
)
SECONDS = st.floats(0, a.MAX_SECONDS) | st.sampled_from([0.3, 0.8, 1.0, 5.0])
KEYS = st.sampled_from(
    ["enter", "ctrl+c", "ctrl++", "+", "a", "A", "home", "back", "ctrl+shift+t", "escape", "pageup",
     "meta+space", "alt+left", "f5", "volume_up", "recents", "a b", "ctrl+ctrl", "'", "`"]
)  # fmt: skip


def typable(text: str) -> str:
    """`text` without the control characters that cannot be typed."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")


AMOUNTS = st.sampled_from([-300, 0, 300]) | st.integers(-2000, 2000)


def actions(size: tuple[int, int]) -> st.SearchStrategy[a.Action]:
    """Any action whose points lie on a screen of `size`."""
    x, y = st.integers(0, size[0] - 1), st.integers(0, size[1] - 1)
    return st.one_of(
        st.builds(
            a.Click,
            x,
            y,
            st.sampled_from(["left", "middle", "right"]),
            st.integers(1, 3),
            st.just("") | KEYS,
        ),
        st.builds(a.LongPress, x, y, SECONDS),
        st.builds(a.Move, x, y),
        st.builds(a.Drag, x, y, x, y, SECONDS),
        st.builds(a.Scroll, x, y, AMOUNTS, AMOUNTS),
        st.builds(a.Type, TEXT.map(typable), st.booleans(), st.booleans()),
        st.builds(a.Press, KEYS | TEXT.filter(lambda text: text.strip() and "+" not in text)),
        st.builds(a.Open, TEXT),
        st.builds(a.Wait, SECONDS),
        st.builds(a.Answer, TEXT),
        st.builds(a.Finish, st.sampled_from(["success", "failure", "infeasible"]), TEXT),
    )


@st.composite
def screens(draw: st.DrawFn, most: int = 4) -> tuple[tuple[int, int], list[a.Action]]:
    """A screen and one to `most` actions on it; only the last one may end the episode."""
    size = draw(SIZES)
    drawn = draw(st.lists(actions(size), min_size=1, max_size=most))
    return size, [one for one in drawn[:-1] if not one.ends_episode] + drawn[-1:]


THOUGHTS = st.text(max_size=40) | TEXT
