"""The suite of asv (`make bench`), which makes its own data; what needs data or rivals is in scripts/."""

import os

# One thread, whatever numpy is linked with; this runs before any module of the suite imports numpy.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
