CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, title TEXT NOT NULL, location TEXT NOT NULL,
  description TEXT NOT NULL, reminder_1_minutes INTEGER NOT NULL, reminder_2_minutes INTEGER NOT NULL,
  reminder_3_minutes INTEGER NOT NULL, reminder_1_type INTEGER NOT NULL, reminder_2_type INTEGER NOT NULL,
  reminder_3_type INTEGER NOT NULL, repeat_interval INTEGER NOT NULL, repeat_rule INTEGER NOT NULL,
  repeat_limit INTEGER NOT NULL, repetition_exceptions TEXT NOT NULL, attendees TEXT NOT NULL,
  import_id TEXT NOT NULL, time_zone TEXT NOT NULL, flags INTEGER NOT NULL, event_type INTEGER NOT NULL,
  parent_id INTEGER NOT NULL, last_updated INTEGER NOT NULL, source TEXT NOT NULL,
  availability INTEGER NOT NULL, color INTEGER NOT NULL, type INTEGER NOT NULL
);
CREATE UNIQUE INDEX index_events_id ON events (id);
CREATE TABLE event_types (
  id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, color INTEGER NOT NULL,
  caldav_calendar_id INTEGER NOT NULL, caldav_display_name TEXT NOT NULL, caldav_email TEXT NOT NULL,
  type INTEGER NOT NULL
);
INSERT INTO event_types VALUES (1, 'Regular event', -16746133, 0, '', '', 0);
