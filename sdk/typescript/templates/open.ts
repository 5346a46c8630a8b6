/** What newer servers may send: types for it, since answers aren't validated. */

/** Another text than those that the document lists. Editors still suggest these. */
export type Other = string & {};

/**
 * An event, an item, a part or a tool of a type that the document doesn't have, with its fields as the server sent
 * them. Its `type` is any other text. TypeScript has no type for that; this one is of no known value, by which a
 * comparison with a known one leaves only the kind that has it.
 */
export interface UnknownKind {
  type: `unknown: ${string}`;
  [field: string]: unknown;
}
