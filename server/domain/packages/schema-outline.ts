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
/**
 * Limits for recursive and very large schemas. A schema of a few kilobytes can refer to its parts so often that each
 * level multiplies the work, or repeat a long name or text at every level. `maxSteps` counts visited schemas, settings
 * and required settings; `maxWords` counts the characters of all titles and descriptions.
 */
const maxDepth = 12;
const maxSteps = 20_000;
const maxPointerLength = 1_000;
const maxWords = 256 * 1_024;

type Schema = Record<string, unknown>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Lists the settings of both halves, with `*` for the items of a list. Follows `allOf` and references within the
 * schema, but no alternatives such as `oneOf`, because the settings of an alternative may not apply.
 */
export function outlineSchema(schema: SettingsSchema | null): SchemaOutline {
  const outline: SchemaOutline = { settings: new Set(), required: new Set(), words: new Map() };
  const left: Left = { steps: maxSteps, words: maxWords };
  for (const half of halves) {
    const root = schema?.[half];
    if (root === undefined) continue;
    outline.settings.add(jsonPointer([half]));
    if (isSchema(root)) visit({ schema: root, root, path: [half], depth: 0 }, outline, left);
  }
  return outline;
}

interface Place {
  schema: Schema;
  root: Schema;
  path: readonly string[];
  depth: number;
}

/** What is left of `maxSteps` and `maxWords`. */
interface Left {
  steps: number;
  words: number;
}

function visit({ schema, root, path, depth }: Place, outline: SchemaOutline, left: Left): void {
  if (depth > maxDepth || left.steps <= 0) return;
  left.steps -= 1;
  const pointer = jsonPointer(path);
  if (pointer.length > maxPointerLength) return;
  const enter = (next: unknown, to: readonly string[]) => {
    if (isSchema(next)) visit({ schema: next, root, path: to, depth: depth + 1 }, outline, left);
  };
  /** Adds a setting unless the outline is full or the setting's pointer is too long. Returns whether it was added. */
  const add = (settings: Set<string>, name: string): boolean => {
    if (left.steps <= 0) return false;
    left.steps -= 1;
    const setting = jsonPointer([...path, name]);
    if (setting.length > maxPointerLength) return false;
    settings.add(setting);
    return true;
  };
  addWords(schema, pointer, outline, left);
  if (typeof schema.$ref === 'string') enter(referenced(root, schema.$ref), path);
  if (Array.isArray(schema.allOf)) for (const part of schema.allOf) enter(part, path);
  if (Array.isArray(schema.required)) for (const name of schema.required) add(outline.required, String(name));
  if (isSchema(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (add(outline.settings, name)) enter(property, [...path, name]);
    }
  }
  enter(schema.items, [...path, '*']);
}

/**
 * Adds the title and the description of a setting, unless the setting already has them. Texts next to a reference are
 * visited first, so they take precedence over those of the referenced schema.
 */
function addWords({ title, description }: Schema, pointer: string, { words }: SchemaOutline, left: Left): void {
  const before = words.get(pointer) ?? {};
  const own = Object.entries({ title, description }).filter(
    (entry): entry is [keyof typeof before, string] =>
      typeof entry[1] === 'string' && entry[1].trim() !== '' && !Object.hasOwn(before, entry[0]),
  );
  left.words -= own.reduce((length, [, text]) => length + text.length, 0);
  if (own.length > 0 && left.words >= 0) words.set(pointer, { ...before, ...Object.fromEntries(own) });
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
