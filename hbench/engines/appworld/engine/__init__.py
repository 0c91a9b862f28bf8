"""What runs on the engine's side: in AppWorld's own environment, with the jail's `inside` beside it and nothing of hbench."""
