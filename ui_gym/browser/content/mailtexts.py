"""What the mails of the mail tasks say.

A text has slots, which `ui_gym.browser.content.mailbox` fills: {me} the reader's first name, {day} a
weekday, {time}, {room}, {city}, {n} a number of four digits, {k} a small one.
"""

# ruff: noqa: E501  (a text a line reads best)

from __future__ import annotations

Text = tuple[str, ...]
"""Paragraphs."""

PERSONAL: tuple[tuple[str, Text], ...] = (
    ("Budget draft {n}", ("Hi {me},", "the draft is in the shared folder now. Travel is still {k} percent over, everything else fits.", "Could you look at page {k}?")),
    ("Lunch on {day}?", ("Hi {me},", "the new place near the canal is open. A table for {k} on {day} at {time}?")),
    ("Keys for {room}", ("Hello {me},", "I left the keys for {room} at the front desk. Please sign for them before {day}.")),
    ("Offer {n} for the {city} site", ("Dear {me},", "attached is our offer {n} for the {city} site. It is good for {k} weeks.", "Prices include delivery.")),
    ("Photos from {city}", ("Hi {me},", "the photos of the trip to {city} are sorted. I kept {k} of each day.")),
    ("Train to {city}", ("Hi {me},", "the fast train leaves at {time} on {day}. Shall I book two seats?")),
    ("Minutes of {day}", ("Hello all,", "the minutes of our meeting in {room} are below. There are {k} open points, two of them ours.")),
    ("Question about order {n}", ("Hello {me},", "order {n} came with {k} boxes instead of one more. Do you know where the last one went?")),
    ("Draft of the flyer", ("Hi {me},", "version {k} of the flyer is done. The printer needs an answer by {day}, {time}.")),
    ("Contract {n}", ("Dear {me},", "contract {n} is ready to be signed. Please mind the change in paragraph {k}.")),
    ("Parking on {day}", ("Hello,", "the yard is closed on {day} until {time}. Please park in the street behind {room}.")),
    ("New laptop", ("Hi {me},", "your laptop has come. You can pick it up in {room} from {time} on.")),
    ("Visit to {city}", ("Hi {me},", "the team in {city} would like to see us on {day}. Would {time} suit you?")),
    ("Numbers for week {k}", ("Hello {me},", "here are the numbers for week {k}: {n} visits and a few more calls than last week.")),
    ("Slides for {day}", ("Hi {me},", "the slides for {day} are nearly done. I need one picture from {city} and your last chart.")),
    ("Room change", ("Hello,", "our meeting on {day} moves to {room}. The time stays the same, {time}.")),
    ("Birthday of the team", ("Hi {me},", "we turn {k} on {day}. There is cake in {room} at {time}.")),
    ("Reference number {n}", ("Dear {me},", "please use the reference number {n} on all letters from now on.")),
    ("Translation, part {k}", ("Hello {me},", "part {k} is translated. The terms for the {city} office are marked in yellow.")),
    ("Feedback on your text", ("Hi {me},", "I like it. Two remarks on page {k}, and the title could be shorter.")),
    ("Samples from {city}", ("Hello {me},", "the samples from {city} arrived this morning. They are in {room}, shelf {k}.")),
    ("Call at {time}", ("Hi {me},", "can we move our call to {time} on {day}? My train is late again.")),
    ("Repair of the printer", ("Hello,", "the printer next to {room} will be repaired on {day}. Please use the one on floor {k}.")),
    ("Holiday plan", ("Hi {me},", "I would take the last {k} days of the month off. Is that all right with you?")),
    ("Workshop in {city}", ("Hello {me},", "there are {k} places left in the workshop in {city}. It begins on {day} at {time}.")),
    ("Test report {n}", ("Dear {me},", "report {n} is complete. {k} cases failed and are listed at the end.")),
    ("Thank you", ("Dear {me},", "thank you for your help in {city}. It saved us at least {k} days.")),
    ("Quote for {k} chairs", ("Hello {me},", "the quote for {k} chairs is below. With delivery to {room} it comes to {n} in all.")),
    ("Spare parts", ("Hi {me},", "part {n} is sold out until spring. {city} still has {k} of them.")),
    ("Interview on {day}", ("Hello {me},", "the interview on {day} is at {time} in {room}. There will be {k} of us.")),
)  # fmt: skip
"""(subject, text) of mails that people write."""

SERVICES: tuple[tuple[str, str, tuple[tuple[str, Text], ...]], ...] = (
    ("Parcelwise", "tracking@parcelwise.example", (
        ("Your parcel {n} is on its way", ("Good news,", "parcel {n} left our depot in {city}. It should be with you on {day}.")),
        ("Parcel {n} was delivered", ("Hello,", "parcel {n} was handed over at {time}. Thank you for choosing Parcelwise.")))),
    ("Tidewater Books", "hello@tidewater.example", (
        ("New this week: {k} novels", ("Dear reader,", "our staff has picked {k} novels for the long evenings.")),
        ("Your order {n}", ("Thank you,", "order {n} is confirmed and will be packed on {day}.")))),
    ("Ledgerly", "billing@ledgerly.example", (
        ("Invoice {n}", ("Hello,", "invoice {n} is ready. It is due in {k} days.")),
        ("Receipt {n}", ("Hello,", "we have received your payment. Receipt {n} is attached.")),
        ("Reminder: invoice {n}", ("Hello,", "invoice {n} is now {k} days late. Please ignore this mail if you have paid.")))),
    ("Northline Rail", "tickets@northline.example", (
        ("Your ticket to {city}", ("Have a good trip,", "your train to {city} leaves on {day} at {time}, coach {k}.")),
        ("Change to your journey", ("Dear passenger,", "your train to {city} now leaves at {time}. Your seat stays the same.")))),
    ("Halden Cloud", "status@halden.example", (
        ("Backup finished", ("Hello,", "the backup of {day} is complete: {n} files, no errors.")),
        ("Storage is {k}0 percent full", ("Hello,", "your storage is {k}0 percent full. Delete old backups or choose a larger plan.")),
        ("Maintenance on {day}", ("Hello,", "the service will be down on {day} from {time} for about {k} hours.")))),
    ("Quillon Sign", "notices@quillon.example", (
        ("Document {n} was signed", ("Hello,", "all parties have signed document {n}. A copy is in your account.")),
        ("Please sign document {n}", ("Hello,", "document {n} waits for your signature until {day}.")))),
    ("City Library", "desk@library.example", (
        ("{k} loans are due on {day}", ("Dear member,", "{k} of your loans are due on {day}. You can renew them online.")),
        ("Your reservation is here", ("Dear member,", "the title that you reserved waits at the desk until {day}.")))),
    ("Ostara Stays", "booking@ostara.example", (
        ("Booking {n} confirmed", ("Dear guest,", "your room in {city} is booked. Check-in is from {time} on.")),
        ("How was {city}?", ("Dear guest,", "we hope you liked your stay. Would you answer {k} short questions?")))),
)  # fmt: skip
"""(name, address, its mails) of the firms that write by machine."""

CONVERSATIONS: tuple[tuple[str, tuple[tuple[int, Text], ...]], ...] = (
    ("Move to {room}", (
        (0, ("Hello all,", "we can move to {room} on {day}. The movers come at {time} and need about {k} hours.", "Please tell me what has to be carried first.")),
        (1, ("Fine with me. My desk is packed, only the big screen is left.",)),
        (2, ("I am in {city} on {day}. Could somebody take my plants?",)),
        (0, ("No problem, the plants come with me.", "The movers have asked for a list of all boxes. I count {k} so far.")),
        (1, ("My list is done: four boxes and one lamp.",)),
        (2, ("Mine too. Thank you for the plants.",)))),
    ("Launch in {city}", (
        (0, ("Hi,", "the launch in {city} is set for {day}. We still need a speaker for {time}.")),
        (1, ("I could speak, if somebody takes my booth for an hour.",)),
        (2, ("I can take the booth from {time} on. How many flyers do we have?",)),
        (1, ("About {n}. That should be enough for two days.",)),
        (0, ("Great. Then the programme is complete, and I send it to the printer tonight.",)),
        (2, ("One more thing: the hall opens at seven, not at eight.",)))),
    ("Price list {n}", (
        (0, ("Dear all,", "the new price list {n} starts next month. Please check your part by {day}.")),
        (1, ("My part is fine. The chairs could be {k} percent cheaper, though.",)),
        (0, ("I would rather leave the chairs as they are until summer.",)),
        (2, ("Agreed. The tables on page {k} still have the old numbers.",)),
        (1, ("Corrected. There is a new file in the folder.",)),
        (0, ("Thank you both, the list goes out on {day}.",)))),
    ("Visitors on {day}", (
        (0, ("Hello,", "{k} visitors from {city} come on {day} at {time}. Who can show them around?")),
        (1, ("I can, but not before eleven.",)),
        (2, ("Then I begin with the workshop, and you take over in {room}.",)),
        (0, ("Perfect. Lunch is ordered for everybody.",)),
        (1, ("Two of them do not eat meat, as far as I know.",)),
        (2, ("I have told the kitchen.",)))),
    ("Broken heating in {room}", (
        (0, ("Hi,", "the heating in {room} has been cold since {day}. Has somebody called the landlord?")),
        (1, ("I did. A fitter comes at {time}.",)),
        (0, ("He was here and needs a part from {city}. It takes {k} days.",)),
        (2, ("Until then we can work in the library, I asked.",)),
        (1, ("The part has come early. He will be back tomorrow.",)),
        (2, ("It is warm again. Thank you!",)))),
    ("Survey {n}", (
        (0, ("Dear colleagues,", "survey {n} is closed. We have {k}0 answers, more than last year.")),
        (1, ("Very good. When do we get the charts?",)),
        (0, ("The first charts come on {day}. The comments take longer.",)),
        (2, ("I can sort the comments from {city}.",)),
        (1, ("Please leave out the names.",)),
        (0, ("Of course. There are no names in the file.",)))),
    ("Catalogue pictures", (
        (0, ("Hello,", "for the catalogue we need {k} more pictures, best by {day}.")),
        (1, ("I have two from {city}. Are they sharp enough?",)),
        (2, ("The first one is, the second is too dark.",)),
        (0, ("Then let us take the first, and a new one of {room}.",)),
        (2, ("I can take it at {time}, the light is good then.",)),
        (1, ("Done. All pictures are in the folder now.",)))),
    ("Stock of part {n}", (
        (0, ("Hi,", "we are short of part {n}. {k} are left on the shelf.")),
        (1, ("{city} can send some on {day}.",)),
        (2, ("Do we really need them? The new model uses another part.",)),
        (0, ("For repairs we do, at least until spring.",)),
        (1, ("Then I order fifty.",)),
        (2, ("All right with me.",)))),
    ("Training on {day}", (
        (0, ("Hello all,", "the training on {day} begins at {time} in {room}. Please bring your laptops.")),
        (1, ("Is there a list of what we will do?",)),
        (0, ("There is: {k} short parts, with a break after the second.",)),
        (2, ("Can somebody from {city} take part by phone?",)),
        (0, ("Yes, I will send a number on the same morning.",)),
        (1, ("Thank you, that helps.",)))),
    ("Shelf plan, version {k}", (
        (0, ("Hi,", "version {k} of the shelf plan is up. {room} gets two more rows.")),
        (1, ("Two rows will block the window.",)),
        (2, ("We could turn them, then one window stays free.",)),
        (1, ("That would work. Who tells {city}?",)),
        (0, ("I do, we speak on {day} anyway.",)),
        (2, ("Good. I mark it as settled.",)))),
)  # fmt: skip
"""(subject, turns): who speaks (0 began the conversation) and what they say."""

ANSWERS: tuple[str, ...] = (
    "Thank you, that works for me.", "I will be there at {time}.", "Please wait until {day}.",
    "Yes, {k} will be enough.", "Sorry, I am in {city} that day.", "Could we do it on {day} instead?",
    "I have sent the file to {room}.", "The number is {n}.", "Fine, I will tell the others.",
    "We need {k} more of them.", "Let us talk about it on {day}.", "I can take that over.",
    "Please ask the office in {city}.", "That is settled, thank you.", "I would prefer {room}.",
    "No, not before {time}.", "It costs {n} in all.", "Count me in.",
)  # fmt: skip
"""What is to be answered, in one sentence."""

NOTES: tuple[str, ...] = (
    "For your information.", "Can you take care of this by {day}?", "What do you think of it?",
    "Please keep this for the file {n}.", "This concerns your team in {city}.",
    "Could you answer this before {time}?", "I think this belongs to you.", "See below, part {k}.",
    "Please print this for {room}.", "We should talk about this on {day}.",
)  # fmt: skip
"""What is to be written above a forwarded mail."""

ROOMS = ("room 12", "room 21", "room 102", "room 201", "the loft", "the annex", "hall B", "hall D")
CITIES = ("Bergen", "Bremen", "Cork", "Delft", "Ghent", "Graz", "Leeds", "Lyon", "Malmo", "Porto",
          "Turin", "Vaduz")  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
