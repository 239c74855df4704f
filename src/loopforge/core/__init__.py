"""The pure core: values and the rules over them.

Nothing here awaits, reads a clock, rolls dice, logs, or touches a file, a network or a
database. What can happen in a room stands in `room_vocabulary.py`, what a mind may do there too.
"""
