"""Commands about rooms: settings, lines, and which places of platforms are part of them."""
