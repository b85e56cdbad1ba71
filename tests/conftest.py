"""What all tests share."""

import signal

# A shell starts what it runs in the background with Ctrl-C ignored, and Python leaves that as it is: tests that send themselves
# the signal would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
