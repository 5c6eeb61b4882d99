"""The envelope of results, and each widget's arguments and response, as types of a language."""
