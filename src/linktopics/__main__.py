"""``python -m linktopics`` is the command ``linktopics``."""

from linktopics.cli import main

main()
