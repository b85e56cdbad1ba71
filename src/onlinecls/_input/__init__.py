"""Turns what a user gives into arrays that the compiled code can trust, or raises an error that says what is wrong."""
