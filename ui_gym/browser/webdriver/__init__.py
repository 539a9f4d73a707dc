"""Any WebDriver browser as a device: its driver, a session, input as WebDriver actions."""
