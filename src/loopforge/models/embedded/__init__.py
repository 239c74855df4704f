"""The language model that comes along: installed, loaded, asked within this process."""
