"""What client programs send to a server and rely on: a YAML file for each, `<name>.yaml`."""
