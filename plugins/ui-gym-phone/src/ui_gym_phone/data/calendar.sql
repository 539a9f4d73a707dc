
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
