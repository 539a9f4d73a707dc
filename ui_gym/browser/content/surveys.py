"""Questionnaires for pages: what is asked, and the answers to choose from."""

from __future__ import annotations

AGREE = ("Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree")
GOOD = ("Excellent", "Very good", "Good", "Fair", "Poor")
LIKELY = ("Very likely", "Likely", "Unsure", "Unlikely", "Very unlikely")
OFTEN = ("Every day", "Several times a week", "Once a week", "Once a month", "Less often")
SATISFIED = ("Very satisfied", "Satisfied", "Neutral", "Dissatisfied", "Very dissatisfied")
YES = ("Yes", "No", "Not sure")

SURVEYS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "hotel": (
        ("How did you hear about us?",
         ("From a friend", "A search engine", "A travel guide", "Social media", "A newspaper")),
        ("What was the reason for your trip?",
         ("A holiday", "Business", "A family visit", "A concert", "A trade fair")),
        ("How many nights did you stay?",
         ("One", "Two", "Three or four", "Five to seven", "More than seven")),
        ("How did you get here?", ("By train", "By car", "By bus", "By plane", "By bicycle")),
        ("How clean was your room?", GOOD),
        ("How quiet was your room?", GOOD),
        ("How was the breakfast?", GOOD),
        ("How was the service at the front desk?", GOOD),
        ("Was your room ready when you arrived?", YES),
        ("How satisfied were you with the price?", SATISFIED),
        ("Will you stay with us again?", LIKELY),
        ("Would you recommend us to a friend?", LIKELY),
    ),
    "transit": (
        ("How often do you take the bus?", OFTEN),
        ("How often do you take the tram?", OFTEN),
        ("Which line do you use most?", ("Line 2", "Line 5", "Line 12", "Line 15", "Line 21")),
        ("What kind of ticket do you have?",
         ("Single ticket", "Day ticket", "Weekly pass", "Monthly pass", "Yearly pass")),
        ("How do you buy your tickets?",
         ("In the app", "At a machine", "From the driver", "At a shop")),
        ("How long is your usual ride?",
         ("Under 10 minutes", "10 to 19 minutes", "20 to 39 minutes", "40 minutes or more")),
        ("How satisfied are you with punctuality?", SATISFIED),
        ("How satisfied are you with cleanliness?", SATISFIED),
        ("How satisfied are you with the fares?", SATISFIED),
        ("The stops are easy to reach.", AGREE),
        ("The timetable is easy to read.", AGREE),
        ("I feel safe on the way at night.", AGREE),
    ),
    "team": (
        ("Which team are you in?", ("Design", "Engineering", "Marketing", "Sales", "Support")),
        ("Where do you mostly work?",
         ("At the office", "At home", "Half and half", "On the road")),
        ("How long have you been with us?",
         ("Under a year", "One or two years", "Three to five years", "Over five years")),
        ("How often do you work overtime?", OFTEN),
        ("How often do you talk with your manager?", OFTEN),
        ("I know what is expected of me.", AGREE),
        ("I have the tools that I need.", AGREE),
        ("My work is seen and valued.", AGREE),
        ("Our meetings are worth their time.", AGREE),
        ("How satisfied are you with your pay?", SATISFIED),
        ("How satisfied are you with your training?", SATISFIED),
        ("Would you recommend us as an employer?", LIKELY),
    ),
    "library": (
        ("Which branch do you visit most?",
         ("Central", "Harbour", "North Park", "Old Mill", "University")),
        ("What do you borrow most?",
         ("Novels", "Non-fiction", "Children's books", "Films", "Music")),
        ("How often do you visit us?", OFTEN),
        ("How often do you use our e-books?", OFTEN),
        ("How was our selection of books?", GOOD),
        ("How was our selection of films?", GOOD),
        ("How helpful was our staff?", GOOD),
        ("Do you use the reading room?", YES),
        ("The opening hours suit me.", AGREE),
        ("It is easy to find a book.", AGREE),
        ("How satisfied are you with the catalogue?", SATISFIED),
        ("Will you renew your card next year?", LIKELY),
    ),
}  # fmt: skip
"""By subject: the questions, each with its answers."""
