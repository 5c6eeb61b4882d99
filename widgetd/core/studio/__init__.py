"""ChatKit Studio's exporter: what it loses of a widget's JSX, and how to tell from an edit."""
