"""`python -m loopforge`: the same as the command `loopforge`."""

import sys

from loopforge.cli import main

if __name__ == "__main__":
    sys.exit(main())
