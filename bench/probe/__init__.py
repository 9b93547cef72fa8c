"""What `bench/faults.py` is made of: the cases and their judge, one trial in a process of its own, the report."""
