"""Getting evidence: collected where nothing can be installed, or cut to what matters."""
