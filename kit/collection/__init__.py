"""Evidence on its way here: collected where nothing can be installed, fetched from object storage, cut to what matters."""
