/**
 * Returns the settings of a service with the defaults of the formula's schema under them (EN-76). `schema` is the JSON
 * Schema of the public settings; only the properties at its top level have defaults.
 */
export function withDefaults(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const defaults = Object.entries(propertiesOf(schema)).flatMap(([key, property]) =>
    isObject(property) && Object.hasOwn(property, 'default') ? [[key, property.default] as const] : [],
  );
  // A key such as `__proto__` is an entry like every other.
  return Object.fromEntries([...defaults, ...Object.entries(given)]);
}

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
