
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

UPDATE threads SET
  date = COALESCE((SELECT MAX(date) FROM sms WHERE thread_id = new.thread_id), 0),
  message_count = (SELECT COUNT(*) FROM sms WHERE thread_id = new.thread_id),
  snippet = (SELECT body FROM sms WHERE thread_id = new.thread_id
    ORDER BY date DESC, _id DESC LIMIT 1),
  read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = new.thread_id AND read = 0)
WHERE _id = new.thread_id;
 END;
CREATE TRIGGER sms_update_thread_on_update AFTER UPDATE ON sms BEGIN

UPDATE threads SET
  date = COALESCE((SELECT MAX(date) FROM sms WHERE thread_id = new.thread_id), 0),
  message_count = (SELECT COUNT(*) FROM sms WHERE thread_id = new.thread_id),
  snippet = (SELECT body FROM sms WHERE thread_id = new.thread_id
    ORDER BY date DESC, _id DESC LIMIT 1),
  read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = new.thread_id AND read = 0)
WHERE _id = new.thread_id;
 END;
CREATE TRIGGER sms_update_thread_on_delete AFTER DELETE ON sms BEGIN

UPDATE threads SET
  date = COALESCE((SELECT MAX(date) FROM sms WHERE thread_id = old.thread_id), 0),
  message_count = (SELECT COUNT(*) FROM sms WHERE thread_id = old.thread_id),
  snippet = (SELECT body FROM sms WHERE thread_id = old.thread_id
    ORDER BY date DESC, _id DESC LIMIT 1),
  read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = old.thread_id AND read = 0)
WHERE _id = old.thread_id;

DELETE FROM threads WHERE _id = old.thread_id AND message_count = 0;
END;
