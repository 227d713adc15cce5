import { executionStates } from '#protocol/executions/states.ts';

/** The states by which people filter: those of the contract, with the reasons of `cancelled` as separate states. */
export const filterStates = [...executionStates, 'declined', 'not-run'] as const;
type FilterState = (typeof filterStates)[number];

/** The filter of the list of executions, as in its URL. */
export interface ExecutionsFilter {
  state?: FilterState;
  code?: number;
  by?: string;
  runbook?: string;
  /** The id of the rollout that queued them. */
  rollout?: string;
  q?: string;
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reads the filter from a URL's parameters. Invalid parts are ignored. */
export function filterOfAddress(query: Readonly<Record<string, string | string[] | undefined>>): ExecutionsFilter {
  const word = (name: string) => {
    const value = query[name];
    return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
  };
  const state = filterStates.find((each) => each === word('state'));
  const code = /^\d{1,10}$/.test(word('code') ?? '') ? Number(word('code')) : undefined;
  const [by, runbook, rollout, q] = [word('by'), word('runbook'), word('rollout'), word('q')];
  return {
    ...(state !== undefined && { state }),
    ...(code !== undefined && { code }),
    ...(by !== undefined && { by }),
    ...(runbook !== undefined && runbook.length <= 64 && { runbook }),
    ...(rollout !== undefined && uuid.test(rollout) && { rollout }),
    ...(q !== undefined && { q }),
  };
}

/** Returns the filter as the portal expects it. */
export function queryOfFilter({ state, ...rest }: ExecutionsFilter) {
  if (state === undefined) return rest;
  return state === 'cancelled' || state === 'declined' || state === 'not-run'
    ? { ...rest, state: 'cancelled' as const, cancellation: state }
    : { ...rest, state };
}

/** How the page shows executions: each one, or counted by plan and outcome. */
export const executionViews = ['list', 'plans'] as const;
export type ExecutionsView = (typeof executionViews)[number];

/** Returns the filter, and the view unless it is the list, as a query string without `?`. Equal filters yield equal strings. */
export function addressOfFilter(
  { state, code, by, runbook, rollout, q }: ExecutionsFilter,
  view: ExecutionsView = 'list',
): string {
  const query = new URLSearchParams();
  const parts = { view: view === 'list' ? undefined : view, state, code, by, runbook, rollout, q };
  for (const [name, value] of Object.entries(parts)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.toString();
}
