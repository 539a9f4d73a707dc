"""Words that tasks draw from: short lists that a tiny model can learn to read, and longer ones."""

from __future__ import annotations

FIRST_SHORT = (
    "Adam", "Beth", "Carl", "Dina", "Emma", "Finn", "Gina", "Hugo", "Iris", "Jack",
    "Kira", "Liam", "Mona", "Nils", "Olga", "Paul", "Rosa", "Sven", "Tara", "Viktor",
)  # fmt: skip

LAST_SHORT = (
    "Abel", "Berg", "Cole", "Dunn", "Eddy", "Ford", "Gray", "Hahn", "Ives", "Jung",
    "Kent", "Lang", "Moss", "Nash", "Owen", "Penn", "Reed", "Shaw", "Todd", "Vega",
)  # fmt: skip

FIRST_LONG = (
    "Aaliyah", "Abigail", "Adrian", "Alejandro", "Amara", "Anders", "Anneliese", "Antonio",
    "Astrid", "Beatrice", "Benedict", "Bronwyn", "Caroline", "Cassandra", "Cedric", "Charlotte",
    "Christopher", "Clara", "Damian", "Daniela", "Dominic", "Eleanor", "Elisabeth", "Emmanuel",
    "Esperanza", "Ezekiel", "Fatima", "Felicity", "Francesca", "Frederick", "Gabriel", "Genevieve",
    "Giovanni", "Gwendolyn", "Harrison", "Henrietta", "Ibrahim", "Ingrid", "Isabella", "Jacqueline",
    "Jeremiah", "Johanna", "Jonathan", "Josephine", "Katarina", "Konstantin", "Leonardo", "Lucinda",
    "Magdalena", "Malcolm", "Margaret", "Maximilian", "Mercedes", "Michelle", "Mohammed", "Natalia",
    "Nathaniel", "Nikolai", "Octavia", "Olivia", "Ophelia", "Patricia", "Penelope", "Philippa",
    "Quentin", "Rafaela", "Reginald", "Rosalind", "Salvador", "Samantha", "Sebastian", "Serena",
    "Sigrid", "Solomon", "Stefania", "Svetlana", "Theodora", "Theresa", "Thomasina", "Tobias",
    "Ulrich", "Valentina", "Veronica", "Victoria", "Vincent", "Wilhelmina", "Winston", "Xavier",
    "Yasmin", "Yolanda", "Yusuf", "Zacharias", "Zuleika", "Zoltan",
)  # fmt: skip

LAST_LONG = (
    "Abernathy", "Alvarez", "Andersson", "Appleton", "Arkwright", "Ashdown", "Bannister",
    "Beaumont", "Blackwood", "Bradshaw", "Brennan", "Calloway", "Carmichael", "Castellano",
    "Chakrabarti", "Cunningham", "Dalgaard", "Davenport", "Delacroix", "Donovan", "Eastwood",
    "Eriksen", "Fairbanks", "Featherstone", "Fernandez", "Fitzgerald", "Gallagher", "Goldstein",
    "Greenfield", "Gustafsson", "Hamilton", "Hathaway", "Henderson", "Hollister", "Iglesias",
    "Ivanova", "Jankowski", "Johansson", "Kavanagh", "Kingsley", "Kowalczyk", "Lancaster",
    "Lindqvist", "Lombardi", "MacDonald", "Marchetti", "McAllister", "Middleton", "Montgomery",
    "Nakamura", "Nightingale", "Novakova", "Oakley", "Okonkwo", "Ostrowski", "Papadakis",
    "Pemberton", "Petrovic", "Pritchard", "Quinlan", "Ramirez", "Richardson", "Rosenberg",
    "Rutherford", "Sandoval", "Schneider", "Silverstein", "Sorensen", "Stafford", "Sutherland",
    "Takahashi", "Thackeray", "Thornton", "Underwood", "Valentino", "Vandermeer", "Villanueva",
    "Wainwright", "Wellington", "Whitaker", "Winterbourne", "Yamamoto", "Yarborough", "Zielinski",
)  # fmt: skip
