import type { RJSFSchema } from '@rjsf/utils';
import { planForm } from '#app/_ui/schema-form/bounded.ts';

type Values = Record<string, unknown>;

/** A secret parameter in the form. */
export interface SecretPart {
  name: string;
  title: string;
  isRequired: boolean;
  schema: RJSFSchema;
}

const object = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

/**
 * Splits the schema of parameters: the part without secret parameters, which a form can show, and the secret parameters,
 * each with its own field. `hasPlain`: whether there can be parameters that are not secret.
 */
export function partsOfSchema(
  schema: Values,
  secretParameters: readonly string[],
): { plain: Values; hasPlain: boolean; secrets: SecretPart[] } {
  const isSecret = (name: unknown) => secretParameters.some((secret) => secret === name);
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.fromEntries(Object.entries(object(schema.properties)).filter(([name]) => !isSecret(name)));
  const shown = planForm(schema)?.schema.properties ?? {};
  return {
    plain: {
      ...schema,
      ...(schema.properties !== undefined && { properties }),
      ...(schema.required !== undefined && { required: required.filter((name) => !isSecret(name)) }),
    },
    hasPlain: secretParameters.length === 0 || Object.keys(properties).length > 0 || allowsOthers(schema),
    secrets: secretParameters.map((name) => {
      const part = shown[name];
      const own = typeof part === 'object' ? part : {};
      return { name, title: own.title ?? name, isRequired: required.includes(name), schema: own };
    }),
  };
}

const allowsOthers = ({ additionalProperties, patternProperties }: Values): boolean =>
  additionalProperties === true ||
  (typeof additionalProperties === 'object' && additionalProperties !== null) ||
  Object.keys(object(patternProperties)).length > 0;

/** Returns the names of the parameters that a schema defines, split into required and optional ones. */
export function namesOf(schema: Values): { required: string[]; optional: string[] } {
  const known = Object.keys(object(schema.properties));
  const wanted = (Array.isArray(schema.required) ? schema.required : []).filter((name) => typeof name === 'string');
  return { required: [...new Set(wanted)], optional: known.filter((name) => !wanted.includes(name)) };
}
