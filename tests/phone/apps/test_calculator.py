"""The Calculator app, by touch."""

from __future__ import annotations

import pytest
from driving import find, long_press, tap
from gallery_calculator import typed

from ui_gym_phone.apps.calculator.formula import FormulaError, evaluate
from ui_gym_phone.ui.screen import PhoneScreen


def shown(screen: PhoneScreen, id: str) -> str:
    screen.refresh()
    return find(screen, id).text


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ("0.1+0.2", "0.3"),
        ("2+3×4", "14"),
        ("(2+3)×4", "20"),
        ("2(3+4)", "14"),
        ("10−4−3", "3"),
        ("−5+2", "−3"),
        ("6×−7", "−42"),
        ("1÷3×3", "1"),
        ("2÷3", "0.666666666666667"),
        ("50%", "0.5"),
        ("200+10%", "220"),
        ("200×10%", "20"),
        ("80−25%", "60"),
        ("123456789×987654321", "121932631112635269"),
        ("(1+2", "3"),
        (".5×4", "2"),
        ("9" * 40 + "×10", "1E41"),
        ("1÷10÷1000000000", "1E-10"),
    ],
)
def test_formulas_are_worked_out_exactly(formula, result):
    assert evaluate(formula) == result


@pytest.mark.parametrize(
    ("formula", "fault"),
    [
        ("5÷0", "Can't divide by 0"),
        ("1÷(2−2)", "Can't divide by 0"),
        ("3+", "Bad expression"),
        (")", "Bad expression"),
        ("(1))", "Bad expression"),
        (".", "Bad expression"),
        ("1.2.3", "Bad expression"),
        ("__import__", "Bad expression"),
        ("(" * 300, "Too long"),
    ],
)
def test_what_is_no_formula_is_told(formula, fault):
    with pytest.raises(FormulaError) as caught:
        evaluate(formula)
    assert str(caught.value) == fault


def test_the_deepest_formula_that_can_be_typed_is_worked_out():
    assert evaluate("(" * 99 + "7") == "7"
    assert evaluate("−" * 98 + "7") == "7"


def test_keys_write_a_formula_and_equals_gives_its_result(phone, screen):
    typed("12×(3+4)", phone, screen)
    assert shown(screen, "formula") == "12×(3+4)"
    assert shown(screen, "result") == "84"
    tap(screen, "=")
    assert shown(screen, "result") == "84"


def test_an_operator_goes_on_from_a_result_and_a_digit_begins_anew(phone, screen):
    typed("6×7=", phone, screen)
    tap(screen, "+")
    assert shown(screen, "formula") == "42+"
    tap(screen, "C")
    typed("6×7=5", phone, screen)
    assert shown(screen, "formula") == "5"


def test_a_second_operator_takes_the_place_of_the_first(phone, screen):
    typed("8+×2=", phone, screen)
    assert shown(screen, "result") == "16"


def test_a_number_has_one_point(phone, screen):
    typed("1.2.5", phone, screen)
    assert shown(screen, "formula") == "1.25"


def test_delete_takes_the_last_sign_and_c_all(phone, screen):
    typed("123", phone, screen)
    tap(screen, "delete")
    assert shown(screen, "formula") == "12"
    tap(screen, "C")
    assert shown(screen, "formula") == "0"


def test_an_error_is_shown_and_the_next_digit_begins_anew(phone, screen):
    typed("5÷0=", phone, screen)
    assert shown(screen, "result") == "Can't divide by 0"
    tap(screen, "7")
    assert shown(screen, "formula") == "7"


def test_holding_the_result_copies_it(phone, screen):
    typed("6×7=", phone, screen)
    long_press(screen, "42")
    assert phone.clipboard == "42"
