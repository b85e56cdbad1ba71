"""Checks what a user gives and turns it into arrays that the compiled code can trust, or raises an error that says what is wrong."""
