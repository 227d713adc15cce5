import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import { pointerPath } from '#protocol/pointer.ts';

/**
 * A publisher's schema, reduced to what a form can show. Settings that can only be edited as JSON are rendered by
 * `JsonOnlyField`.
 */
export interface FormPlan {
  schema: RJSFSchema;
  uiSchema: UiSchema;
}

/** Limits on the form, because schemas are untrusted and may contain anything. */
const most = { depth: 5, fields: 300, choices: 200, hops: 8, words: 500 };

/** Names with a special meaning in JavaScript or the form library. Such settings are shown only in the JSON. */
const unfitNames = new Set(['__proto__', 'constructor', 'prototype', '__additional_property']);

type Node = Readonly<Record<string, unknown>>;

/**
 * Returns the part of a JSON Schema that a form can show. The result has no references, patterns, conditions,
 * alternatives or bounds, so nothing in it can keep a browser busy. The portal validates the values in a worker.
 * Returns null if there is nothing to show. `wordsAt` returns the translated title and description of the setting at a
 * path, in which `*` means the items of a list.
 */
export function planForm(schema: unknown, wordsAt: WordsAt = () => undefined): FormPlan | null {
  const walk = new Walk(schema, wordsAt);
  const part = walk.part(schema, []);
  return part.schema.type === 'object' && part.uiSchema['ui:field'] === undefined ? part : null;
}

/** Returns the translated title and description of the setting at this path; undefined if there are none. */
export type WordsAt = (path: readonly string[]) => { title?: string; description?: string } | undefined;

class Walk {
  private readonly root: unknown;
  private readonly wordsAt: WordsAt;
  private left = most.fields;
  /** References that are being followed. If a schema contains itself, expanding stops at the second occurrence. */
  private readonly open = new Set<string>();

  constructor(root: unknown, wordsAt: WordsAt) {
    this.root = root;
    this.wordsAt = wordsAt;
  }

  part(given: unknown, path: readonly string[]): FormPlan {
    const reference = record(given)?.$ref;
    if (typeof reference !== 'string') return this.inside(given, path);
    const isTurn = reference === '#' || this.open.has(reference);
    if (isTurn) return jsonOnly(this.resolve(given));
    this.open.add(reference);
    const part = this.inside(given, path);
    this.open.delete(reference);
    return part;
  }

  private inside(given: unknown, path: readonly string[]): FormPlan {
    const resolved = this.resolve(given);
    const node = resolved && { ...resolved, ...this.wordsAt(path) };
    if (node === null || this.left <= 0 || path.length > most.depth) return jsonOnly(node);
    this.left -= 1;
    const choices = choicesOf(node);
    if (choices !== null) return { schema: { ...wordsOf(node), ...choices }, uiSchema: {} };
    switch (typeOf(node)) {
      case 'object':
        return this.object(node, path);
      case 'array':
        return this.array(node, path);
      case 'string':
      case 'number':
      case 'integer':
      case 'boolean':
        return { schema: { ...wordsOf(node), type: typeOf(node) } as RJSFSchema, uiSchema: {} };
      default:
        return jsonOnly(node);
    }
  }

  private object(node: Node, path: readonly string[]): FormPlan {
    const properties = record(node.properties);
    const names = properties === null ? [] : Object.keys(properties).filter((name) => !unfitNames.has(name));
    if (properties === null || names.length === 0) return jsonOnly(node);
    const shown = names
      .slice(0, this.left)
      .map((name) => [name, this.part(properties[name], [...path, name])] as const);
    const required = Array.isArray(node.required) ? node.required.filter((name) => names.includes(name)) : [];
    return {
      schema: {
        ...wordsOf(node),
        type: 'object',
        required,
        properties: Object.fromEntries(shown.map(([name, part]) => [name, part.schema])),
      },
      uiSchema: Object.fromEntries(shown.map(([name, part]) => [name, part.uiSchema])),
    };
  }

  private array(node: Node, path: readonly string[]): FormPlan {
    if (node.prefixItems !== undefined || record(node.items) === null) return jsonOnly(node);
    const item = this.part(node.items, [...path, '*']);
    if (item.uiSchema['ui:field'] !== undefined) return jsonOnly(node);
    return { schema: { ...wordsOf(node), type: 'array', items: item.schema }, uiSchema: { items: item.uiSchema } };
  }

  /** Follows references within the schema. Keywords next to a reference take precedence. */
  private resolve(given: unknown): Node | null {
    let node = record(given);
    let beside: Node = {};
    for (let hop = 0; node !== null && typeof node.$ref === 'string'; hop += 1) {
      if (hop >= most.hops) return null;
      const { $ref, ...rest } = node;
      beside = { ...rest, ...beside };
      node = record(this.at(String($ref)));
    }
    return node && { ...node, ...beside };
  }

  private at(reference: string): unknown {
    if (reference === '#') return this.root;
    if (!reference.startsWith('#/')) return undefined;
    let node: unknown = this.root;
    for (const name of pointerPath(reference.slice(1))) {
      const holder = Array.isArray(node) ? (node as unknown as Node) : record(node);
      node = holder !== null && Object.hasOwn(holder, name) ? holder[name] : undefined;
    }
    return node;
  }
}

function jsonOnly(node: Node | null): FormPlan {
  return { schema: { ...(node === null ? {} : wordsOf(node)), 'x-json': true }, uiSchema: { 'ui:field': 'JsonOnly' } };
}

/**
 * Returns the title, the description and a scalar default. The prefix `x-` keeps the library from applying the default.
 */
function wordsOf(node: Node): RJSFSchema {
  return {
    ...(typeof node.title === 'string' && node.title !== '' && { title: node.title.slice(0, most.words) }),
    ...(typeof node.description === 'string' && { description: node.description.slice(0, most.words) }),
    ...(isScalar(node.default) && { 'x-default': node.default }),
  };
}

/**
 * Returns the choices of `enum`, `const`, or alternatives that are constants; null if there are none, or if a form
 * cannot show them.
 */
function choicesOf(node: Node): RJSFSchema | null {
  if (Array.isArray(node.enum)) return choices(node.enum.map((value) => ({ value, title: undefined })));
  if (Object.hasOwn(node, 'const')) return choices([{ value: node.const, title: undefined }]);
  const alternatives = node.oneOf ?? node.anyOf;
  if (!Array.isArray(alternatives)) return null;
  const constants = alternatives.map(record);
  if (!constants.every((part) => part !== null && Object.hasOwn(part, 'const'))) return null;
  return choices(
    constants.map((part) => ({ value: part?.const, title: typeof part?.title === 'string' ? part.title : undefined })),
  );
}

function choices(found: readonly { value: unknown; title: string | undefined }[]): RJSFSchema | null {
  if (found.length === 0 || found.length > most.choices || !found.every(({ value }) => isScalar(value))) return null;
  // The library selects the field by this type. The values keep their own types.
  return {
    type: 'string',
    'x-choices': found.map(({ value, title }) => ({ value, label: (title ?? String(value)).slice(0, most.words) })),
  };
}

function typeOf(node: Node): string | undefined {
  const types = [node.type].flat().filter((type) => type !== 'null');
  if (types.length === 1 && typeof types[0] === 'string') return types[0];
  return node.type === undefined && record(node.properties) !== null ? 'object' : undefined;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function record(value: unknown): Node | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : null;
}
