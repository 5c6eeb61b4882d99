"""A chat with an agent that uses the widgets: the page here, its ChatKit server in `backend/`."""
