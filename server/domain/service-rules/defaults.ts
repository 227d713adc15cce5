/**
 * Returns the settings of a service with the defaults of the formula's schema under them (EN-76). `schema` is the JSON
 * Schema of the public settings; only the properties at its top level have defaults.
 */
export function withDefaults(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const effective: Record<string, unknown> = Object.create(null);
  for (const [key, property] of Object.entries(propertiesOf(schema))) {
    if (isObject(property) && Object.hasOwn(property, 'default')) effective[key] = property.default;
  }
  for (const [key, value] of Object.entries(given)) effective[key] = value;
  return effective;
}

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
