"""Text logs → Arrow."""
