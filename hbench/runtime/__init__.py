"""Runs plans: order, keys, cache, resume; the services that steps use."""
