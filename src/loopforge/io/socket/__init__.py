"""The socket between a terminal and the host of a home: protocol, server, client."""
