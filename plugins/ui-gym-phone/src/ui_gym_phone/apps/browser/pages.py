"""The built-in web: made-up sites below ``.example``, which no real host can be."""

from __future__ import annotations

from ui_gym_phone.apps.browser.document import (
    Document,
    Download,
    Facts,
    Heading,
    Link,
    Para,
    Site,
)

SITES = {
    site.host: site
    for site in (
        Site("dailyorbit.example", "The Daily Orbit", "newspaper", "#9b1c31",
             "News from Port Linden and around"),
        Site("tastybasket.example", "Tasty Basket", "food", "#b4540a",
             "Recipes, and all that goes into them"),
        Site("openwiki.example", "OpenWiki", "book-open-variant", "#37474f",
             "The encyclopedia that anyone can read"),
        Site("citylibrary.example", "City Library", "school", "#1b6b54",
             "Port Linden City Library"),
        Site("skywatch.example", "Skywatch", "weather-partly-cloudy", "#1f6fb2",
             "Weather for Port Linden"),
        Site("trailhub.example", "TrailHub", "map", "#4a6b1e",
             "Walks and bike rides with maps"),
    )
}  # fmt: skip

PAGES: dict[str, Document] = {
    # -- The Daily Orbit --
    "dailyorbit.example": Document("Today's news", (
        Heading("Today"),
        Link("Harbour bridge opens after two years of work", "dailyorbit.example/harbour-bridge",
             "City · 3 min read"),
        Link("Otters return to the Linden river", "dailyorbit.example/river-otters",
             "Nature · 2 min read"),
        Link("Rovers win the cup in extra time", "dailyorbit.example/sports/cup-final",
             "Sports · 4 min read"),
        Heading("Sections"),
        Link("Sports", "dailyorbit.example/sports"),
        Link("About us", "dailyorbit.example/about"),
    )),
    "dailyorbit.example/harbour-bridge": Document("Harbour bridge opens after two years of work", (
        Para("By Mara Lindqvist · October 15, 2023"),
        Para("The harbour bridge of Port Linden is open again. Some 4,200 people crossed it on "
             "foot on Saturday, before the first trams followed in the afternoon."),
        Para("The work took 26 months and cost 48 million, 3 million less than planned. The "
             "bridge now has a lane for bicycles on each side."),
        Para("Tram line 7 runs over the bridge every 10 minutes from Monday on."),
        Link("More news", "dailyorbit.example"),
    )),
    "dailyorbit.example/river-otters": Document("Otters return to the Linden river", (
        Para("By Tomas Ferreira · October 14, 2023"),
        Para("For the first time since 1987, otters were seen in the Linden river. A camera near "
             "the old mill recorded a pair with two young."),
        Para("Those who walk there are asked to keep dogs on a lead until March."),
        Link("Otters in OpenWiki", "openwiki.example/otter"),
        Link("More news", "dailyorbit.example"),
    )),
    "dailyorbit.example/sports": Document("Sports", (
        Link("Rovers win the cup in extra time", "dailyorbit.example/sports/cup-final",
             "October 14, 2023"),
        Link("City marathon: 12,000 runners expected", "dailyorbit.example/sports/marathon",
             "October 12, 2023"),
        Link("Front page", "dailyorbit.example"),
    )),
    "dailyorbit.example/sports/cup-final": Document("Rovers win the cup in extra time", (
        Para("By Ines Okafor · October 14, 2023"),
        Facts((("Final score", "Rovers 3 – 2 Athletic"), ("Winning goal", "Adeyemi, 117th minute"),
               ("Spectators", "31,480"))),
        Para("It was the third cup for the Rovers, and the first since 2009."),
        Link("Sports", "dailyorbit.example/sports"),
    )),
    "dailyorbit.example/sports/marathon": Document("City marathon: 12,000 runners expected", (
        Para("The marathon of Port Linden starts on Sunday, October 22, at 9:30 at the town hall."),
        Para("Streets in the centre are closed for cars until 16:00."),
        Link("Sports", "dailyorbit.example/sports"),
    )),
    "dailyorbit.example/about": Document("About us", (
        Para("The Daily Orbit has been written in Port Linden since 1911."),
        Facts((("Editor", "Mara Lindqvist"), ("Telephone", "555-0142"),
               ("Address", "12 Mill Lane, Port Linden"))),
    )),
    # -- Tasty Basket --
    "tastybasket.example": Document("Recipes of the week", (
        Link("Lemon lentil soup", "tastybasket.example/recipes/lemon-lentil-soup",
             "35 minutes · serves 4"),
        Link("Mushroom risotto", "tastybasket.example/recipes/mushroom-risotto",
             "45 minutes · serves 3"),
        Link("Plum cake", "tastybasket.example/recipes/plum-cake", "70 minutes · 12 pieces"),
        Heading("Shop"),
        Link("Pantry", "tastybasket.example/shop"),
        Link("Delivery", "tastybasket.example/delivery"),
    )),
    "tastybasket.example/recipes/lemon-lentil-soup": Document("Lemon lentil soup", (
        Facts((("Time", "35 minutes"), ("Serves", "4"), ("Red lentils", "250 g"),
               ("Carrots", "2"), ("Onion", "1"), ("Lemon", "1"), ("Cumin", "2 tsp"))),
        Para("Fry onion, carrots and cumin. Add lentils and 1.2 litres of water, and cook for 20 "
             "minutes. Blend it, and add the juice of the lemon."),
        Download("lemon-lentil-soup.txt", "Shopping list",
                 "Lemon lentil soup\n250 g red lentils\n2 carrots\n1 onion\n1 lemon\ncumin\n"),
        Link("All recipes", "tastybasket.example"),
    )),
    "tastybasket.example/recipes/mushroom-risotto": Document("Mushroom risotto", (
        Facts((("Time", "45 minutes"), ("Serves", "3"), ("Risotto rice", "300 g"),
               ("Mushrooms", "400 g"), ("Parmesan", "60 g"), ("Stock", "1 litre"))),
        Para("Fry the mushrooms and set them aside. Stir the rice in butter until it shines, then "
             "add the hot stock, a ladle at a time. Stir in mushrooms and parmesan."),
        Download("mushroom-risotto.txt", "Shopping list",
                 "Mushroom risotto\n300 g risotto rice\n400 g mushrooms\n60 g parmesan\n"),
        Link("All recipes", "tastybasket.example"),
    )),
    "tastybasket.example/recipes/plum-cake": Document("Plum cake", (
        Facts((("Time", "70 minutes"), ("Pieces", "12"), ("Plums", "1 kg"), ("Flour", "400 g"),
               ("Oven", "180 °C, 40 minutes"))),
        Para("Knead the dough, let it rest for half an hour, and cover it with halved plums."),
        Link("All recipes", "tastybasket.example"),
    )),
    "tastybasket.example/shop": Document("Pantry", (
        Facts((("Red lentils, 500 g", "2.40"), ("Risotto rice, 1 kg", "4.90"),
               ("Olive oil, 0.5 l", "8.50"), ("Cumin, 50 g", "1.80"), ("Honey, 250 g", "5.20"))),
        Link("Price list to download", "tastybasket.example/shop/prices"),
        Link("Recipes", "tastybasket.example"),
    )),
    "tastybasket.example/shop/prices": Document("Price list", (
        Download("prices.csv", "All prices as a table",
                 "item,price\nRed lentils 500 g,2.40\nRisotto rice 1 kg,4.90\n"
                 "Olive oil 0.5 l,8.50\nCumin 50 g,1.80\nHoney 250 g,5.20\n"),
        Link("Pantry", "tastybasket.example/shop"),
    )),
    "tastybasket.example/delivery": Document("Delivery", (
        Facts((("Monday to Friday", "8:00 – 20:00"), ("Saturday", "9:00 – 14:00"),
               ("Free from", "40.00"), ("Telephone", "555-0177"))),
        Link("Recipes", "tastybasket.example"),
    )),
    # -- OpenWiki --
    "openwiki.example": Document("Welcome to OpenWiki", (
        Para("An encyclopedia of 5 articles, and not one more."),
        Heading("Articles"),
        Link("Lighthouse", "openwiki.example/lighthouse"),
        Link("Otter", "openwiki.example/otter"),
        Link("Port Linden", "openwiki.example/port-linden"),
        Link("Sourdough", "openwiki.example/sourdough"),
        Link("Tram", "openwiki.example/tram"),
    )),
    "openwiki.example/lighthouse": Document("Lighthouse", (
        Para("A lighthouse is a tower whose light guides ships at night. The Pharos of "
             "Alexandria, built about 280 BC, stood over 100 metres high."),
        Heading("In Port Linden"),
        Para("The lighthouse of Port Linden is 43 metres high. It was lit for the first time in "
             "1868, and has been automatic since 1974."),
        Link("Port Linden", "openwiki.example/port-linden"),
    )),
    "openwiki.example/otter": Document("Otter", (
        Para("Otters are mammals of the weasel family that live by the water. There are 13 "
             "species."),
        Facts((("Family", "Mustelidae"), ("Species", "13"), ("Food", "Fish, crayfish, frogs"),
               ("Lifespan", "up to 16 years"))),
        Link("Contents", "openwiki.example"),
    )),
    "openwiki.example/port-linden": Document("Port Linden", (
        Para("Port Linden is a town at the mouth of the Linden river."),
        Facts((("Inhabitants", "214,600"), ("Founded", "1254"), ("Mayor", "Clara Voss"),
               ("Sister city", "Santa Brisa"))),
        Link("Lighthouse", "openwiki.example/lighthouse"),
        Link("Tram", "openwiki.example/tram"),
        Link("Weather in Port Linden", "skywatch.example"),
    )),
    "openwiki.example/sourdough": Document("Sourdough", (
        Para("Sourdough is bread that is raised by wild yeast and lactic acid bacteria. A starter "
             "is fed with flour and water every day and is ready after about 7 days."),
        Link("Contents", "openwiki.example"),
    )),
    "openwiki.example/tram": Document("Tram", (
        Para("A tram is a railway in streets. The one of Port Linden has 9 lines and 112 stops; "
             "the first line was opened in 1896."),
        Link("Port Linden", "openwiki.example/port-linden"),
    )),
    # -- City Library --
    "citylibrary.example": Document("City Library", (
        Link("Opening hours", "citylibrary.example/hours"),
        Link("Free e-books and forms", "citylibrary.example/downloads"),
        Link("Events", "citylibrary.example/events"),
        Link("Contact", "citylibrary.example/contact"),
    )),
    "citylibrary.example/hours": Document("Opening hours", (
        Facts((("Monday", "closed"), ("Tuesday", "10:00 – 19:00"), ("Wednesday", "10:00 – 19:00"),
               ("Thursday", "10:00 – 21:00"), ("Friday", "10:00 – 19:00"),
               ("Saturday", "10:00 – 16:00"), ("Sunday", "closed"))),
        Link("City Library", "citylibrary.example"),
    )),
    "citylibrary.example/downloads": Document("Free e-books and forms", (
        Heading("E-books"),
        Download("the-lantern-keeper.txt", "A novel, first chapter",
                 "The Lantern Keeper\n\nChapter 1\n\nEvery evening at six, old Brand climbed the "
                 "one hundred and ninety steps of the tower, and never once did he count them.\n"),
        Download("sea-poems.txt", "Twelve poems",
                 "Sea Poems\n\n1. Low tide\nThe sea has gone to think it over.\n"),
        Download("knots-and-splices.pdf", "A handbook", "Knots and splices: a handbook"),
        Heading("Forms"),
        Download("membership-form.pdf", "To become a member", "Membership form. Name: Address:"),
        Download("reading-list.csv", "Books of the year",
                 "title,author,year\nThe Lantern Keeper,E. Brand,1921\nSea Poems,L. Moor,1934\n"),
        Link("City Library", "citylibrary.example"),
    )),
    "citylibrary.example/events": Document("Events", (
        Facts((("October 19, 18:30", "Reading: Sea Poems"), ("October 24, 16:00", "Book club"),
               ("November 2, 17:00", "Repair café"))),
        Download("book-club.ics", "Book club for your calendar",
                 "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nSUMMARY:Book club\n"
                 "DTSTART:20231024T160000\nDTEND:20231024T173000\nEND:VEVENT\nEND:VCALENDAR\n"),
        Link("City Library", "citylibrary.example"),
    )),
    "citylibrary.example/contact": Document("Contact", (
        Facts((("Telephone", "555-0110"), ("Address", "3 Market Square"),
               ("Loan period", "28 days"))),
        Link("City Library", "citylibrary.example"),
    )),
    # -- Skywatch --
    "skywatch.example": Document("Port Linden now", (
        Facts((("Now", "14 °C, light clouds"), ("Wind", "12 km/h from the west"),
               ("Rain", "10 %"), ("Sunset", "18:21"))),
        Link("Next five days", "skywatch.example/forecast"),
        Link("Tides", "skywatch.example/tides"),
    )),
    "skywatch.example/forecast": Document("Next five days", (
        Facts((("Monday", "13 °C, cloudy"), ("Tuesday", "11 °C, rain"),
               ("Wednesday", "12 °C, rain"), ("Thursday", "15 °C, sunny"),
               ("Friday", "16 °C, sunny"))),
        Download("forecast.csv", "The forecast as a table",
                 "day,degrees,sky\nMonday,13,cloudy\nTuesday,11,rain\nWednesday,12,rain\n"
                 "Thursday,15,sunny\nFriday,16,sunny\n"),
        Link("Now", "skywatch.example"),
    )),
    "skywatch.example/tides": Document("Tides", (
        Facts((("High tide", "4:12 and 16:38"), ("Low tide", "10:24 and 22:51"))),
        Link("Now", "skywatch.example"),
    )),
    # -- TrailHub --
    "trailhub.example": Document("Trails near Port Linden", (
        Link("Lighthouse loop", "trailhub.example/lighthouse-loop", "6.4 km · easy"),
        Link("Mill path", "trailhub.example/mill-path", "3.1 km · easy"),
        Link("Falcon ridge", "trailhub.example/falcon-ridge", "14.8 km · hard"),
    )),
    "trailhub.example/lighthouse-loop": Document("Lighthouse loop", (
        Facts((("Length", "6.4 km"), ("Climb", "90 m"), ("Time", "1 h 45 min"))),
        Download("lighthouse-loop.gpx", "Map of the trail",
                 '<gpx version="1.1"><trk><name>Lighthouse loop</name></trk></gpx>\n'),
        Link("All trails", "trailhub.example"),
    )),
    "trailhub.example/mill-path": Document("Mill path", (
        Facts((("Length", "3.1 km"), ("Climb", "20 m"), ("Time", "45 min"))),
        Download("mill-path.gpx", "Map of the trail",
                 '<gpx version="1.1"><trk><name>Mill path</name></trk></gpx>\n'),
        Link("All trails", "trailhub.example"),
    )),
    "trailhub.example/falcon-ridge": Document("Falcon ridge", (
        Facts((("Length", "14.8 km"), ("Climb", "740 m"), ("Time", "5 h"))),
        Download("falcon-ridge.gpx", "Map of the trail",
                 '<gpx version="1.1"><trk><name>Falcon ridge</name></trk></gpx>\n'),
        Link("All trails", "trailhub.example"),
    )),
}  # fmt: skip
"""Address without scheme, ``www.`` and closing slash -> page."""
