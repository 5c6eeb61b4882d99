"""The store in this process: nothing to install, nothing to wait for."""
