"""What `scripts/unchanged.py` records, and how."""
