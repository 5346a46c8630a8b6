"""Sessions send the requests of a case; steps compare answers with expectations."""
