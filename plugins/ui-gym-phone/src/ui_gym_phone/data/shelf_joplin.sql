CREATE TABLE folders (
  id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, updated_time INT NOT NULL,
  user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0,
  encryption_cipher_text TEXT NOT NULL DEFAULT '', encryption_applied INT NOT NULL DEFAULT 0,
  parent_id TEXT NOT NULL DEFAULT '', is_shared INT NOT NULL DEFAULT 0, share_id TEXT NOT NULL DEFAULT '',
  master_key_id TEXT NOT NULL DEFAULT '', icon TEXT NOT NULL DEFAULT '', user_data TEXT NOT NULL DEFAULT '',
  deleted_time INT NOT NULL DEFAULT 0
);
CREATE TABLE notes (
  id TEXT PRIMARY KEY, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, updated_time INT NOT NULL,
  is_conflict INT NOT NULL DEFAULT 0, latitude NUMERIC NOT NULL DEFAULT 0, longitude NUMERIC NOT NULL DEFAULT 0,
  altitude NUMERIC NOT NULL DEFAULT 0, author TEXT NOT NULL DEFAULT '', source_url TEXT NOT NULL DEFAULT '',
  is_todo INT NOT NULL DEFAULT 0, todo_due INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0,
  source TEXT NOT NULL DEFAULT '', source_application TEXT NOT NULL DEFAULT '',
  application_data TEXT NOT NULL DEFAULT '', "order" NUMERIC NOT NULL DEFAULT 0,
  user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0,
  encryption_cipher_text TEXT NOT NULL DEFAULT '', encryption_applied INT NOT NULL DEFAULT 0,
  markup_language INT NOT NULL DEFAULT 1, is_shared INT NOT NULL DEFAULT 0, share_id TEXT NOT NULL DEFAULT '',
  conflict_original_id TEXT NOT NULL DEFAULT '', master_key_id TEXT NOT NULL DEFAULT '',
  user_data TEXT NOT NULL DEFAULT ''
);
CREATE TABLE notes_normalized (
  id TEXT NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '',
  user_created_time INT NOT NULL DEFAULT 0, user_updated_time INT NOT NULL DEFAULT 0,
  is_todo INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0, parent_id TEXT NOT NULL DEFAULT '',
  latitude NUMERIC NOT NULL DEFAULT 0, longitude NUMERIC NOT NULL DEFAULT 0, altitude NUMERIC NOT NULL DEFAULT 0,
  source_url TEXT NOT NULL DEFAULT '', todo_due INT NOT NULL DEFAULT 0
);
