CREATE TABLE recipes (
  recipeId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  title TEXT, imageName TEXT, description TEXT, servings TEXT, preparationTime TEXT, source TEXT,
  ingredients TEXT, directions TEXT, favorite INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE categories (categoryId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name TEXT);
CREATE TABLE recipes_with_categories (
  recipeId INTEGER NOT NULL, categoryId INTEGER NOT NULL, PRIMARY KEY (recipeId, categoryId)
);
