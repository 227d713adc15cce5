import type { SettingsSchema } from '#db/schema/index.ts';
import { jsonPointer, pointerPath } from '#protocol/pointer.ts';

/** The settings that a schema describes, as JSON pointers such as `/publicSettings/proxy/port`. */
export interface SchemaOutline {
  settings: Set<string>;
  required: Set<string>;
  /** Titles and descriptions by setting; settings with neither are omitted. */
  words: Map<string, { title?: string; description?: string }>;
}

const halves = ['publicSettings', 'protectedSettings'] as const;
/** Limits the work for recursive and very large schemas. */
const maxDepth = 12;
const maxSettings = 5_000;

type Schema = Record<string, unknown>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Lists the settings of both halves, with `*` for the items of a list. Follows `allOf` and references within the
 * schema, but no alternatives such as `oneOf`, because the settings of an alternative may not apply.
 */
export function outlineSchema(schema: SettingsSchema | null): SchemaOutline {
  const outline: SchemaOutline = { settings: new Set(), required: new Set(), words: new Map() };
  for (const half of halves) {
    const root = schema?.[half];
    if (root === undefined) continue;
    outline.settings.add(jsonPointer([half]));
    if (isSchema(root)) visit({ schema: root, root, path: [half], depth: 0 }, outline);
  }
  return outline;
}

interface Place {
  schema: Schema;
  root: Schema;
  path: readonly string[];
  depth: number;
}

function visit({ schema, root, path, depth }: Place, outline: SchemaOutline): void {
  if (depth > maxDepth || outline.settings.size > maxSettings) return;
  const enter = (next: unknown, to: readonly string[]) => {
    if (isSchema(next)) visit({ schema: next, root, path: to, depth: depth + 1 }, outline);
  };
  const { title, description } = schema;
  const own = {
    ...(typeof title === 'string' && title.trim() !== '' && { title }),
    ...(typeof description === 'string' && description.trim() !== '' && { description }),
  };
  // The title and description next to a reference are visited first and take precedence.
  const words = { ...own, ...outline.words.get(jsonPointer(path)) };
  if (Object.keys(words).length > 0) outline.words.set(jsonPointer(path), words);
  if (typeof schema.$ref === 'string') enter(referenced(root, schema.$ref), path);
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) enter(part, path);
  if (Array.isArray(schema.required)) {
    for (const name of schema.required) outline.required.add(jsonPointer([...path, String(name)]));
  }
  if (isSchema(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      const to = [...path, name];
      outline.settings.add(jsonPointer(to));
      enter(property, to);
    }
  }
  enter(schema.items, [...path, '*']);
}

/** Resolves a reference within the schema, such as `#/$defs/port`; undefined for any other reference. */
function referenced(root: Schema, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const name of pointerPath(decodeURIComponent(reference.slice(1)))) {
    if (!isSchema(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}
