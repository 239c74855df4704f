"""What the Supervisor says to the floor, word for word, where no model words it.

Which of them it says is decided in supervisor_rules.py.
"""

from __future__ import annotations

TEXTS = {
    "hurry": (
        "We are a little behind. Look sharp.",
        "The quota will not wait for anybody's doubts. Faster.",
        "Every line, every hand, now. I do not want to hear why not.",
    ),
    "blame": (
        "Somebody was careless. I would like to know who.",
        "The book says what should have been done. Somebody did otherwise.",
        "I will have a name for this by the evening, and it will not be mine.",
    ),
    "praise": (
        "Well done. Keep it up.",
        "That is what I like to see: pieces on the rack.",
        "The best shift we ever had. It will be remembered.",
    ),
    "calm": (
        "Take your time. Look twice.",
        "If something seems off, stop and say so. The quota is mine to worry about.",
        "Nobody gets hurt for a number today. I mean it.",
    ),
    "deny": (
        "I heard no such noise.",
        "Nothing happened at the line. You must have dreamt it.",
        "There was no accident. There has never been an accident. Ask anybody.",
    ),
    "silence": ("", "", ""),
}
"""What is said, by how hard it is said."""
