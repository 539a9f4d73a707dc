"""Which MiniWoB++ tasks there are: what a catalogue knows of each, before anything is imported.

The pages are not part of this package. Where the distribution `miniwob` is installed its tasks are
registered; where it is not, their ids say how to get it.
"""

from __future__ import annotations

import importlib.util
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ui_gym.contract.spec import Difficulty, TaskSpec
from ui_gym.errors import UserError

COLLECTION = "miniwob"
REMEDY = "pip install 'ui-gym[miniwob]'"

STEP_TIME = 0.5
"""Page time of a step, in seconds: menus have slid open and hints have appeared when it is over."""

STEP_TIMES = {"click-pie": 1.5, "stock-market": 0.1}
"""Of tasks whose animations take longer, or that change faster than that."""

LEFTOVERS = frozenset({
    "book-flight", "book-flight-nodelay", "choose-date", "choose-date-easy", "choose-date-medium",
    "choose-date-nodelay", "click-menu-2", "click-pie", "copy-paste-2", "daily-calendar",
    "drag-box", "drag-cube", "drag-items", "drag-items-grid", "drag-sort-numbers",
    "form-sequence", "form-sequence-2", "hot-cold", "order-food", "resize-textarea",
    "scroll-text", "scroll-text-2", "search-engine", "sign-agreement", "social-media",
    "social-media-all", "social-media-some", "stock-market", "use-autocomplete-nodelay",
    "use-colorwheel", "use-colorwheel-2", "use-slider", "use-slider-2", "use-spinner",
})  # fmt: skip
"""Tasks whose pages remember something of an episode when the next one starts in them."""

MODULE = "ui_gym.browser.miniwob.tasks"


@dataclass(frozen=True)
class Entry:
    """A task of MiniWoB++."""

    subdomain: str
    """MiniWoB's own name of it, which is also its file's: ``click-button``, ``flight.AA``."""
    category: str
    difficulty: Difficulty
    seconds: int
    """How long an episode may take, in page time."""
    summary: str

    @property
    def name(self) -> str:
        """``ClickButton``: the name of its class, there and here."""
        parts = re.split(r"[-.]", self.subdomain)
        return "".join(part[0].upper() + part[1:] for part in parts)

    @property
    def is_flight(self) -> bool:
        """Whether it is one of the three large pages of airlines."""
        return self.subdomain.startswith("flight.")

    @property
    def restarts(self) -> bool:
        """Whether the next episode may start in the page of the one before."""
        return not (self.is_flight or self.subdomain in LEFTOVERS)

    @property
    def path(self) -> str:
        """The page's file in the folder of pages."""
        if self.is_flight:
            return f"{self.subdomain.replace('.', '/', 1)}/wrapper.html"
        return f"miniwob/{self.subdomain}.html"

    @property
    def step_time(self) -> float:
        return STEP_TIMES.get(self.subdomain, STEP_TIME)

    @property
    def spec(self) -> TaskSpec:
        return TaskSpec(
            name=f"MiniWoB-{self.name}",
            suite="browser",
            entry_point=f"{MODULE}:{self.name}",
            category=self.category,
            difficulty=self.difficulty,
            max_steps=math.ceil(self.seconds / self.step_time),
            tags=(COLLECTION, "flight") if self.is_flight else (COLLECTION,),
            summary=self.summary,
            collection=COLLECTION,
        )


_TABLE = """
ascending-numbers|click|medium|10|Click on the numbers in ascending order.
bisect-angle|draw|hard|10|Find the line that bisects an angle evenly in two.
book-flight|browse|hard|30|Search for the cheapest or shortest flight and book it.
book-flight-nodelay|browse|hard|30|As BookFlight, without animations.
buy-ticket|browse|medium|10|Buy a ticket that matches the requested criteria.
choose-date|date|hard|20|Choose a date in a date picker.
choose-date-easy|date|medium|20|As ChooseDate, in December only.
choose-date-medium|date|medium|20|As ChooseDate, in November and December only.
choose-date-nodelay|date|hard|20|As ChooseDate, without animations.
choose-list|choice|medium|10|Choose an item from a drop-down list.
circle-center|draw|medium|10|Find the centre of a circle.
click-button|click|easy|10|Click on a specific button in a generated form.
click-button-sequence|click|easy|10|Click on buttons in a certain order.
click-checkboxes|choice|easy|10|Tick the named check boxes.
click-checkboxes-large|choice|medium|20|As ClickCheckboxes, five or more of up to twelve.
click-checkboxes-soft|choice|medium|10|As ClickCheckboxes, named by similar words.
click-checkboxes-transfer|choice|medium|10|As ClickCheckboxes, more of them in the held-out split.
click-collapsible|menu|easy|10|Expand a collapsible section and submit.
click-collapsible-2|menu|medium|10|Find a link in collapsible sections.
click-collapsible-2-nodelay|menu|medium|10|As ClickCollapsible2, without animations.
click-collapsible-nodelay|menu|easy|10|As ClickCollapsible, without animations.
click-color|click|easy|10|Click on the named colour.
click-dialog|click|easy|10|Close a dialog box.
click-dialog-2|click|easy|10|Click on a specific button of a dialog box.
click-link|click|easy|10|Click on a specific link in a text.
click-menu|menu|medium|10|Click on an item of a menu with submenus.
click-menu-2|menu|medium|10|Find an item in a menu, by its name or its icon.
click-option|choice|easy|10|Choose an option and submit.
click-pie|menu|medium|10|Click on an item of a pie menu.
click-pie-nodelay|menu|medium|10|As ClickPie, without animations.
click-scroll-list|choice|hard|15|Choose several items in a list that scrolls.
click-shades|click|medium|15|Choose all shades of a colour.
click-shape|visual|medium|10|Click on a shape by its kind, size or colour.
click-tab|menu|easy|10|Click on a tab.
click-tab-2|menu|medium|10|Find a link in the tabs.
click-tab-2-easy|menu|easy|10|As ClickTab2, with one tab.
click-tab-2-hard|menu|hard|20|As ClickTab2, with two to six tabs.
click-tab-2-medium|menu|medium|10|As ClickTab2, with a link that may be missing.
click-test|click|easy|10|Click on the only button.
click-test-2|click|easy|10|Click on one of two buttons.
click-test-transfer|click|easy|10|Click on one of two buttons, the other one in the held-out split.
click-widget|click|easy|10|Click on a specific kind of widget in a generated form.
copy-paste|text|medium|10|Copy a text and paste it into a field.
copy-paste-2|text|hard|10|Copy the text of one of several areas and paste it into a field.
count-shape|visual|medium|10|Count shapes and answer.
count-sides|visual|medium|10|Count the sides of a shape and answer.
daily-calendar|date|hard|20|Create an event in the calendar of a day.
drag-box|drag|medium|10|Drag the smaller box into the larger one.
drag-circle|drag|medium|10|Drag a circle in a given direction.
drag-cube|drag|hard|15|Turn a cube to show a given side.
drag-items|drag|hard|10|Drag an item of a list to its place.
drag-items-grid|drag|hard|10|Drag an item of a grid to its place.
drag-shapes|drag|hard|15|Drag shapes of one kind into a box.
drag-shapes-2|drag|hard|30|Drag shapes into two boxes by their kinds.
drag-single-shape|drag|medium|10|Drag a shape in a given direction.
drag-sort-numbers|drag|hard|10|Drag numbers into ascending order.
draw-circle|draw|hard|10|Draw a circle around a marked point.
draw-line|draw|hard|10|Draw a line through a marked point.
email-inbox|mail|hard|30|Find an email, then reply, forward, delete or star.
email-inbox-delete|mail|medium|30|As EmailInbox, without scrolling: delete an email.
email-inbox-forward|mail|medium|30|As EmailInbox, without scrolling: forward an email.
email-inbox-forward-nl|mail|medium|30|As EmailInboxForward, asked in 30 ways.
email-inbox-forward-nl-turk|mail|medium|30|As EmailInboxForward, asked in 100 ways.
email-inbox-important|mail|medium|30|As EmailInbox, without scrolling: star an email.
email-inbox-nl-turk|mail|hard|30|As EmailInbox, asked in 100 ways for each kind of request.
email-inbox-noscroll|mail|medium|30|As EmailInbox, without scrolling.
email-inbox-reply|mail|medium|30|As EmailInbox, without scrolling: reply to an email.
email-inbox-star-reply|mail|medium|30|As EmailInbox, without scrolling: star or reply.
enter-date|date|medium|20|Enter a date into a date field.
enter-password|input|easy|15|Enter a password twice.
enter-text|input|easy|10|Enter a text into a field.
enter-text-2|input|easy|10|Enter a text in upper or lower case.
enter-text-dynamic|input|easy|10|Enter a text into a field at varying places.
enter-time|date|medium|20|Enter a time into a time field.
find-greatest|visual|medium|10|Turn cards over to find the greatest number.
find-midpoint|draw|hard|10|Find the middle between two points.
find-word|text|medium|10|Find the n-th word of a text.
flight.AA|browse|hard|60|Search for flights on a page of American Airlines.
flight.Alaska|browse|hard|60|Search for flights on a page of Alaska Airlines.
flight.Alaska-auto|browse|hard|60|As FlightAlaska, with generated requests.
focus-text|input|easy|10|Focus a text field.
focus-text-2|input|easy|10|Focus one of several text fields.
form-sequence|input|hard|10|Set a slider, tick a box and press a button.
form-sequence-2|input|hard|10|Choose an option, enter a number and submit.
form-sequence-3|input|hard|10|Choose in a drop-down list and press a button.
generate-number|math|medium|15|Generate a random number that meets a condition.
grid-coordinate|visual|medium|10|Click on a point of a coordinate grid.
guess-number|math|hard|15|Guess a number from hints.
highlight-text|text|medium|10|Select all of a text.
highlight-text-2|text|hard|10|Select a specific paragraph.
hot-cold|visual|hard|15|Find the hot area by moving the mouse.
identify-shape|visual|easy|10|Say which shape is shown.
login-user|input|easy|10|Enter a user name and a password.
login-user-popup|input|medium|15|As LoginUser, with a popup that may come.
multi-layouts|input|medium|20|Fill in forms of varying layouts.
multi-orderings|input|medium|20|Fill in forms with their fields in varying order.
navigate-tree|menu|medium|10|Find a file or folder in a tree.
number-checkboxes|visual|hard|30|Draw a number with check boxes.
odd-or-even|math|medium|15|Mark numbers as odd or even.
order-food|choice|hard|20|Order items from a menu.
phone-book|search|hard|15|Find a contact in a phone book of several pages.
read-table|table|medium|10|Read a cell of a table and enter it.
read-table-2|table|medium|20|Read several cells of a table and enter them.
resize-textarea|drag|hard|10|Resize a text area in a given direction.
right-angle|draw|hard|10|Add a point so that three make a right angle.
scroll-text|text|hard|10|Scroll to the end of a text and enter its last word.
scroll-text-2|text|medium|10|Scroll a text to its top or its bottom.
search-engine|search|hard|20|Search, and open the n-th result.
sign-agreement|text|hard|10|Scroll through an agreement and sign or cancel it.
simple-algebra|math|medium|10|Solve for X.
simple-arithmetic|math|easy|10|Do a sum.
social-media|social|medium|15|Do something with a post in a feed.
social-media-all|social|hard|20|Do something with all posts of a person.
social-media-some|social|hard|20|Do something with some posts of a person.
stock-market|visual|hard|10|Buy a stock when its price is below a threshold.
terminal|text|hard|20|Delete a file in a terminal.
text-editor|text|hard|15|Change the style of a word in a text editor.
text-transform|visual|medium|15|Type a text that is shown slightly distorted.
tic-tac-toe|game|hard|10|Win a game of tic-tac-toe.
unicode-test|click|easy|10|Click on the button with a given text in Unicode.
use-autocomplete|choice|medium|10|Enter an item with the help of suggestions.
use-autocomplete-nodelay|choice|medium|10|As UseAutocomplete, without delay.
use-colorwheel|drag|hard|7|Choose a named colour on a colour wheel.
use-colorwheel-2|drag|hard|7|Choose a shown colour on a colour wheel.
use-slider|drag|hard|10|Set a slider to a value.
use-slider-2|drag|hard|20|Set several sliders to given values.
use-spinner|input|medium|10|Set a spinner to a number.
visual-addition|visual|medium|15|Count the blocks of two piles together.
"""


def _entries() -> dict[str, Entry]:
    found = {}
    for line in _TABLE.strip().splitlines():
        subdomain, category, difficulty, seconds, summary = line.split("|")
        entry = Entry(subdomain, category, cast(Difficulty, difficulty), int(seconds), summary)
        found[entry.name] = entry
    return found


ENTRIES: dict[str, Entry] = _entries()
"""All tasks that `miniwob` 1.1.0 registers, by their names."""


def html_folder() -> Path | None:
    """Where the installed distribution keeps its pages; None where there is none.

    The distribution is found, not imported: importing it registers its own envs and may print.
    """
    found = importlib.util.find_spec("miniwob")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "html"
    return folder if folder.is_dir() else None


def need_html_folder() -> Path:
    """`html_folder`, or a `UserError` that says how to get it."""
    folder = html_folder()
    if folder is None:
        raise UserError(f"the distribution miniwob, whose pages are played, is missing: {REMEDY}")
    return folder
