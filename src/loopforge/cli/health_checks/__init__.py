"""What the doctor looks at: the machine, the home, models, and where else mates talk."""
