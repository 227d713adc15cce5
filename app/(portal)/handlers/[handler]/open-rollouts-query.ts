import { openStates } from '#server/domain/rollout-rules/words.ts';

/** Returns the query for the open rollouts of a handler. The page and the browser use the same query. */
export const openRolloutsOf = (handler: string) => ({ handler, state: [...openStates], limit: 20 });
