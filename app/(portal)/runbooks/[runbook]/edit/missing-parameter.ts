import { jsonObjectIn } from '#app/(portal)/vms/[vmId]/executions/json-object.ts';

type Values = Record<string, unknown>;

const object = (value: unknown): Values | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : null;

/** Returns the parameter that a line of the Body reads and the schema lacks; null if there is none or more than one. */
export function missingParameter(line: string, schema: string): string | null {
  const properties = propertiesOf(schema);
  if (properties === null) return null;
  const read = [...line.matchAll(/\bargs\.([A-Za-z_]\w*)(?!\w|\s*\()/g)].map(([, name]) => name ?? '');
  const [only, ...others] = new Set(read.filter((name) => !Object.hasOwn(properties, name)));
  return only === undefined || others.length > 0 ? null : only;
}

/** Adds a text parameter to a schema. A schema that cannot be read stays as it is. */
export function addParameter(schema: string, name: string): string {
  const [given, properties] = [jsonObjectIn(schema), propertiesOf(schema)];
  if (given === undefined || properties === null || Object.hasOwn(properties, name)) return schema;
  const start = given ?? { type: 'object', additionalProperties: false };
  return `${JSON.stringify({ ...start, properties: { ...properties, [name]: { type: 'string' } } }, null, 2)}\n`;
}

/** Returns the properties of a schema; null if the text is not a schema whose properties can be extended. */
function propertiesOf(schema: string): Values | null {
  const read = jsonObjectIn(schema);
  if (read === undefined) return null;
  return read?.properties === undefined ? {} : object(read.properties);
}
