"""AdaGrad, NAROW's baseline."""
