type Json = { readonly [key: string]: unknown };

interface Operation {
  parameters?: readonly { name: string; in: string; schema: Json }[];
  requestBody?: { content: Readonly<Record<string, { schema?: Json }>> };
  responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema?: Json }>> }>>;
}

/** Returns a line for each operation, parameter, status, field and enumerated value of an OpenAPI document. */
export function outlineOf(document: Json): string[] {
  const lines = new Set<string>();
  const { schemas } = document.components as { schemas: Readonly<Record<string, Json>> };
  for (const [name, schema] of Object.entries(schemas)) addFields(schema, name, lines);
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const call = `${method.toUpperCase()} ${path}`;
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        lines.add(`${call} ${place} ${name}`);
        addFields(schema, `${call} ${place} ${name}`, lines);
      }
      for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
        lines.add(`${call} takes ${type}`);
        addFields(schema, `${call} takes `, lines);
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        lines.add(`${call} ${status}`);
        for (const [type, { schema }] of Object.entries(content)) {
          if (type === 'application/problem+json') continue;
          lines.add(`${call} ${status} ${type}`);
          addFields(schema, `${call} ${status} `, lines);
        }
      }
    }
  }
  return [...lines].sort();
}

function addFields(schema: Json | undefined, at: string, lines: Set<string>): void {
  if (schema === undefined) return;
  if (typeof schema.$ref === 'string') lines.add(`${at} is ${schema.$ref.split('/').at(-1)}`);
  for (const value of (schema.enum as unknown[] | undefined) ?? []) lines.add(`${at} = ${value}`);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    for (const branch of (schema[keyword] as Json[] | undefined) ?? []) addFields(branch, at, lines);
  }
  for (const [name, property] of Object.entries((schema.properties as Json | undefined) ?? {})) {
    lines.add(`${at}.${name}`);
    addFields(property as Json, `${at}.${name}`, lines);
  }
  if (typeof schema.items === 'object') addFields(schema.items as Json, `${at}[]`, lines);
  if (typeof schema.additionalProperties === 'object') addFields(schema.additionalProperties as Json, `${at}{}`, lines);
}
