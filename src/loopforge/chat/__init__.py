"""The room: who is here, who said what, who is to speak next, and what was delivered.

The room does not know which surface a line came from, nor how a model is asked.
"""
