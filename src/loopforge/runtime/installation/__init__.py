"""What this machine and this installation have: extras, libraries, open files, a time zone."""
