"""Text is held, selected by its handles, cut, copied and pasted; there is one clipboard."""

from __future__ import annotations

import pytest
from hands import NOTE, SIDEWAYS, Hand

LINE = "Meet Anna at the old river bank"


@pytest.fixture
def hand() -> Hand:
    hand = Hand(NOTE)
    hand.tap("Text")
    hand.do(f'type("{LINE}")')
    return hand


def word(hand: Hand, name: str = "Anna") -> tuple[int, int]:
    """Where a word of the note is seen."""
    shape = hand.handset.screen.scene.fields["text"].shape
    begin = LINE.index(name)
    (x1, y), (x2, _) = shape.spot(begin), shape.spot(begin + len(name))
    return (x1 + x2) // 4, (y + shape.step // 2) // 2  # the picture has half the pixels


def hold(hand: Hand, name: str = "Anna") -> None:
    x, y = word(hand, name)
    hand.do(f"long_press({x}, {y})")


def bar(hand: Hand, name: str) -> None:
    """Touch what the bar offers: it is told of last, as it lies over everything."""
    x, y = [element for element in hand.device.elements() if element.name == name][-1].center
    hand.do(f"click({x}, {y})")


def clipboard(hand: Hand) -> str:
    """What the clipper's broadcast tells, in quotes; empty where there is nothing."""
    said = hand.shell("am broadcast -a clipper.get")
    return said.partition('data="')[2].rstrip().rstrip('"')


def test_a_held_word_is_selected_and_copied(hand):
    hold(hand)
    assert {"Cut", "Copy", "Select all", "Selection end handle"} <= set(hand.seen)
    assert "Paste" not in hand.seen
    bar(hand, "Copy")
    assert clipboard(hand) == "Anna"
    assert "Copy" not in hand.seen
    assert hand.field() == LINE


def test_what_is_cut_is_pasted_elsewhere(hand):
    hold(hand, "old")
    hand.tap("Cut")
    assert hand.field() == LINE.replace("old", "")
    hand.tap("File name")
    hand.hold("File name")
    bar(hand, "Paste")
    assert hand.field() == "old"


def test_handles_are_dragged_over_more_and_less(hand):
    hold(hand)
    hand.drag("Selection end handle", 600, 0)
    hand.tap("Copy")
    assert clipboard(hand) == LINE[LINE.index("Anna") :]
    hold(hand)
    hand.drag("Selection start handle", -400, 0)
    hand.tap("Copy")
    assert clipboard(hand) == "Meet Anna"
    hold(hand)
    hand.drag("Selection end handle", -400, 0)  # it does not pass the other
    hand.tap("Copy")
    assert clipboard(hand) == "A"


def test_select_all_then_typing_replaces_all(hand):
    hold(hand)
    hand.tap("Select all")
    assert "Select all" not in hand.seen
    hand.do('type("Gone")')
    assert hand.field() == "Gone"


def test_two_quick_taps_select_a_word_and_one_puts_the_caret(hand):
    x, y = word(hand)
    hand.do(f"click({x}, {y}, count=2)")
    hand.do('type("Ben")')
    assert hand.field() == LINE.replace("Anna", "Ben")
    x, y = word(hand, "Meet")
    hand.do(f"click({x}, {y})")
    hand.do('type("X")')
    assert hand.field() == "MeXet Ben at the old river bank"


def test_what_was_copied_elsewhere_is_pasted_into_an_empty_field(hand):
    hand.shell("am broadcast -a clipper.set -e text 'From outside'")
    hand.hold("File name")
    bar(hand, "Paste")
    assert hand.field() == "From outside"


def test_an_empty_field_without_anything_to_paste_has_no_bar(hand):
    hand.hold("File name")
    assert "Paste" not in hand.seen
    assert "Caret handle" in hand.seen


def test_back_ends_the_selection_before_the_keyboard(hand):
    hold(hand)
    hand.do('press("back")')
    assert "Copy" not in hand.seen
    assert hand.handset.keyboard_shown
    hand.do('press("back")')
    assert not hand.handset.keyboard_shown


def test_the_keyboard_s_keys_and_shift_select_too(hand):
    hand.do('press("shift+left"); press("shift+left"); press("ctrl+c")')
    assert clipboard(hand) == "nk"
    hand.do('press("right"); press("ctrl+v")')
    assert hand.field() == LINE + "nk"


def test_a_password_is_not_copied():
    hand = Hand("am start -n com.android.settings/.Settings\\$WifiSettingsActivity")
    hand.tap("HomeNet 5G")
    hand.tap("Password")
    hand.do('type("correct horse")')
    x, y = hand.handset.screen.scene.fields["password"].shape.spot(3)
    hand.shell(f"input swipe {x} {y + 9} {x} {y + 9} 800")
    assert "Selection end handle" in hand.seen
    assert "Copy" not in hand.seen
    hand.do('press("ctrl+a"); press("ctrl+c")')
    assert clipboard(hand) == ""


def test_the_bar_stays_on_the_screen_that_is_turned():
    hand = Hand(SIDEWAYS, NOTE)
    hand.tap("Text")
    hand.do(f'type("{LINE}")')
    x, y = hand.handset.screen.scene.fields["text"].shape.spot(2)
    hand.shell(f"input swipe {x} {y + 9} {x} {y + 9} 800")
    assert "Copy" in hand.seen
    width, height = hand.handset.screen.display.width, hand.handset.screen.display.height
    for node in hand.nodes():
        left, top, right, bottom = map(
            int, node["bounds"].strip("[]").replace("][", ",").split(",")
        )
        assert 0 <= left <= right <= width
        assert 0 <= top <= bottom <= height


def test_a_part_of_a_text_that_is_read_is_copied_but_not_cut():
    hand = Hand(
        "mkdir -p /sdcard/Documents/Notes; echo 'Call Ann at nine' > /sdcard/Documents/Notes/a.txt",
        "am start -n org.uigym.notes/.MainActivity",
    )
    hand.tap("a.txt")
    x, y = hand.handset.screen.scene.readable["note_text"].shape.spot(6)
    hand.shell(f"input swipe {x} {y + 9} {x} {y + 9} 800")
    assert {"Copy", "Select all"} <= set(hand.seen)
    assert "Cut" not in hand.seen
    assert not hand.handset.keyboard_shown
    bar(hand, "Copy")
    assert clipboard(hand) == "Ann"
    hand.do('press("back")')
    assert hand.activity == ".MainActivity"
