"""The documentation portal: pages made from the document beside hand-written ones, as a static site."""
