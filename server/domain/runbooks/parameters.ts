import { jsonPointer, unescapeSegment } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';

/** A JSON Schema of parameters. */
export type ParameterSchema = Readonly<Record<string, unknown>>;

/** Parameter values by name. */
export type ParameterValues = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the names of the secret parameters: the properties whose schemas contain `writeOnly: true` anywhere. Each of
 * these properties is secret as a whole.
 */
export function secretNames(schema: ParameterSchema | null): Set<string> {
  if (schema === null || !isObject(schema.properties)) return new Set();
  const secrets = secretParts(schema);
  return new Set(
    Object.entries(schema.properties)
      .filter(([, part]) => secrets.has(part))
      .map(([name]) => name),
  );
}

/**
 * Returns the objects and arrays of a schema that mark a value as secret: those with `writeOnly: true`, and those that
 * contain or refer to one of them. Visits each part once, because a small schema can refer to itself in many places.
 */
function secretParts(root: ParameterSchema): Set<unknown> {
  const secrets = new Set<unknown>();
  /** For each part, the parts that contain it or refer to it. */
  const above = new Map<unknown, unknown[]>([[root, []]]);
  const waiting: unknown[] = [root];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (isObject(part) && part.writeOnly === true) secrets.add(part);
    for (const below of partsBelow(part, root)) {
      const known = above.get(below);
      if (known === undefined) {
        above.set(below, [part]);
        waiting.push(below);
      } else known.push(part);
    }
  }
  // The set grows while it is iterated, until it contains every part above a secret one.
  for (const secret of secrets) for (const part of above.get(secret) ?? []) secrets.add(part);
  return secrets;
}

/** Returns the objects and arrays that a part of a schema contains or refers to. */
function partsBelow(part: unknown, root: ParameterSchema): unknown[] {
  const below = isObject(part)
    ? Object.entries(part).map(([key, value]) =>
        key === '$ref' || key === '$dynamicRef' ? resolve(value, root) : value,
      )
    : (part as unknown[]);
  return below.filter((each) => typeof each === 'object' && each !== null);
}

/**
 * Returns the schema that a reference leads to. A reference that is not a JSON pointer into the schema counts as a
 * reference to the whole schema, so that no secret behind it is missed.
 */
function resolve(reference: unknown, root: ParameterSchema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/') || !isDecodable(reference)) return root;
  let at: unknown = root;
  for (const segment of reference.slice(2).split('/')) {
    const name = unescapeSegment(decodeURIComponent(segment));
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined;
  }
  return at ?? root;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the keywords of the schema, except `properties` and definitions, that mark values as secret. Such a mark does
 * not tell the portal which parameters to encrypt.
 */
export function misplacedSecrets(schema: ParameterSchema): Fault[] {
  const secrets = secretParts(schema);
  const isSecret = (key: string, part: unknown): boolean =>
    key === 'writeOnly' ? part === true : partsBelow({ [key]: part }, schema).some((below) => secrets.has(below));
  return Object.entries(schema)
    .filter(([key]) => !['properties', '$defs', 'definitions'].includes(key))
    .filter(([key, part]) => isSecret(key, part))
    .map(([key]) => ({ path: jsonPointer([key]), code: 'secret_place' }));
}

/**
 * Returns the faults of values that are in the wrong place: secret parameters must be in `secretParameters`, and no
 * parameter may be in both. Without a schema, every value is a fault.
 */
export function misplacedValues(
  schema: ParameterSchema | null,
  { parameters, secretParameters }: { parameters: ParameterValues; secretParameters: ParameterValues },
): Fault[] {
  if (schema === null) {
    const at = (part: string, values: ParameterValues): Fault[] =>
      Object.keys(values).map((name) => ({ path: jsonPointer([part, name]), code: 'parameters_not_accepted' }));
    return [...at('parameters', parameters), ...at('secretParameters', secretParameters)];
  }
  const secrets = secretNames(schema);
  return Object.keys(parameters).flatMap((name): Fault[] => {
    if (Object.hasOwn(secretParameters, name)) {
      return [{ path: jsonPointer(['secretParameters', name]), code: 'parameter_twice' }];
    }
    return secrets.has(name) ? [{ path: jsonPointer(['parameters', name]), code: 'parameter_secret' }] : [];
  });
}
