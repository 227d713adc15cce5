import { type SQL, sql } from 'drizzle-orm';
import { type MemberCount, memberCounts, type StepState } from '#server/domain/rollout-rules/words.ts';

/** The count in which a step of each state appears. */
const shown: Readonly<Record<StepState, MemberCount>> = {
  parked: 'parked',
  recalled: 'queued',
  inFlight: 'inFlight',
  soaking: 'soaking',
  retrying: 'inFlight',
  reverting: 'inFlight',
  succeeded: 'succeeded',
  failed: 'failed',
  reverted: 'reverted',
  stuck: 'failed',
  overtaken: 'overtaken',
  skipped: 'skipped',
  gone: 'gone',
  unreached: 'unreached',
};

/** Returns the count in which a step of this state appears. */
export const shownState = (state: StepState): MemberCount => shown[state];

/** Returns the states of the steps that a count contains. A queued member without a step is counted too. */
export const statesOf = (name: MemberCount): StepState[] =>
  (Object.keys(shown) as StepState[]).filter((state) => shown[state] === name);

/** SQL for the position in `memberCounts` of the count in which a step of this state appears. */
export const countedAs = (state: SQL): SQL =>
  sql`case ${state} ${sql.join(
    Object.entries(shown).map(([of, count]) => sql`when ${of} then ${memberCounts.indexOf(count)}::int`),
    sql` `,
  )} end`;
