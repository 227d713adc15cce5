import {
  type RolloutKind,
  type RolloutState,
  rolloutKinds,
  rolloutStates,
} from '#server/domain/rollout-rules/words.ts';

/** The filter of the list of rollouts, as in its URL. */
export interface RolloutsFilter {
  state?: RolloutState;
  kind?: RolloutKind;
  handler?: string;
  q?: string;
  /** Only rollouts that do not continue without a person. */
  needing?: 'yes';
}

/** Reads the filter from a URL's parameters. Invalid parts are ignored. */
export function filterOfAddress(query: Readonly<Record<string, string | string[] | undefined>>): RolloutsFilter {
  const word = (name: string) => {
    const value = query[name];
    return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
  };
  const state = rolloutStates.find((each) => each === word('state'));
  const kind = rolloutKinds.find((each) => each === word('kind'));
  const [handler, q] = [word('handler'), word('q')];
  return {
    ...(state !== undefined && { state }),
    ...(kind !== undefined && { kind }),
    ...(handler !== undefined && { handler }),
    ...(q !== undefined && { q }),
    ...(word('needing') === 'yes' && { needing: 'yes' as const }),
  };
}

/** A handler id has a publisher and a type. While someone types a part of it, the list is not filtered by it. */
const handlerPattern = /^[A-Za-z0-9][\w.-]*\.[\w-]+$/;

/** Returns the filter as the portal expects it, with rollouts that have not ended first. */
export function queryOfFilter({ state, kind, handler, q, needing }: RolloutsFilter) {
  return {
    ...(state !== undefined && { state: [state] }),
    ...(kind !== undefined && { kind: [kind] }),
    ...(handler !== undefined && handlerPattern.test(handler) && { handler }),
    ...(q !== undefined && { q }),
    ...(needing !== undefined && { needing: true }),
    sort: 'open' as const,
  };
}

/** Returns the filter as a query string without `?`. Equal filters yield equal strings. */
export function addressOfFilter({ state, kind, handler, q, needing }: RolloutsFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ state, kind, handler, q, needing })) {
    if (value !== undefined && value !== '') query.set(name, value);
  }
  return query.toString();
}
