"""What the pages of the families show: words, people, goods, mails, tables; how goals say it."""
