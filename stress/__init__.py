"""What widgetd is made to withstand, as tables of what was tried and what came of it."""
