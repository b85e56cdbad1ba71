"""AdaGrad, NAROW's baseline, with the diagonal or the full matrix."""
