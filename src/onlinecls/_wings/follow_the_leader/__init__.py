"""Follow the regularized leader."""
