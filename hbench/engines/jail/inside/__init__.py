"""What runs inside a jail. Standard library only; started as the top-level package `inside`, never with hbench on the path."""
