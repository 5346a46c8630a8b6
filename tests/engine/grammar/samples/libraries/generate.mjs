// Writes what libraries for TypeScript make of two dozen types, one JSON file each, into the folder that is named:
//   npm install zod valibot @valibot/to-json-schema typebox effect openai && node generate.mjs FOLDER
import { readFileSync, writeFileSync } from "node:fs";
import { toJsonSchema } from "@valibot/to-json-schema";
import { Schema } from "effect";
import { zodTextFormat } from "openai/helpers/zod";
import { Type } from "typebox";
import * as v from "valibot";
import { z } from "zod";

const [folder] = process.argv.slice(2);
const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;

function write(name, tool, types, schemaOf) {
  const schemas = {};
  for (const [type, value] of Object.entries(types)) {
    try {
      schemas[type] = schemaOf(value);
    } catch (error) {
      console.error(`${name}, ${type}: ${error.message.split("\n")[0]}`); // what a library can't write it doesn't have
    }
  }
  writeFileSync(`${folder}/${name}.json`, `${JSON.stringify({ tool, schemas }, null, 1)}\n`);
}

const Category = z.object({ name: z.string(), get children() { return z.array(Category); } });
const inZod = {
  date: z.iso.date(),
  time: z.iso.time(),
  date_time: z.iso.datetime({ offset: true }),
  date_time_in_utc: z.iso.datetime(),
  duration: z.iso.duration(),
  uuid: z.uuid(),
  uuid_v4: z.uuidv4(),
  email: z.email(),
  email_bounded: z.email().max(60),
  url: z.url(),
  url_bounded: z.url().min(12).max(200),
  https_url: z.url({ protocol: /^https$/, hostname: z.regexes.domain }),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidr: z.cidrv4(),
  decimal: z.number().min(0).max(9999.99).multipleOf(0.01),
  percentage: z.number().min(0).max(100).multipleOf(0.01),
  integer: z.int(),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/).min(3).max(40),
  prefix_and_suffix: z.string().startsWith("ID-").endsWith("-X").min(8).max(20),
  includes: z.string().includes("@").lowercase(),
  phone: z.e164(),
  base64: z.base64().max(64),
  base64url: z.base64url(),
  hex: z.hex().length(8),
  nanoid: z.nanoid(),
  ulid: z.ulid(),
  cuid2: z.cuid2(),
  jwt: z.jwt(),
  emoji: z.emoji(),
  mac: z.mac(),
  template: z.templateLiteral(["v", z.int().min(0), ".", z.enum(["a", "b"])]),
  nonempty: z.string().trim().min(1).max(80),
  enum_record: z.record(z.enum(["small", "large"]), z.int()),
  partial_record: z.partialRecord(z.enum(["small", "large"]), z.int()),
  map_by_pattern: z.record(z.string().regex(/^[a-z]{2}-[A-Z]{2}$/), z.string()),
  array_of_enums: z.array(z.enum(["a", "b", "c"])).min(1).max(3),
  tuple: z.tuple([z.string(), z.int(), z.boolean()]),
  tuple_with_rest: z.tuple([z.string()]).rest(z.number()),
  discriminated_union: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("card"), number: z.string().regex(/^\d{16}$/) }),
    z.object({ kind: z.literal("transfer"), iban: z.string().min(15).max(34) }),
  ]),
  nullable_object: z.object({ address: z.object({ city: z.string(), zip: z.string().regex(/^\d{5}$/) }).nullable() }),
  intersection: z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  tree: Category,
  literal: z.literal("yes"),
  literals: z.literal(["yes", "no", 1, null]),
};
write("zod", `zod ${version("zod")}, z.toJSONSchema`, inZod, (type) => z.toJSONSchema(type));
write("zod_draft_7", `zod ${version("zod")}, z.toJSONSchema with target draft-7`, inZod, (type) => z.toJSONSchema(type, { target: "draft-7" }));
write("openai", `openai ${version("openai")} (npm), zodTextFormat, zod ${version("zod")}`, inZod, (type) => zodTextFormat(z.object({ value: type }), "x").schema);

const Item = v.object({ name: v.string(), children: v.array(v.lazy(() => Item)) });
const inValibot = {
  date: v.pipe(v.string(), v.isoDate()),
  time: v.pipe(v.string(), v.isoTimeSecond()),
  date_time: v.pipe(v.string(), v.isoTimestamp()),
  uuid: v.pipe(v.string(), v.uuid()),
  email: v.pipe(v.string(), v.email()),
  email_bounded: v.pipe(v.string(), v.rfcEmail(), v.maxLength(60)),
  url: v.pipe(v.string(), v.url()),
  url_bounded: v.pipe(v.string(), v.url(), v.minLength(12), v.maxLength(200)),
  ipv4: v.pipe(v.string(), v.ipv4()),
  ipv6: v.pipe(v.string(), v.ipv6()),
  decimal: v.pipe(v.number(), v.minValue(0), v.maxValue(9999.99), v.multipleOf(0.01)),
  percentage: v.pipe(v.number(), v.minValue(0), v.maxValue(100), v.multipleOf(0.01)),
  integer: v.pipe(v.number(), v.integer()),
  slug: v.pipe(v.string(), v.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/), v.minLength(3), v.maxLength(40)),
  phone: v.pipe(v.string(), v.regex(/^\+[1-9]\d{1,14}$/)),
  base64: v.pipe(v.string(), v.base64(), v.maxLength(64)),
  nonempty: v.pipe(v.string(), v.nonEmpty(), v.maxLength(80)),
  enum_record: v.record(v.picklist(["small", "large"]), v.pipe(v.number(), v.integer())),
  map_by_pattern: v.record(v.pipe(v.string(), v.regex(/^[a-z]{2}-[A-Z]{2}$/)), v.string()),
  array_of_enums: v.pipe(v.array(v.picklist(["a", "b", "c"])), v.minLength(1), v.maxLength(3)),
  properties: v.pipe(v.record(v.string(), v.number()), v.minEntries(1), v.maxEntries(3)),
  tuple: v.strictTuple([v.string(), v.pipe(v.number(), v.integer()), v.boolean()]),
  discriminated_union: v.variant("kind", [
    v.object({ kind: v.literal("card"), number: v.pipe(v.string(), v.regex(/^\d{16}$/)) }),
    v.object({ kind: v.literal("transfer"), iban: v.pipe(v.string(), v.minLength(15), v.maxLength(34)) }),
  ]),
  nullable_object: v.object({ address: v.nullable(v.strictObject({ city: v.string(), zip: v.pipe(v.string(), v.regex(/^\d{5}$/)) })) }),
  intersection: v.intersect([v.object({ a: v.string() }), v.object({ b: v.number() })]),
  tree: Item,
  literal: v.literal("yes"),
};
write("valibot", `@valibot/to-json-schema ${version("@valibot/to-json-schema")}, valibot ${version("valibot")}`, inValibot, (type) => toJsonSchema(type));

const inTypeBox = {
  date: Type.String({ format: "date" }),
  time: Type.String({ format: "time" }),
  date_time: Type.String({ format: "date-time" }),
  duration: Type.String({ format: "duration" }),
  uuid: Type.String({ format: "uuid" }),
  email: Type.String({ format: "email" }),
  email_bounded: Type.String({ format: "email", maxLength: 60 }),
  url: Type.String({ format: "uri" }),
  url_bounded: Type.String({ format: "uri", minLength: 12, maxLength: 200 }),
  ipv4: Type.String({ format: "ipv4" }),
  ipv6: Type.String({ format: "ipv6" }),
  decimal: Type.Number({ minimum: 0, maximum: 9999.99, multipleOf: 0.01 }),
  percentage: Type.Number({ minimum: 0, maximum: 100, multipleOf: 0.01 }),
  integer: Type.Integer({ minimum: 1 }),
  slug: Type.String({ pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$", minLength: 3, maxLength: 40 }),
  phone: Type.String({ pattern: "^\\+[1-9]\\d{1,14}$" }),
  base64: Type.String({ pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", maxLength: 64 }),
  template: Type.TemplateLiteral("v${0|1}.${'a'|'b'}"),
  enum_record: Type.Record(Type.Union([Type.Literal("small"), Type.Literal("large")]), Type.Integer()),
  map_by_pattern: Type.Record(Type.String({ pattern: "^[a-z]{2}-[A-Z]{2}$" }), Type.String()),
  integer_keys: Type.Record(Type.Integer(), Type.String()),
  set_of_enums: Type.Array(Type.Enum(["a", "b", "c"]), { uniqueItems: true, minItems: 1 }),
  contains: Type.Array(Type.Enum(["a", "b", "c"]), { contains: Type.Literal("a"), maxItems: 4 }),
  properties: Type.Record(Type.String(), Type.Number(), { minProperties: 1, maxProperties: 3 }),
  tuple: Type.Tuple([Type.String(), Type.Integer(), Type.Boolean()]),
  discriminated_union: Type.Union([
    Type.Object({ kind: Type.Literal("card"), number: Type.String({ pattern: "^\\d{16}$" }) }),
    Type.Object({ kind: Type.Literal("transfer"), iban: Type.String({ minLength: 15, maxLength: 34 }) }),
  ]),
  nullable_object: Type.Object({
    address: Type.Union([Type.Object({ city: Type.String(), zip: Type.String({ pattern: "^\\d{5}$" }) }), Type.Null()]),
  }),
  intersection: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
  tree: Type.Cyclic({ Node: Type.Object({ name: Type.String(), children: Type.Array(Type.Ref("Node")) }) }, "Node"),
  literal: Type.Literal("yes"),
};
write("typebox", `typebox ${version("typebox")}`, inTypeBox, (type) => JSON.parse(JSON.stringify(type)));

const Nested = Schema.Struct({ name: Schema.String, children: Schema.Array(Schema.suspend(() => Nested)) }).annotate({ identifier: "Nested" });
const inEffect = {
  uuid: Schema.String.check(Schema.isUUID()),
  decimal: Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 9999.99 }), Schema.isMultipleOf(0.01)),
  percentage: Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 100 }), Schema.isMultipleOf(0.01)),
  integer: Schema.Int,
  finite: Schema.Finite,
  slug: Schema.String.check(Schema.isPattern(/^[a-z0-9]+(?:-[a-z0-9]+)*$/), Schema.isMinLength(3), Schema.isMaxLength(40)),
  prefix_and_suffix: Schema.String.check(Schema.isStartingWith("ID-"), Schema.isEndingWith("-X"), Schema.isMinLength(8), Schema.isMaxLength(20)),
  includes: Schema.String.check(Schema.isIncluding("@"), Schema.isLowercased()),
  phone: Schema.String.check(Schema.isPattern(/^\+[1-9]\d{1,14}$/)),
  base64: Schema.String.check(Schema.isBase64(), Schema.isMaxLength(64)),
  base64url: Schema.String.check(Schema.isBase64Url()),
  ulid: Schema.String.check(Schema.isULID()),
  nonempty: Schema.NonEmptyString.check(Schema.isTrimmed(), Schema.isMaxLength(80)),
  template: Schema.TemplateLiteral(["v", Schema.Int, ".", Schema.Literals(["a", "b"])]),
  enum_record: Schema.Record(Schema.Literals(["small", "large"]), Schema.Int),
  map_by_pattern: Schema.Record(Schema.String.check(Schema.isPattern(/^[a-z]{2}-[A-Z]{2}$/)), Schema.String),
  properties: Schema.Record(Schema.String, Schema.Finite).check(Schema.isMinProperties(1), Schema.isMaxProperties(3)),
  set_of_enums: Schema.UniqueArray(Schema.Literals(["a", "b", "c"])),
  array_of_enums: Schema.NonEmptyArray(Schema.Literals(["a", "b", "c"])),
  tuple: Schema.Tuple([Schema.String, Schema.Int, Schema.Boolean]),
  discriminated_union: Schema.Union([
    Schema.Struct({ kind: Schema.Literal("card"), number: Schema.String.check(Schema.isPattern(/^\d{16}$/)) }),
    Schema.Struct({ kind: Schema.Literal("transfer"), iban: Schema.String.check(Schema.isMinLength(15), Schema.isMaxLength(34)) }),
  ]),
  nullable_object: Schema.Struct({
    address: Schema.NullOr(Schema.Struct({ city: Schema.String, zip: Schema.String.check(Schema.isPattern(/^\d{5}$/)) })),
  }),
  tree: Nested,
  literal: Schema.Literal("yes"),
};
write("effect", `effect ${version("effect")}, Schema.toJsonSchemaDocument`, inEffect, (type) => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(type);
  return Object.keys(definitions).length ? { ...schema, $defs: definitions } : schema;
});
