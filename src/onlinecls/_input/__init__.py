"""Conversion of user input to arrays that the compiled code can trust, or an error that says what is wrong."""
