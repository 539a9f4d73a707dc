// Mozilla User Preferences
user_pref("mail.html_compose", true);
user_pref("mail.server.server1.type", "none");
