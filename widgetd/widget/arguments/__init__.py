"""How a widget's argument schema is read, and arguments are held to it, mended and explained."""
