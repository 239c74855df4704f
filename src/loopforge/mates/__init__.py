"""The mates of a home: their files, the shipped ones, and the prompts every mind is given."""
