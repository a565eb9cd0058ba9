"""What of this folder pytest leaves alone: it needs atheris, and instruments what it imports."""

collect_ignore = ["guided.py"]
