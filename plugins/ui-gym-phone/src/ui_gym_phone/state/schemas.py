"""Schemas: the tables of Android's own providers and of its clock, under Android's names.

Tables and columns are those of AOSP's `MmsSmsDatabaseHelper`, `ContactsDatabaseHelper`,
`CallLogDatabaseHelper`, `CalendarDatabaseHelper` and DeskClock's `ClockDatabaseHelper`, less the
tables that nothing here fills. `Instances` is a view here, as no event of the phone is repeated.
"""

from __future__ import annotations

from typing import NamedTuple

TELEPHONY = "com.android.providers.telephony"
CONTACTS = "com.android.providers.contacts"
CALENDAR = "com.android.providers.calendar"
DESK_CLOCK = "com.google.android.deskclock"

MIMETYPES = {
    "vnd.android.cursor.item/email_v2": 1,
    "vnd.android.cursor.item/im": 2,
    "vnd.android.cursor.item/nickname": 3,
    "vnd.android.cursor.item/organization": 4,
    "vnd.android.cursor.item/phone_v2": 5,
    "vnd.android.cursor.item/sip_address": 6,
    "vnd.android.cursor.item/name": 7,
    "vnd.android.cursor.item/postal-address_v2": 8,
    "vnd.android.cursor.item/photo": 10,
    "vnd.android.cursor.item/note": 12,
}
"""Kinds of a contact's data, and their rows in ``mimetypes``."""


class Schema(NamedTuple):
    """One database: whose it is, and what makes it."""

    package: str
    script: str
    protected: bool = False
    """Whether it lies in device-protected storage (``/data/user_de``)."""


_THREAD = """
UPDATE threads SET
  date = COALESCE((SELECT MAX(date) FROM sms WHERE thread_id = {row}.thread_id), 0),
  message_count = (SELECT COUNT(*) FROM sms WHERE thread_id = {row}.thread_id),
  snippet = (SELECT body FROM sms WHERE thread_id = {row}.thread_id
    ORDER BY date DESC, _id DESC LIMIT 1),
  read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = {row}.thread_id AND read = 0)
WHERE _id = {row}.thread_id;
"""

_SMS = f"""
CREATE TABLE sms (_id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id INTEGER, address TEXT,
  person INTEGER, date INTEGER, date_sent INTEGER DEFAULT 0, protocol INTEGER,
  read INTEGER DEFAULT 0, status INTEGER DEFAULT -1, type INTEGER, reply_path_present INTEGER,
  subject TEXT, body TEXT, service_center TEXT, locked INTEGER DEFAULT 0,
  sub_id INTEGER DEFAULT -1, error_code INTEGER DEFAULT -1, creator TEXT, seen INTEGER DEFAULT 0);
CREATE TABLE threads (_id INTEGER PRIMARY KEY AUTOINCREMENT, date INTEGER DEFAULT 0,
  message_count INTEGER DEFAULT 0, recipient_ids TEXT, snippet TEXT,
  snippet_cs INTEGER DEFAULT 0, read INTEGER DEFAULT 1, archived INTEGER DEFAULT 0,
  type INTEGER DEFAULT 0, error INTEGER DEFAULT 0, has_attachment INTEGER DEFAULT 0);
CREATE TABLE canonical_addresses (_id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT);
CREATE INDEX smsThreadIndex ON sms (thread_id);
CREATE TRIGGER sms_update_thread_on_insert AFTER INSERT ON sms BEGIN
{_THREAD.format(row="new")} END;
CREATE TRIGGER sms_update_thread_on_update AFTER UPDATE ON sms BEGIN
{_THREAD.format(row="new")} END;
CREATE TRIGGER sms_update_thread_on_delete AFTER DELETE ON sms BEGIN
{_THREAD.format(row="old")}
DELETE FROM threads WHERE _id = old.thread_id AND message_count = 0;
END;
"""

_CONTACTS = """
CREATE TABLE accounts (_id INTEGER PRIMARY KEY AUTOINCREMENT, account_name TEXT,
  account_type TEXT, data_set TEXT);
CREATE TABLE mimetypes (_id INTEGER PRIMARY KEY AUTOINCREMENT, mimetype TEXT NOT NULL);
CREATE TABLE raw_contacts (_id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER DEFAULT 1,
  sourceid TEXT, raw_contact_is_read_only INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1, dirty INTEGER NOT NULL DEFAULT 1,
  deleted INTEGER NOT NULL DEFAULT 0, contact_id INTEGER,
  aggregation_mode INTEGER NOT NULL DEFAULT 0, custom_ringtone TEXT,
  send_to_voicemail INTEGER NOT NULL DEFAULT 0, times_contacted INTEGER NOT NULL DEFAULT 0,
  last_time_contacted INTEGER, starred INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0, display_name TEXT, display_name_alt TEXT,
  display_name_source INTEGER NOT NULL DEFAULT 40, phonetic_name TEXT, sort_key TEXT,
  sort_key_alt TEXT, phonebook_label TEXT);
CREATE TABLE contacts (_id INTEGER PRIMARY KEY AUTOINCREMENT, name_raw_contact_id INTEGER,
  photo_id INTEGER, photo_file_id INTEGER, custom_ringtone TEXT,
  send_to_voicemail INTEGER NOT NULL DEFAULT 0, times_contacted INTEGER NOT NULL DEFAULT 0,
  last_time_contacted INTEGER, starred INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0, has_phone_number INTEGER NOT NULL DEFAULT 0, lookup TEXT,
  status_update_id INTEGER, contact_last_updated_timestamp INTEGER);
CREATE TABLE data (_id INTEGER PRIMARY KEY AUTOINCREMENT, package_id INTEGER,
  mimetype_id INTEGER NOT NULL, raw_contact_id INTEGER NOT NULL,
  is_read_only INTEGER NOT NULL DEFAULT 0, is_primary INTEGER NOT NULL DEFAULT 0,
  is_super_primary INTEGER NOT NULL DEFAULT 0, data_version INTEGER NOT NULL DEFAULT 0,
  data1 TEXT, data2 TEXT, data3 TEXT, data4 TEXT, data5 TEXT, data6 TEXT, data7 TEXT, data8 TEXT,
  data9 TEXT, data10 TEXT, data11 TEXT, data12 TEXT, data13 TEXT, data14 TEXT, data15 TEXT);
CREATE TABLE phone_lookup (data_id INTEGER PRIMARY KEY, raw_contact_id INTEGER NOT NULL,
  normalized_number TEXT NOT NULL, min_match TEXT NOT NULL);
CREATE INDEX data_raw_contact_id ON data (raw_contact_id);
CREATE TRIGGER raw_contacts_deleted BEFORE DELETE ON raw_contacts BEGIN
  DELETE FROM data WHERE raw_contact_id = old._id;
  DELETE FROM phone_lookup WHERE raw_contact_id = old._id;
  DELETE FROM contacts WHERE _id = old.contact_id AND 1 =
    (SELECT COUNT(*) FROM raw_contacts WHERE contact_id = old.contact_id);
END;
CREATE TRIGGER data_deleted BEFORE DELETE ON data BEGIN
  DELETE FROM phone_lookup WHERE data_id = old._id;
END;
CREATE VIEW view_raw_contacts AS SELECT r.*, a.account_name, a.account_type
  FROM raw_contacts r LEFT JOIN accounts a ON a._id = r.account_id;
CREATE VIEW view_contacts AS SELECT c._id, c.custom_ringtone, r.display_name, r.display_name_alt,
  r.display_name_source, c.has_phone_number, c.last_time_contacted, c.lookup,
  c.name_raw_contact_id, r.phonebook_label, r.phonetic_name, c.photo_id, c.pinned,
  c.send_to_voicemail, r.sort_key, r.sort_key_alt, c.starred, c.times_contacted
  FROM contacts c JOIN raw_contacts r ON r._id = c.name_raw_contact_id;
CREATE VIEW view_data AS SELECT d._id, d.raw_contact_id, r.contact_id, m.mimetype,
  d.is_primary, d.is_super_primary, d.data_version, d.data1, d.data2, d.data3, d.data4, d.data5,
  d.data6, d.data7, d.data8, d.data9, d.data10, d.data11, d.data12, d.data13, d.data14, d.data15,
  r.display_name, r.display_name_alt, r.starred, r.sort_key, c.lookup, c.has_phone_number
  FROM data d JOIN mimetypes m ON m._id = d.mimetype_id
  JOIN raw_contacts r ON r._id = d.raw_contact_id AND r.deleted = 0
  LEFT JOIN contacts c ON c._id = r.contact_id;
INSERT INTO accounts (account_name, account_type) VALUES (NULL, NULL);
""" + "".join(
    f"INSERT INTO mimetypes VALUES ({number}, '{kind}');\n" for kind, number in MIMETYPES.items()
)

_CALLS = """
CREATE TABLE calls (_id INTEGER PRIMARY KEY AUTOINCREMENT, number TEXT,
  presentation INTEGER NOT NULL DEFAULT 1, post_dial_digits TEXT NOT NULL DEFAULT '',
  via_number TEXT NOT NULL DEFAULT '', date INTEGER, duration INTEGER, data_usage INTEGER,
  type INTEGER, features INTEGER NOT NULL DEFAULT 0, subscription_component_name TEXT,
  subscription_id TEXT, phone_account_address TEXT, new INTEGER, name TEXT, numbertype INTEGER,
  numberlabel TEXT, countryiso TEXT, voicemail_uri TEXT, is_read INTEGER,
  geocoded_location TEXT, lookup_uri TEXT, matched_number TEXT, normalized_number TEXT,
  photo_id INTEGER NOT NULL DEFAULT 0, formatted_number TEXT, last_modified INTEGER DEFAULT 0);
"""

_CALENDAR = """
CREATE TABLE Calendars (_id INTEGER PRIMARY KEY, account_name TEXT, account_type TEXT,
  _sync_id TEXT, dirty INTEGER, mutators TEXT, name TEXT, calendar_displayName TEXT,
  calendar_color INTEGER, calendar_access_level INTEGER, visible INTEGER NOT NULL DEFAULT 1,
  sync_events INTEGER NOT NULL DEFAULT 0, calendar_location TEXT, calendar_timezone TEXT,
  ownerAccount TEXT, isPrimary INTEGER, canOrganizerRespond INTEGER NOT NULL DEFAULT 1,
  maxReminders INTEGER DEFAULT 5, allowedReminders TEXT DEFAULT '0,1',
  deleted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Events (_id INTEGER PRIMARY KEY AUTOINCREMENT, _sync_id TEXT, dirty INTEGER,
  mutators TEXT, lastSynced INTEGER DEFAULT 0, calendar_id INTEGER NOT NULL DEFAULT 1, title TEXT,
  eventLocation TEXT, description TEXT, eventColor INTEGER, eventStatus INTEGER DEFAULT 1,
  selfAttendeeStatus INTEGER NOT NULL DEFAULT 0, dtstart INTEGER, dtend INTEGER,
  eventTimezone TEXT, duration TEXT, allDay INTEGER NOT NULL DEFAULT 0,
  accessLevel INTEGER NOT NULL DEFAULT 0, availability INTEGER NOT NULL DEFAULT 0,
  hasAlarm INTEGER NOT NULL DEFAULT 0, hasExtendedProperties INTEGER NOT NULL DEFAULT 0,
  rrule TEXT, rdate TEXT, exrule TEXT, exdate TEXT, original_id INTEGER, original_sync_id TEXT,
  originalInstanceTime INTEGER, originalAllDay INTEGER, lastDate INTEGER,
  hasAttendeeData INTEGER NOT NULL DEFAULT 0, guestsCanModify INTEGER NOT NULL DEFAULT 0,
  guestsCanInviteOthers INTEGER NOT NULL DEFAULT 1, guestsCanSeeGuests INTEGER NOT NULL DEFAULT 1,
  organizer TEXT, isOrganizer INTEGER, deleted INTEGER NOT NULL DEFAULT 0, eventEndTimezone TEXT,
  customAppPackage TEXT, customAppUri TEXT, uid2445 TEXT);
CREATE TABLE Reminders (_id INTEGER PRIMARY KEY, event_id INTEGER, minutes INTEGER,
  method INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Attendees (_id INTEGER PRIMARY KEY, event_id INTEGER, attendeeName TEXT,
  attendeeEmail TEXT, attendeeStatus INTEGER, attendeeRelationship INTEGER, attendeeType INTEGER);
CREATE VIEW Instances AS SELECT _id, _id AS event_id, dtstart AS begin,
  COALESCE(dtend, dtstart) AS end, dtstart / 86400000 + 2440588 AS startDay,
  COALESCE(dtend, dtstart) / 86400000 + 2440588 AS endDay,
  dtstart / 60000 % 1440 AS startMinute, COALESCE(dtend, dtstart) / 60000 % 1440 AS endMinute
  FROM Events WHERE deleted = 0;
CREATE TRIGGER events_cleanup_delete AFTER DELETE ON Events BEGIN
  DELETE FROM Reminders WHERE event_id = old._id;
  DELETE FROM Attendees WHERE event_id = old._id;
END;
INSERT INTO Calendars (_id, account_name, account_type, dirty, name, calendar_displayName,
  calendar_color, calendar_access_level, sync_events, calendar_timezone, ownerAccount, isPrimary)
  VALUES (1, 'Phone', 'LOCAL', 0, 'Calendar', 'Calendar', -12417548, 700, 1, 'UTC', 'Phone', 1);
"""

_ALARMS = """
CREATE TABLE alarm_templates (_id INTEGER PRIMARY KEY, hour INTEGER NOT NULL,
  minutes INTEGER NOT NULL, daysofweek INTEGER NOT NULL, enabled INTEGER NOT NULL,
  vibrate INTEGER NOT NULL, label TEXT NOT NULL, ringtone TEXT,
  delete_after_use INTEGER NOT NULL DEFAULT 0);
CREATE TABLE alarm_instances (_id INTEGER PRIMARY KEY, year INTEGER NOT NULL,
  month INTEGER NOT NULL, day INTEGER NOT NULL, hour INTEGER NOT NULL, minutes INTEGER NOT NULL,
  vibrate INTEGER NOT NULL, label TEXT NOT NULL, ringtone TEXT, alarm_state INTEGER NOT NULL,
  alarm_id INTEGER REFERENCES alarm_templates (_id) ON UPDATE CASCADE ON DELETE CASCADE);
CREATE TRIGGER alarm_deleted AFTER DELETE ON alarm_templates BEGIN
  DELETE FROM alarm_instances WHERE alarm_id = old._id;
END;
"""

SCHEMAS = {
    "mmssms.db": Schema(TELEPHONY, _SMS),
    "contacts2.db": Schema(CONTACTS, _CONTACTS),
    "calllog.db": Schema(CONTACTS, _CALLS),
    "calendar.db": Schema(CALENDAR, _CALENDAR),
    "alarms.db": Schema(DESK_CLOCK, _ALARMS, protected=True),
}
"""File name -> what it is."""
