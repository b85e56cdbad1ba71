"""From whatever a user gives to arrays that the compiled code can trust, or an error."""
