"""Find the stage of the compiler that is at fault."""
