"""Values as a recording sees them: traced ones, containers, memory, the user's lines."""
