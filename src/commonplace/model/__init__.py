"""Values everything else is made of: pure, no input or output, no dependency but the standard library."""
