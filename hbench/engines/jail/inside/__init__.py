"""What runs inside a jail: standard library only, started as the top-level package `inside`."""
