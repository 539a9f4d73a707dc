"""The Calculator app: a formula, its result while it is typed, and the keys."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.calculator.formula import LONGEST, OPERATORS, FormulaError, evaluate
from ui_gym_phone.apps.figures import Figures, Keypad, KeypadKey
from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.apps.support import small
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import IconButton

APP = app_of("com.android.calculator2")

KEYS = ("C()÷", "789×", "456−", "123+", "%0.=")
SPOKEN = {
    "C": "clear", "(": "left parenthesis", ")": "right parenthesis", "÷": "divide",
    "×": "multiply", "−": "minus", "+": "plus", "%": "percent", ".": "point", "=": "equals",
}  # fmt: skip


@APP.screen(".Calculator")
def calculator(ui: Ui) -> AppPage:
    """The only screen. ``formula`` is what was typed; ``done`` says that = was pressed."""
    keypad = Keypad([[_key(ui, sign) for sign in row] for row in KEYS], cell=76)
    body = VStack(
        _display(ui),
        Space(8),
        VStack(keypad, pad=(12, 0, 12, 12), weight=1),
    )
    return AppPage(body)


def _key(ui: Ui, sign: str) -> KeypadKey:
    ground, ink = "container", "text"
    if sign == "=":
        ground, ink = "primary", "on_primary"
    elif sign in "C()%" or sign in OPERATORS:
        ground, ink = "tonal", "on_tonal"
    name = f"digit_{sign}" if sign.isdigit() else ""
    spoken = SPOKEN.get(sign, sign)
    return KeypadKey(sign, partial(_press, ui, sign), spoken, ground=ground, ink=ink, id=name)


def _display(ui: Ui) -> Widget:
    formula, done = str(ui.state.get("formula", "")), bool(ui.state.get("done"))
    result, failed = _result(formula, done)
    upper_styles = ("title", "body") if small(ui.phone) else ("display", "headline", "title")
    lower_styles = ("body", "small") if small(ui.phone) else ("title", "body", "small")
    upper = Figures(formula or "0", "dim" if done or not formula else "text", align="end",
                    styles=lower_styles if done else upper_styles,
                    id="formula")  # fmt: skip
    colour = "error" if failed else "text" if done else "dim"
    lower = Figures(result or " ", colour, align="end", id="result",
                    styles=upper_styles if done else lower_styles)  # fmt: skip
    shown = Tap(lower, on_long_press=partial(ui.copy, result, "Result copied")) if result else lower
    erase = IconButton("backspace-outline", "delete", partial(_erase, ui), id="del")
    return Surface(
        VStack(
            upper,
            HStack(erase, Expand(shown), gap=8),
            gap=4, pad=(16, 8, 16, 8),
        ),
        "surface",
    )  # fmt: skip


def _result(formula: str, done: bool) -> tuple[str, bool]:
    """What the lower line says, and whether that is an error. Half a formula has no result yet."""
    if not formula:
        return "", False
    try:
        result = evaluate(formula)
    except FormulaError as error:
        return (str(error), True) if done else ("", False)
    return (result, False) if done or result != formula else ("", False)


def _press(ui: Ui, sign: str) -> None:
    if sign == "C":
        ui.state.update(formula="", done=False)
    elif sign == "=":
        ui.state["done"] = bool(ui.state.get("formula"))
    else:
        _type(ui, sign)


def _type(ui: Ui, sign: str) -> None:
    formula = str(ui.state.get("formula", ""))
    if ui.state.get("done"):  # an operator goes on from the result, anything else begins anew
        result, failed = _result(formula, True)
        formula = result if (sign in OPERATORS or sign == "%") and not failed else ""
        if "E" in formula:
            formula = ""
    if len(formula) >= LONGEST:
        ui.say("The formula is too long")
        return
    ui.state.update(formula=_joined(formula, sign), done=False)


def _joined(formula: str, sign: str) -> str:
    """A formula with one more sign, as a calculator takes it."""
    last = formula[-1:]
    if sign in OPERATORS:
        if sign == "−" and last not in ("−", "+"):
            return formula + sign
        kept = formula.rstrip("".join(OPERATORS))
        return kept + sign if kept and not kept.endswith("(") else formula
    if sign == "." and "." in _last_number(formula):
        return formula
    if sign == "%" and (not last or last in OPERATORS or last == "("):
        return formula
    return formula + sign


def _last_number(formula: str) -> str:
    start = len(formula)
    while start and formula[start - 1] in "0123456789.":
        start -= 1
    return formula[start:]


def _erase(ui: Ui) -> None:
    formula = "" if ui.state.get("done") else str(ui.state.get("formula", ""))[:-1]
    ui.state.update(formula=formula, done=False)
