"""What happens to sends, before or at the broker."""
