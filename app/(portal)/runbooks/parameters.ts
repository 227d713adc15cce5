import { planForm } from '#app/_ui/schema-form/bounded.ts';
import type { ShownRunbookVersion } from './runbook-data.ts';

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;

/** A parameter as a runbook's schema describes it. */
export interface ShownParameter {
  name: string;
  title: string | null;
  type: (typeof types)[number] | 'any';
  /** Number of values to choose from; 0 if any value of the type can be entered. */
  choices: number;
  /** The value with which the form starts, as JSON; null if there is none. */
  preset: string | null;
  isRequired: boolean;
  isSecret: boolean;
}

type Values = Record<string, unknown>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the parameters that the schema of a version defines, in its order. */
export function parametersOf(version: ShownRunbookVersion): ShownParameter[] {
  const { properties = {}, required = [] } = planForm(version.parameters)?.schema ?? {};
  const presets = presetsOf(version);
  return Object.entries(properties).map(([name, part]) => {
    const schema: Values = isObject(part) ? part : {};
    const choices = schema['x-choices'];
    return {
      name,
      title: typeof schema.title === 'string' && schema.title !== name ? schema.title : null,
      type: types.find((type) => type === schema.type) ?? 'any',
      choices: Array.isArray(choices) ? choices.length : 0,
      preset: Object.hasOwn(presets, name) ? JSON.stringify(presets[name]) : null,
      isRequired: required.includes(name),
      isSecret: version.secretParameters.includes(name),
    };
  });
}

/**
 * Returns the initial values of a version's form: the plan's own parameters, and the schema's defaults for parameters
 * that the plan does not set. Omits secret parameters. Empty for a version that accepts no parameters.
 */
export function presetsOf({
  parameters,
  plan,
  secretParameters,
}: Pick<ShownRunbookVersion, 'parameters' | 'plan' | 'secretParameters'>): Values {
  if (parameters === null) return {};
  const properties = isObject(parameters.properties) ? parameters.properties : {};
  const defaults = Object.entries(properties).flatMap(([name, part]) =>
    isObject(part) && part.default !== undefined ? [[name, part.default] as const] : [],
  );
  const parsed: unknown = JSON.parse(plan ?? '{}');
  const own = isObject(parsed) && isObject(parsed.Parameters) ? parsed.Parameters : {};
  return Object.fromEntries([...defaults, ...Object.entries(own)].filter(([name]) => !secretParameters.includes(name)));
}
