import { jsonPointer, unescapeSegment } from '#protocol/index.ts';

type Schema = Record<string, unknown>;

/** Keywords whose subschemas apply to the same value as the schema itself, not to a part of the value. */
const single = ['not', 'if', 'then', 'else'];
const lists = ['allOf', 'anyOf', 'oneOf'];
const named = ['dependentSchemas'];

/**
 * Returns the path of the first reference that leads back to itself without entering a part of the value, such as
 * `{"$ref": "#"}`; empty if there is none. Validation of this reference would never end. Recursion through a property
 * or an item ends with the value.
 */
export function schemaLoops(root: Schema): string[] {
  const index = indexOf(root);
  const isDone = new Set<unknown>();
  for (const { schema: start } of index.schemas) {
    const way: { schema: Schema; edges: Edge[]; at: number }[] = [];
    const onWay = new Set<unknown>();
    const enter = (schema: Schema): void => {
      way.push({ schema, edges: edgesOf(schema, index), at: 0 });
      onWay.add(schema);
    };
    if (!isDone.has(start)) enter(start);
    for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
      const edge = here.edges[here.at];
      here.at += 1;
      if (edge === undefined) {
        isDone.add(here.schema);
        onWay.delete(here.schema);
        way.pop();
      } else if (onWay.has(edge.to)) {
        const loop = way.slice(way.findIndex(({ schema }) => schema === edge.to)).map(({ edges, at }) => edges[at - 1]);
        return loop.flatMap((step) => (step?.reference ? [step.reference] : [])).slice(0, 1);
      } else if (!isDone.has(edge.to)) enter(edge.to);
    }
  }
  return [];
}

interface Edge {
  to: Schema;
  /** Path of the reference; null for an inline schema. */
  reference: string | null;
}

interface Index {
  schemas: { schema: Schema; path: string; base: Schema }[];
  places: Map<unknown, { path: string; base: Schema }>;
  ids: Map<string, Schema>;
  anchors: Map<string, Schema[]>;
  root: Schema;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function indexOf(root: Schema): Index {
  const index: Index = { schemas: [], places: new Map(), ids: new Map(), anchors: new Map(), root };
  const open: { value: unknown; path: string; base: Schema }[] = [{ value: root, path: '', base: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (Array.isArray(value)) {
      for (const [n, item] of value.entries())
        open.push({ value: item, path: path + jsonPointer([n]), base: next.base });
    } else if (isSchema(value)) {
      const base = typeof value.$id === 'string' ? value : next.base;
      if (typeof value.$id === 'string') index.ids.set(value.$id.replace(/#$/, ''), value);
      for (const key of ['$anchor', '$dynamicAnchor']) {
        const anchor = value[key];
        if (typeof anchor === 'string') index.anchors.set(anchor, [...(index.anchors.get(anchor) ?? []), value]);
      }
      index.schemas.push({ schema: value, path, base });
      index.places.set(value, { path, base });
      for (const [key, part] of Object.entries(value))
        open.push({ value: part, path: path + jsonPointer([key]), base });
    }
  }
  return index;
}

function edgesOf(schema: Schema, index: Index): Edge[] {
  const held = [
    ...single.map((key) => schema[key]),
    ...lists.flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : [])),
    ...named.flatMap((key) => (isSchema(schema[key]) ? Object.values(schema[key]) : [])),
  ];
  const { path = '', base = index.root } = index.places.get(schema) ?? {};
  const references = ['$ref', '$dynamicRef'].flatMap((key) =>
    resolve(schema[key], base, index).map((to): Edge => ({ to, reference: `${path}/${key}` })),
  );
  return [...held.filter(isSchema).map((to): Edge => ({ to, reference: null })), ...references];
}

/** Returns the targets of a reference; empty if there are none, in which case the compiler reports the reference. */
function resolve(reference: unknown, base: Schema, { ids, anchors, root }: Index): Schema[] {
  if (typeof reference !== 'string') return [];
  const [id = '', fragment = ''] = reference.split('#');
  const start = id === '' ? base : (ids.get(id) ?? root);
  if (fragment === '') return [start];
  if (!fragment.startsWith('/')) return anchors.get(fragment) ?? [];
  let at: unknown = start;
  for (const segment of fragment.slice(1).split('/')) {
    const key = decodeSegment(segment);
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Schema)[key] : undefined;
  }
  return isSchema(at) ? [at] : [];
}

function decodeSegment(segment: string): string {
  try {
    return unescapeSegment(decodeURIComponent(segment));
  } catch {
    return segment;
  }
}
