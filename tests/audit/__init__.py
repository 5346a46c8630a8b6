"""Known advisories of the versions in constraints.txt, from a file of OSV's: for a machine without a network."""
