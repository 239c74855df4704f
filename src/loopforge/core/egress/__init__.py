"""What leaves the house: words made fit to be said, and secrets that would go with them."""
