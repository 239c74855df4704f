"""The commands of `loopforge lab`: making runs, and looking at them."""
