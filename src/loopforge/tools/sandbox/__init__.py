"""The sandbox: programs held to a folder and limits of their own, and the files they leave."""
