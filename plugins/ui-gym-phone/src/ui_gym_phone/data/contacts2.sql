
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
