CREATE TABLE tasks (
  _id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  title TEXT, importance INTEGER NOT NULL, dueDate INTEGER NOT NULL, hideUntil INTEGER NOT NULL,
  created INTEGER NOT NULL, modified INTEGER NOT NULL, completed INTEGER NOT NULL, deleted INTEGER NOT NULL,
  notes TEXT, estimatedSeconds INTEGER NOT NULL, elapsedSeconds INTEGER NOT NULL, timerStart INTEGER NOT NULL,
  notificationFlags INTEGER NOT NULL, lastNotified INTEGER NOT NULL, recurrence TEXT,
  repeat_from INTEGER NOT NULL DEFAULT 0, calendarUri TEXT, remoteId TEXT, collapsed INTEGER NOT NULL,
  parent INTEGER NOT NULL, "order" INTEGER, read_only INTEGER NOT NULL DEFAULT 0
);
