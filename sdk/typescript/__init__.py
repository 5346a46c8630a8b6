"""An npm package: types by openapi-typescript, a client on openapi-fetch."""
