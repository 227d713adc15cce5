import { jsonPointer, unescapeSegment } from '#protocol/index.ts';
import type { Fault } from '#server/domain/error.ts';

/** A JSON Schema of parameters. */
export type ParameterSchema = Readonly<Record<string, unknown>>;

/** Values by the names of parameters. */
export type ParameterValues = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the names of the secret parameters: the properties whose schemas contain `writeOnly: true` anywhere. Such a
 * property is secret as a whole.
 */
export function secretNames(schema: ParameterSchema | null): Set<string> {
  const properties = isObject(schema?.properties) ? schema.properties : {};
  return new Set(
    Object.entries(properties)
      .filter(([, part]) => schema !== null && isSecret(part, schema, new Set()))
      .map(([name]) => name),
  );
}

function isSecret(part: unknown, root: ParameterSchema, seen: Set<unknown>): boolean {
  if (Array.isArray(part)) return part.some((item) => isSecret(item, root, seen));
  if (!isObject(part) || seen.has(part)) return false;
  seen.add(part);
  if (part.writeOnly === true) return true;
  return Object.entries(part).some(([key, value]) => {
    if (key === '$ref' || key === '$dynamicRef') return isSecret(resolve(value, root), root, seen);
    return isSecret(value, root, seen);
  });
}

/**
 * Returns the schema that a reference leads to. A reference that is not a JSON pointer into the schema counts as a
 * reference to the whole schema, so that no secret behind it is missed.
 */
function resolve(reference: unknown, root: ParameterSchema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return root;
  let at: unknown = root;
  for (const segment of reference.slice(2).split('/')) {
    const name = unescapeSegment(decodeURIComponent(segment));
    at = isObject(at) || Array.isArray(at) ? Reflect.get(at, name) : undefined;
  }
  return at ?? root;
}

/**
 * Returns the places outside `properties` where the schema marks values as secret. From such a place, the portal could
 * not tell which parameters to encrypt.
 */
export function misplacedSecrets(schema: ParameterSchema): Fault[] {
  return Object.entries(schema)
    .filter(([key]) => !['properties', '$defs', 'definitions'].includes(key))
    .filter(([key, part]) => isSecret({ [key]: part }, schema, new Set()))
    .map(([key]) => ({ path: jsonPointer([key]), code: 'secret_place' }));
}

/**
 * Returns the faults of values that are in the wrong place: secret parameters must be in `secretParameters`, and no
 * parameter may be in both.
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
