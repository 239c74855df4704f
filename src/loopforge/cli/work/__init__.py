"""Commands about tasks: given, watched, steered, and what comes of them."""
