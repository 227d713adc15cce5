/** The plan with which the editor starts: a Body that returns a value. */
export const startingPlan = `${JSON.stringify(
  {
    FormatVersion: '2.0.0',
    Name: '',
    Version: '1.0.0',
    Body: 'return args.who',
    Parameters: { who: 'Annex' },
    Scripts: {},
    Files: {},
  },
  null,
  2,
)}\n`;

/**
 * Returns a plan without its ID and stamp, so that it is queued as a new execution. A plan that has neither stays
 * exactly as it is.
 */
export function withoutIdentity(text: string): string {
  const plan: unknown = parsed(text);
  if (typeof plan !== 'object' || plan === null || Array.isArray(plan)) return text;
  if (!('ID' in plan) && !('Stamp' in plan)) return text;
  const { ID: _, Stamp: __, ...rest } = plan as Record<string, unknown>;
  return JSON.stringify(rest, null, 2);
}

/** Returns a plan formatted on several lines, so that people can read it. */
export function readable(text: string): string {
  const value = text.includes('\n') ? undefined : parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
