import { jsonPointer } from '#protocol/pointer.ts';

/** The types of options in config.yaml, and the JSON Schema of each. */
const types = {
  string: { schema: 'string', fits: (value: unknown) => typeof value === 'string' },
  int: { schema: 'integer', fits: (value: unknown) => Number.isSafeInteger(value) },
  float: { schema: 'number', fits: (value: unknown) => Number.isFinite(value) },
  boolean: { schema: 'boolean', fits: (value: unknown) => typeof value === 'boolean' },
} as const;

export interface OptionFault {
  path: string;
  code: 'field_empty' | 'field_not_text' | 'option_default_type' | 'option_type' | 'yaml_not_map';
  params?: Record<string, string | number>;
}

/**
 * Converts the options of a formula to the JSON Schema of its public settings (draft 2020-12), which accepts no other
 * settings. Every invalid option is a separate fault.
 */
export function readOptions(value: unknown): { schema: Record<string, unknown> } | { faults: OptionFault[] } {
  if (!isMap(value)) return { faults: [{ path: '', code: 'yaml_not_map' }] };
  const options = value.options ?? {};
  if (!isMap(options)) return { faults: [{ path: '/options', code: 'yaml_not_map' }] };
  const faults: OptionFault[] = [];
  const properties = Object.entries(options).map(([name, option]) => {
    const path = jsonPointer(['options', name]);
    if (name.trim() === '') faults.push({ path, code: 'field_empty' });
    return [name, propertyOf(option, path, faults)] as const;
  });
  if (faults.length > 0) return { faults };
  return {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      // Unlike assignment, this creates an own property for `__proto__`.
      properties: Object.fromEntries(properties),
    },
  };
}

function propertyOf(option: unknown, path: string, faults: OptionFault[]): Record<string, unknown> {
  if (!isMap(option)) {
    faults.push({ path, code: 'yaml_not_map' });
    return {};
  }
  const { type, description = null, default: given = null } = option;
  if (description !== null && typeof description !== 'string') {
    faults.push({ path: `${path}/description`, code: 'field_not_text' });
  }
  if (!isType(type)) {
    const params = { types: Object.keys(types).join(', ') };
    faults.push({ path: type === undefined ? path : `${path}/type`, code: 'option_type', params });
    return {};
  }
  if (given !== null && !types[type].fits(given)) {
    faults.push({ path: `${path}/default`, code: 'option_default_type', params: { type } });
  }
  return {
    type: types[type].schema,
    ...(typeof description === 'string' && description.trim() !== '' && { description: description.trim() }),
    ...(given !== null && { default: given }),
  };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isType = (type: unknown): type is keyof typeof types => typeof type === 'string' && Object.hasOwn(types, type);
