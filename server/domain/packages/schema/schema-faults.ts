import type { AnySchema } from 'ajv';
import { jsonPointer } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';
import { newAjv } from './ajv.ts';
import { schemaLoops } from './schema-loops.ts';

const draft = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords whose values are data, and keywords whose values are objects of named schemas. */
const data = new Set(['const', 'default', 'enum', 'examples']);
const byName = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);
const references = new Set(['$ref', '$dynamicRef']);

/**
 * Returns the faults of a publisher's schema, by path. Looks first for another draft, unsupported keywords, external
 * references and invalid patterns. Only if there are none, looks for circular references and, if the schema has none of
 * those, for an invalid structure.
 */
export function schemaFaults(schema: unknown): Fault[] {
  if (typeof schema === 'boolean') return [];
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return [{ path: '', code: 'schema_form' }];
  const found = new SchemaWalk().faults(schema as Record<string, unknown>);
  if (found.length > 0) return found;
  const loops = schemaLoops(schema as Record<string, unknown>);
  if (loops.length > 0) return loops.map((path) => ({ path, code: 'schema_loop' }));

  const ajv = newAjv();
  if (ajv.validateSchema(schema as AnySchema) !== true) {
    // The meta-schema reports one mistake along several paths. The deepest path leads to the mistake.
    const paths = [...new Set((ajv.errors ?? []).map((error) => error.instancePath))];
    const deepest = paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));
    return deepest.map((path) => ({ path, code: 'schema_keyword' }));
  }
  try {
    ajv.compile(schema as AnySchema);
    return [];
  } catch {
    return [{ path: '', code: 'schema_compile' }];
  }
}

/**
 * Whether the pattern is a valid ECMAScript pattern in Unicode mode. Values that are not strings pass, because the
 * meta-schema rejects them.
 */
function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return true;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds faults that the meta-schema permits: another draft, unsupported keywords, invalid patterns, external
 * references.
 */
class SchemaWalk {
  private readonly found: Fault[] = [];
  private readonly ids = new Set<string>();

  faults(schema: Record<string, unknown>): Fault[] {
    if (schema.$schema !== undefined && (schema.$schema as string).replace?.(/#$/, '') !== draft) {
      this.found.push({ path: '/$schema', code: 'schema_draft' });
    }
    this.each(schema, '', (key, value) => {
      if (key === '$id' && typeof value === 'string') this.ids.add(value.replace(/#$/, ''));
    });
    this.each(schema, '', (key, value, path) => {
      // Validation with an asynchronous schema returns a promise, which would count as valid.
      if (key === '$async') this.found.push({ path, code: 'schema_keyword' });
      const patterns = key === 'pattern' ? [value] : key === 'patternProperties' ? Object.keys(value ?? {}) : [];
      if (!patterns.every(isPattern)) this.found.push({ path, code: 'schema_pattern' });
      if (references.has(key) && typeof value === 'string' && !this.inside(value)) {
        this.found.push({ path, code: 'schema_reference' });
      }
    });
    return this.found;
  }

  private inside(reference: string): boolean {
    return reference.startsWith('#') || this.ids.has(reference.split('#')[0] ?? '');
  }

  private each(node: unknown, path: string, visit: (key: string, value: unknown, path: string) => void): void {
    if (Array.isArray(node)) {
      node.forEach((item, index) => {
        this.each(item, path + jsonPointer([index]), visit);
      });
    } else if (typeof node === 'object' && node !== null) {
      for (const [key, value] of Object.entries(node)) {
        const at = path + jsonPointer([key]);
        visit(key, value, at);
        if (data.has(key)) continue;
        if (byName.has(key) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
          for (const [name, part] of Object.entries(value)) this.each(part, at + jsonPointer([name]), visit);
        } else this.each(value, at, visit);
      }
    }
  }
}
