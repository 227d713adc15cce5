import { type SQL, sql } from 'drizzle-orm';
import { openStates, openSteps } from '#server/domain/rollout-rules/words.ts';

const listOf = (words: readonly string[]): SQL => sql.raw(`(${words.map((word) => `'${word}'`).join(', ')})`);

/** The states of open steps, as a list in SQL. */
export const openStepsSql = listOf(openSteps);
/** The states of rollouts that are started and have not ended. */
export const openStatesSql = listOf(openStates);
/** The states of rollouts that workers may have to plan, check or move. */
export const unendedSql = listOf(['planning', ...openStates]);
/** The states in which passes move a rollout. Checking is done elsewhere. */
export const movingSql = listOf(openStates.filter((state) => state !== 'checking'));
