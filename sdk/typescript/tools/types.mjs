// Writes the types of the components of each NAME.json to NAME.ts. A component with the given keyword is a type of open.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, keyword, ...documents] = process.argv.slice(2);
const generator = join(modules, "openapi-typescript", "dist", "index.mjs");
const { default: openapiTS, astToString } = await import(pathToFileURL(generator));
const { factory } = createRequire(generator)("typescript");

for (const name of documents) {
  const open = new Set();
  const types = await openapiTS(JSON.parse(readFileSync(`${name}.json`, "utf-8")), {
    // A field with a default may be left out of a request all the same.
    defaultNonNullable: false,
    transform(schema) {
      if (!(keyword in schema)) return undefined;
      open.add(schema[keyword]);
      return factory.createTypeReferenceNode(schema[keyword]);
    },
  });
  const imported = open.size > 0 ? `import type { ${[...open].sort().join(", ")} } from "./open.js";\n\n` : "";
  writeFileSync(`${name}.ts`, imported + astToString(types));
}
