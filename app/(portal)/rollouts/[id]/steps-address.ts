import { type StepState, stepStates } from '#server/domain/rollout-rules/words.ts';

/** The filter of the table of VMs, as in the URL of a rollout. */
export interface StepsFilter {
  ring?: number;
  state?: StepState;
  cause?: string;
}

/** Reads the filter from a URL's parameters. Invalid parts are ignored. */
export function stepsFilterOf(query: Readonly<Record<string, string | string[] | undefined>>): StepsFilter {
  const { ring, cause } = query;
  const state = stepStates.find((each) => each === query.state);
  return {
    ...(typeof ring === 'string' && /^1?\d$/.test(ring) && { ring: Number(ring) }),
    ...(state !== undefined && { state }),
    ...(typeof cause === 'string' && cause !== '' && cause.length <= 200 && { cause }),
  };
}

/** Returns the filter as a query string without `?`. */
export function addressOfSteps({ ring, state, cause }: StepsFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ring, state, cause })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString();
}

/** Returns the filter as the portal expects it. */
export const queryOfSteps = ({ state, ...rest }: StepsFilter) => ({
  ...rest,
  ...(state !== undefined && { state: [state] }),
});
