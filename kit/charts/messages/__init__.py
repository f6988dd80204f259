"""Charts of messages: ids, journeys, retries."""
