"""Online learning by dual ascent (the ICML 2008 tutorial), and what the tutorial compares it with."""
