"""What happened to sends."""
