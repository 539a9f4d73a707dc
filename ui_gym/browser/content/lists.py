"""Long lists to choose from: countries, languages, currencies, time zones, fonts, ports..."""

from __future__ import annotations

COUNTRIES = (
    "Albania", "Algeria", "Andorra", "Angola", "Argentina", "Armenia", "Australia", "Austria",
    "Azerbaijan", "Bahamas", "Bahrain", "Bangladesh", "Barbados", "Belgium", "Belize", "Benin",
    "Bolivia", "Botswana", "Brazil", "Bulgaria", "Burundi", "Cambodia", "Cameroon", "Canada",
    "Chile", "Colombia", "Costa Rica", "Croatia", "Cyprus", "Denmark", "Dominica",
    "Dominican Republic", "Ecuador", "Egypt", "El Salvador", "Equatorial Guinea", "Estonia",
    "Ethiopia", "Fiji", "Finland", "France", "Gabon", "Gambia", "Georgia", "Germany", "Ghana",
    "Greece", "Grenada", "Guatemala", "Guinea", "Guinea-Bissau", "Guyana", "Honduras", "Hungary",
    "Iceland", "India", "Indonesia", "Ireland", "Italy", "Jamaica", "Japan", "Jordan", "Kenya",
    "Kuwait", "Laos", "Latvia", "Lesotho", "Liberia", "Libya", "Liechtenstein", "Lithuania",
    "Luxembourg", "Madagascar", "Malawi", "Malaysia", "Maldives", "Mali", "Malta", "Mauritania",
    "Mauritius", "Mexico", "Monaco", "Mongolia", "Montenegro", "Morocco", "Mozambique", "Namibia",
    "Nepal", "Netherlands", "New Zealand", "Nicaragua", "Niger", "Nigeria", "Norway", "Oman",
    "Panama", "Papua New Guinea", "Paraguay", "Peru", "Philippines", "Poland", "Portugal", "Qatar",
    "Romania", "Rwanda", "Saint Lucia", "Samoa", "San Marino", "Senegal", "Serbia", "Seychelles",
    "Sierra Leone", "Singapore", "Slovakia", "Slovenia", "South Africa", "Spain", "Suriname",
    "Sweden", "Switzerland", "Tanzania", "Thailand", "Togo", "Tonga", "Tunisia", "Turkey",
    "Uganda", "Uruguay", "Vanuatu", "Vietnam", "Zambia", "Zimbabwe",
)  # fmt: skip

LANGUAGES = (
    "Afrikaans", "Albanian", "Amharic", "Arabic", "Armenian", "Basque", "Bengali", "Bosnian",
    "Bulgarian", "Catalan", "Chinese (simplified)", "Chinese (traditional)", "Croatian", "Czech",
    "Danish", "Dutch", "Dutch (Belgium)", "English (Australia)", "English (Canada)",
    "English (Ireland)", "English (United Kingdom)", "English (United States)", "Estonian",
    "Faroese", "Finnish", "French", "French (Belgium)", "French (Canada)", "French (Switzerland)",
    "Galician", "Georgian", "German", "German (Austria)", "German (Switzerland)", "Greek", "Hindi",
    "Hungarian", "Icelandic", "Indonesian", "Irish", "Italian", "Italian (Switzerland)",
    "Japanese", "Korean", "Latvian", "Lithuanian", "Luxembourgish", "Macedonian", "Malay",
    "Maltese", "Mongolian", "Nepali", "Norwegian (Bokmål)", "Norwegian (Nynorsk)", "Persian",
    "Polish", "Portuguese (Brazil)", "Portuguese (Portugal)", "Romanian", "Serbian (Cyrillic)",
    "Serbian (Latin)", "Slovak", "Slovenian", "Spanish (Argentina)", "Spanish (Mexico)",
    "Spanish (Spain)", "Swahili", "Swedish", "Swedish (Finland)", "Tamil", "Thai", "Turkish",
    "Ukrainian", "Urdu", "Vietnamese", "Welsh", "Zulu",
)  # fmt: skip

CURRENCIES = (
    "Argentine peso", "Australian dollar", "Bahraini dinar", "Bolivian boliviano", "Brazilian real",
    "British pound", "Bulgarian lev", "Canadian dollar", "Chilean peso", "Chinese yuan",
    "Colombian peso", "Czech koruna", "Danish krone", "Dominican peso", "East Caribbean dollar",
    "Egyptian pound", "Euro", "Fijian dollar", "Georgian lari", "Ghanaian cedi", "Hong Kong dollar",
    "Hungarian forint", "Icelandic króna", "Indian rupee", "Indonesian rupiah", "Jamaican dollar",
    "Japanese yen", "Jordanian dinar", "Kenyan shilling", "Kuwaiti dinar", "Malaysian ringgit",
    "Mauritian rupee", "Mexican peso", "Moroccan dirham", "Namibian dollar", "Nepalese rupee",
    "New Zealand dollar", "Nigerian naira", "Norwegian krone", "Omani rial", "Peruvian sol",
    "Philippine peso", "Polish złoty", "Qatari riyal", "Romanian leu", "Singapore dollar",
    "South African rand", "South Korean won", "Swedish krona", "Swiss franc", "Taiwan dollar",
    "Tanzanian shilling", "Thai baht", "Tunisian dinar", "Turkish lira", "Ugandan shilling",
    "Uruguayan peso", "US dollar", "Vietnamese dong", "Zambian kwacha",
)  # fmt: skip

ZONES = (
    "(UTC-10:00) Honolulu", "(UTC-09:00) Anchorage", "(UTC-08:00) Los Angeles",
    "(UTC-08:00) Vancouver", "(UTC-07:00) Denver", "(UTC-07:00) Phoenix", "(UTC-06:00) Chicago",
    "(UTC-06:00) Guatemala", "(UTC-06:00) Winnipeg", "(UTC-05:00) Bogotá", "(UTC-05:00) Lima",
    "(UTC-05:00) New York", "(UTC-05:00) Toronto", "(UTC-04:00) Halifax", "(UTC-04:00) La Paz",
    "(UTC-04:00) San Juan", "(UTC-03:30) St. John's", "(UTC-03:00) Buenos Aires",
    "(UTC-03:00) Montevideo", "(UTC-03:00) São Paulo", "(UTC-02:00) Nuuk", "(UTC-01:00) Azores",
    "(UTC+00:00) Dublin", "(UTC+00:00) Lisbon", "(UTC+00:00) London", "(UTC+00:00) Reykjavík",
    "(UTC+01:00) Amsterdam", "(UTC+01:00) Berlin", "(UTC+01:00) Lagos", "(UTC+01:00) Madrid",
    "(UTC+01:00) Oslo", "(UTC+01:00) Paris", "(UTC+01:00) Rome", "(UTC+01:00) Warsaw",
    "(UTC+02:00) Athens", "(UTC+02:00) Bucharest", "(UTC+02:00) Cairo", "(UTC+02:00) Helsinki",
    "(UTC+02:00) Johannesburg", "(UTC+02:00) Riga", "(UTC+03:00) Baghdad", "(UTC+03:00) Istanbul",
    "(UTC+03:00) Nairobi", "(UTC+03:30) Tehran", "(UTC+04:00) Baku", "(UTC+04:00) Dubai",
    "(UTC+04:30) Kabul", "(UTC+05:00) Karachi", "(UTC+05:00) Tashkent", "(UTC+05:30) Colombo",
    "(UTC+05:30) Kolkata", "(UTC+05:45) Kathmandu", "(UTC+06:00) Dhaka", "(UTC+06:30) Yangon",
    "(UTC+07:00) Bangkok", "(UTC+07:00) Hanoi", "(UTC+07:00) Jakarta", "(UTC+08:00) Manila",
    "(UTC+08:00) Perth", "(UTC+08:00) Shanghai", "(UTC+08:00) Singapore", "(UTC+08:00) Taipei",
    "(UTC+09:00) Seoul", "(UTC+09:00) Tokyo", "(UTC+09:30) Darwin", "(UTC+10:00) Brisbane",
    "(UTC+10:30) Adelaide", "(UTC+11:00) Melbourne", "(UTC+11:00) Sydney", "(UTC+12:00) Suva",
    "(UTC+13:00) Auckland",
)  # fmt: skip

FONTS = (
    "Albertine", "Albertine Condensed", "Arbor", "Arbor Light", "Bellwether", "Bellwether Sans",
    "Calder", "Calder Black", "Calder Light", "Corvin", "Dovetail", "Dovetail Mono", "Elmsford",
    "Elmsford Text", "Fenwick", "Garland", "Garland Display", "Garland Italic", "Hartley",
    "Hartley Narrow", "Ironbridge", "Kestrel", "Kestrel Book", "Kestrel Light", "Kestrel Mono",
    "Larkin", "Larkin Sans", "Larkin Serif", "Lindisfarne", "Marlow", "Marlow Display",
    "Marlow Text", "Northgate", "Northgate Rounded", "Oriel", "Oriel Semibold", "Pemberley",
    "Quarto", "Quarto Caption", "Quarto Slab", "Rosslyn", "Rosslyn Sans", "Saltmarsh", "Selwyn",
    "Selwyn Mono", "Tamarind", "Tamarind Text", "Thornbury", "Umber", "Umber Light", "Vesper",
    "Vesper Condensed", "Wexford", "Wexford Serif", "Yarrow", "Yarrow Light",
)  # fmt: skip

PORTS = (
    "Aarhus", "Abidjan", "Alexandria", "Algeciras", "Antwerp", "Auckland", "Baltimore", "Barcelona",
    "Bergen", "Bilbao", "Bordeaux", "Boston", "Bremerhaven", "Brisbane", "Bristol", "Buenos Aires",
    "Busan", "Cádiz", "Callao", "Cape Town", "Cardiff", "Cartagena", "Casablanca", "Charleston",
    "Colombo", "Copenhagen", "Dakar", "Dublin", "Durban", "Felixstowe", "Gdańsk", "Gdynia", "Genoa",
    "Gothenburg", "Halifax", "Hamburg", "Helsinki", "Hong Kong", "Houston", "Izmir", "Kobe",
    "Lagos", "Le Havre", "Lisbon", "Liverpool", "London Gateway", "Long Beach", "Los Angeles",
    "Malmö", "Manila", "Marseille", "Melbourne", "Mombasa", "Montevideo", "Montreal", "Nagoya",
    "New Orleans", "New York", "Oakland", "Osaka", "Oslo", "Palermo", "Piraeus", "Port Klang",
    "Port Louis", "Port Said", "Porto", "Riga", "Rotterdam", "Santos", "Savannah", "Seattle",
    "Shanghai", "Singapore", "Southampton", "Stavanger", "Sydney", "Tallinn", "Tangier", "Tema",
    "Tokyo", "Trieste", "Trondheim", "Valencia", "Valparaíso", "Vancouver", "Veracruz", "Vigo",
    "Yokohama", "Zeebrugge",
)  # fmt: skip

THINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "permissions": (
        ("invoices", "orders", "customers", "suppliers", "products", "prices", "refunds",
         "reports", "contracts", "shipments", "warehouses", "vouchers", "payments", "taxes",
         "budgets", "projects", "timesheets", "holidays", "salaries", "teams", "templates",
         "branches", "archives", "backups"),
        ("View {}", "Create {}", "Edit {}", "Delete {}", "Approve {}", "Export {}"),
    ),
    "columns": (
        ("name", "street", "city", "postcode", "country", "phone", "e-mail", "tax number",
         "contact", "language", "currency", "discount", "notes", "rating", "branch", "region",
         "website", "bank", "account", "deadline", "carrier", "weight", "volume", "reference"),
        ("Billing {}", "Shipping {}", "Supplier {}", "Customer {}", "Sender {}", "Invoice {}"),
    ),
    "alerts": (
        ("comments", "mentions", "replies", "due dates", "invitations", "new members",
         "approvals", "reminders", "failed payments", "sign-ins", "releases", "surveys",
         "meetings", "birthdays", "outages", "handovers", "reviews", "uploads", "downloads",
         "votes", "polls", "payslips", "holidays", "expiring contracts"),
        ("{} by e-mail", "{} by text message", "{} in the app", "{} on the desktop",
         "{} in the weekly summary", "{} in the monthly summary"),
    ),
    "zones": (
        ("stairs", "hall", "gate", "garage", "office", "archive", "kitchen", "workshop",
         "terrace", "lift", "corridor", "balcony", "store", "lobby", "library", "laboratory",
         "canteen", "entrance", "courtyard", "boiler room", "ramp", "roof", "cellar", "studio"),
        ("North {}", "South {}", "East {}", "West {}", "Upper {}", "Lower {}"),
    ),
    "pantry": (
        ("almonds", "hazelnuts", "walnuts", "cashews", "peanuts", "pistachios", "chickpeas",
         "lentils", "apricots", "figs", "tomatoes", "peppers", "mushrooms", "onions", "olives",
         "carrots", "pumpkin", "beetroot", "plums", "cherries", "ginger", "artichokes", "leeks",
         "aubergines"),
        ("Roasted {}", "Salted {}", "Smoked {}", "Dried {}", "Ground {}", "Pickled {}"),
    ),
}  # fmt: skip
"""By topic: what can be ticked, and the ways in which labels of several kinds are alike."""
