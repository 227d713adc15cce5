/** A setting that a formula's schema describes. */
export interface FormulaOption {
  name: string;
  /** The type in JSON Schema; null if the schema does not name one type. */
  type: string | null;
  /** The default as JSON; null if there is none. */
  initial: string | null;
  description: string;
}

/** Returns the settings at the top of a schema's public half. */
export function optionsOf(schema: { publicSettings?: unknown } | null): FormulaOption[] {
  return Object.entries(fieldsOf(fieldsOf(schema?.publicSettings).properties)).map(([name, property]) => {
    const { type, default: initial, description } = fieldsOf(property);
    return {
      name,
      type: typeof type === 'string' ? type : null,
      initial: initial === undefined ? null : JSON.stringify(initial),
      description: typeof description === 'string' ? description : '',
    };
  });
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
