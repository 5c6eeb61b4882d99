"""A chat with an agent for the widgets: the page here, its ChatKit server in `backend/`."""
