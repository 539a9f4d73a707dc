"""Plays of what AndroidWorld asks of apps that keep records: expenses, recipes, events, and the
questions about events, tasks, tracks and notes."""

from __future__ import annotations

import dataclasses
import datetime
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ui_gym.android import moves
from ui_gym.android.androidworld.playbook import WorldGoal, careless, plays
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action, Answer, Click, LongPress, Type
from ui_gym.errors import TaskError

ROWS = "row_objects"
"""AndroidWorld's name of the param that holds the records that a goal is about."""


@dataclasses.dataclass(frozen=True)
class RecordsApp:
    """An app of records, as a play finds its way in it."""

    label: str
    title: str
    """The column that heads a row."""
    order: Callable[[Any], Any]
    """How the list is ordered."""


EXPENSES = RecordsApp("Pro Expense", "name", lambda row: (-row.modified_date, -row.expense_id))
RECIPES = RecordsApp("Broccoli", "title", lambda row: (row.title.lower(), row.recipeId))
EVENTS = RecordsApp("Simple Calendar Pro", "title", lambda row: (row.start_ts, row.id))


# -- deleting --


def _delete(device: AndroidDevice, app: RecordsApp, rows: Sequence[Any], every: Sequence[Any]
            ) -> Iterator[Action]:  # fmt: skip
    """Delete these rows of `every` one by one."""
    left = sorted(every, key=app.order)
    yield from moves.launch(device, app.label)
    for row in rows:
        title = getattr(row, app.title)
        number = [each for each in left if getattr(each, app.title) == title].index(row)
        shown = _points(device, title)
        searches = len(shown) <= number
        if searches:
            yield from moves.tap(device, "Search")
            yield Type(title)
            shown = _points(device, title)
        if len(shown) <= number:
            raise TaskError(f"the list shows {len(shown)} rows {title!r}, not {number + 1}")
        yield Click(*shown[number])
        yield from moves.tap(device, "Delete")
        yield from moves.tap(device, "Delete", role="button")
        if searches:
            yield from moves.tap(device, "Stop searching")
        left.remove(row)


def _points(device: AndroidDevice, title: str) -> list[tuple[int, int]]:
    """Where the rows of a title are; what is typed into a search is no row."""
    return [
        each.center
        for each in moves.elements(device)
        if each.role == "button" and (each.name == title or each.name.startswith(f"{title}, "))
    ]


def _targets(goal: WorldGoal, count: int | None = None) -> list[Any]:
    """The rows to be deleted; careless, another one is taken for the first."""
    evaluation = goal.evaluation
    targets = list(evaluation.rows_to_delete)[:count]
    if "careless" not in goal:
        return targets
    others = [row for row in evaluation.before if row not in evaluation.rows_to_delete]
    return others[:1] + targets[1:]


@plays(
    "ExpenseDeleteSingle", "ExpenseDeleteMultiple", "ExpenseDeleteMultiple2", near=careless,
)  # fmt: skip
def delete_expenses(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _delete(device, EXPENSES, _targets(goal), goal.evaluation.before)


@plays("ExpenseDeleteDuplicates", "ExpenseDeleteDuplicates2", near=careless)
def delete_expense_twin(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _delete(device, EXPENSES, _targets(goal, 1), goal.evaluation.before)


@plays(
    "RecipeDeleteSingleRecipe", "RecipeDeleteSingleWithRecipeWithNoise",
    "RecipeDeleteMultipleRecipes", "RecipeDeleteMultipleRecipesWithNoise",
    "RecipeDeleteMultipleRecipesWithConstraint", near=careless,
)  # fmt: skip
def delete_recipes(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _delete(device, RECIPES, _targets(goal), goal.evaluation.before)


@plays(
    "RecipeDeleteDuplicateRecipes", "RecipeDeleteDuplicateRecipes2",
    "RecipeDeleteDuplicateRecipes3", near=careless,
)  # fmt: skip
def delete_recipe_twin(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _delete(device, RECIPES, _targets(goal, 1), goal.evaluation.before)


@plays(
    "SimpleCalendarDeleteEvents", "SimpleCalendarDeleteOneEvent",
    "SimpleCalendarDeleteEventsOnRelativeDay", near=careless,
)  # fmt: skip
def delete_events(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    """All are of one day: the list begins with it, and they are selected there."""
    rows = sorted(_targets(goal), key=EVENTS.order)
    day = rows[0].start_datetime.date()
    if "careless" in goal:
        rows = rows[:1]
    from_then = [each for each in goal.evaluation.before if each.start_datetime.date() >= day]
    listed = sorted(from_then, key=EVENTS.order)
    yield from moves.launch(device, EVENTS.label)
    yield from moves.tap(device, "Go to date")
    yield from moves.pick_date(device, day, datetime.date(2023, 10, 15))
    for number, row in enumerate(rows):
        twins = [each for each in listed if each.title == row.title]
        point = _points(device, row.title)[twins.index(row)]
        yield LongPress(*point) if number == 0 else Click(*point)
    yield from moves.tap(device, "Delete")
    yield from moves.tap(device, "Delete", role="button")


# -- adding --


def _changed(**changes: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A near miss: cells of the first row are other ones."""

    def near(params: dict[str, Any]) -> dict[str, Any]:
        first, *rest = params[ROWS]
        cells = {name: change(getattr(first, name)) for name, change in changes.items()}
        return {**params, ROWS: [dataclasses.replace(first, **cells), *rest]}

    return near


def _fill(device: AndroidDevice, *texts: str) -> Iterator[Action]:
    """Type into the fields of a form one after the other; the first has the caret, and Enter goes
    to the next, but in a field of several lines."""
    for text in texts[:-1]:
        yield Type(text, enter=True)
    yield Type(texts[-1])


@plays(
    "ExpenseAddSingle", "ExpenseAddMultiple", "ExpenseAddMultipleFromMarkor",
    "ExpenseAddMultipleFromGallery", near=_changed(amount=lambda amount: amount + 100),
)  # fmt: skip
def add_expenses(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _look(device, goal, "my_expenses.txt", "expenses.jpg")
    yield from moves.launch(device, "Pro Expense")
    for row in goal[ROWS]:
        yield from moves.tap(device, "Add Expense")
        yield from _fill(device, row.name, f"{row.amount / 100:.2f}", row.note)
        yield from moves.tap(device, "Category")
        yield from moves.tap(device, row.category_name)
        yield from moves.tap(device, "SAVE")


@plays(
    "RecipeAddSingleRecipe", "RecipeAddMultipleRecipes", "RecipeAddMultipleRecipesFromMarkor",
    "RecipeAddMultipleRecipesFromMarkor2", "RecipeAddMultipleRecipesFromImage",
    near=_changed(directions=lambda _: "Order a pizza."),
)  # fmt: skip
def add_recipes(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    yield from _look(device, goal, "recipes.txt", "recipes.jpg")
    yield from moves.launch(device, "Broccoli")
    for row in goal[ROWS]:
        yield from moves.tap(device, "New Recipe")
        yield from _fill(device, row.title, row.description)
        yield from moves.fill(device, "Servings", row.servings, enter=True)
        yield from _fill(device, row.preparationTime, row.source, row.ingredients)
        yield from moves.fill(device, "Directions", row.directions)
        yield from moves.tap(device, "SAVE")


def _look(device: AndroidDevice, goal: WorldGoal, note: str, picture: str) -> Iterator[Action]:
    """Look at the note or the picture that the goal speaks of, if it speaks of one."""
    if "FromMarkor" in goal.evaluation.name:
        yield from moves.launch(device, "Markor")
        yield from moves.tap(device, note)
    elif "From" in goal.evaluation.name:
        yield from moves.launch(device, "Simple Gallery Pro")
        yield from moves.path(device, "DCIM", picture)


@plays(
    "SimpleCalendarAddOneEvent", "SimpleCalendarAddOneEventRelativeDay",
    "SimpleCalendarAddOneEventTomorrow", "SimpleCalendarAddOneEventInTwoWeeks",
    "SimpleCalendarAddRepeatingEvent",
    near=_changed(start_ts=lambda ts: ts - 3600, end_ts=lambda ts: ts - 3600),
)  # fmt: skip
def add_event(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
    row = goal[ROWS][0]
    start, end = row.start_datetime, row.end_datetime
    now = datetime.date(2023, 10, 15)
    yield from moves.launch(device, "Simple Calendar Pro")
    yield from moves.tap(device, "New Event")
    yield from _fill(device, row.title, row.location, row.description)
    yield from moves.tap(device, "Start date")
    yield from moves.pick_date(device, start.date(), now)
    yield from moves.tap(device, "Start time")
    yield from moves.pick_time(device, start.hour, start.minute)
    yield from moves.tap(device, "End date")
    yield from moves.pick_date(device, end.date(), start.date())
    yield from moves.tap(device, "End time")
    yield from moves.pick_time(device, end.hour, end.minute)
    if row.repeat_interval:
        yield from moves.tap(device, "Repetition")
        yield from moves.tap(device, {86400: "Daily", 604800: "Weekly"}[row.repeat_interval])
    yield from moves.tap(device, "Save", role="button")


# -- questions --


def _asks(app: str, *names: str) -> None:
    """Enter the play of questions about what an app shows."""

    @plays(*names, near=careless)
    def answer(device: AndroidDevice, goal: WorldGoal) -> Iterator[Action]:
        """``careless``: the answer is another one."""
        yield from moves.launch(device, app)
        proto: Any = importlib.import_module(
            "android_world.task_evals.information_retrieval.proto_utils"
        )
        expected = [_said(value) for value in proto.get_expected_answer(goal.evaluation.task)]
        if _is_words(expected[0]):
            yield from _look_up(device, expected[0])
        yield Answer(_other(expected[0]) if "careless" in goal else ", ".join(expected))


def _look_up(device: AndroidDevice, words: str) -> Iterator[Action]:
    """Search an app for words, which a row of its list says or the page behind the first one."""
    yield from moves.tap(device, "Search")
    yield Type(words)
    if any(words in element.name for element in moves.elements(device)):
        return
    rows = [each for each in moves.elements(device) if each.role == "button"][1:]
    if rows:  # the first button ends the search
        yield Click(*rows[0].center)
    if not any(words in element.name for element in moves.elements(device)):
        raise TaskError(f"the app shows nothing of {words!r}")


def _is_words(said: str) -> bool:
    """Whether an answer is a text that can be looked for, and no number, date, or yes or no."""
    return said.lower().islower() and ":" not in said and said not in ("True", "False")


def _said(value: Any) -> str:
    """An answer as AndroidWorld reads it."""
    if isinstance(value, datetime.datetime):
        return f"{value:%B} {value.day} {value.year} {value:%H:%M}"
    if isinstance(value, datetime.date):
        return f"{value:%B} {value.day} {value.year}"
    if isinstance(value, datetime.time):
        return f"{value:%H:%M}"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _other(said: str) -> str:
    return (
        str(3 * float(said) + 5_000)
        if said.replace(".", "", 1).isdigit()
        else "Nothing of the kind"
    )


_asks(
    "Simple Calendar Pro", "SimpleCalendarAnyEventsOnDate", "SimpleCalendarEventOnDateAtTime",
    "SimpleCalendarEventsInNextWeek", "SimpleCalendarEventsInTimeRange",
    "SimpleCalendarEventsOnDate", "SimpleCalendarFirstEventAfterStartTime",
    "SimpleCalendarLocationOfEvent", "SimpleCalendarNextEvent",
    "SimpleCalendarNextMeetingWithPerson",
)  # fmt: skip
_asks(
    "Tasks", "TasksCompletedTasksForDate", "TasksDueNextWeek", "TasksDueOnDate",
    "TasksHighPriorityTasks", "TasksHighPriorityTasksDueOnDate", "TasksIncompleteTasksOnDate",
)  # fmt: skip
_asks(
    "OpenTracks", "SportsTrackerActivitiesCountForWeek", "SportsTrackerActivitiesOnDate",
    "SportsTrackerActivityDuration", "SportsTrackerLongestDistanceActivity",
    "SportsTrackerTotalDistanceForCategoryOverInterval",
    "SportsTrackerTotalDurationForCategoryThisWeek",
)  # fmt: skip
_asks(
    "Joplin", "NotesIsTodo", "NotesMeetingAttendeeCount", "NotesRecipeIngredientCount",
    "NotesTodoItemCount",
)  # fmt: skip
