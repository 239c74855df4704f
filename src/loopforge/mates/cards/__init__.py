"""What mates are elsewhere: their portraits as pictures, and character cards, read and written."""
