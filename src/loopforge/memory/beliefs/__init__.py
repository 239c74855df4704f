"""Whether what is kept still rests on its lines, and what goes along with them."""
