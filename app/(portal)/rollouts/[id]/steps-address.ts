import type { StepState } from '#server/domain/rollout-rules/words.ts';

/** States by which the table of VMs is filtered, as the counts have them, and the states of the steps they count. */
const statesOf = {
  parked: ['parked'],
  recalled: ['recalled'],
  inFlight: ['inFlight', 'retrying', 'reverting'],
  soaking: ['soaking'],
  succeeded: ['succeeded'],
  failed: ['failed', 'stuck'],
  reverted: ['reverted'],
  overtaken: ['overtaken'],
  skipped: ['skipped'],
  gone: ['gone'],
  unreached: ['unreached'],
} as const satisfies Record<string, readonly StepState[]>;

export type StepsState = keyof typeof statesOf;
export const stepsStates = Object.keys(statesOf) as StepsState[];

/** The filter of the table of VMs, as in the URL of a rollout. */
export interface StepsFilter {
  ring?: number;
  state?: StepsState;
  /** The key of a group of members that failed, or are parked, for the same reason. */
  group?: string;
}

/** Reads the filter from a URL's parameters. Invalid parts are ignored. */
export function stepsFilterOf(query: Readonly<Record<string, string | string[] | undefined>>): StepsFilter {
  const { ring, group } = query;
  const state = stepsStates.find((each) => each === query.state);
  return {
    ...(typeof ring === 'string' && /^1?\d$/.test(ring) && { ring: Number(ring) }),
    ...(state !== undefined && { state }),
    ...(typeof group === 'string' && /^[0-9a-f]{32}$/.test(group) && { group }),
  };
}

/** Returns the filter as a query string without `?`. */
export function addressOfSteps({ ring, state, group }: StepsFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ring, state, group })) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.toString();
}

/** Returns the filter as the portal expects it. */
export const queryOfSteps = ({ state, ...rest }: StepsFilter) => ({
  ...rest,
  ...(state !== undefined && { state: [...statesOf[state]] }),
});
