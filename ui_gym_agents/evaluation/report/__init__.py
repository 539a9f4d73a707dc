"""What an evaluation leaves behind: its figures, its folder, and its reports with pictures."""
