"""What is true in one room: its state, folded from events, and who may do what there."""
