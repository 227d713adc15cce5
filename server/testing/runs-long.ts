/**
 * Whether the long tests run too, as with `npm run test:all`. A long test takes a second or more, a long journey ten, and
 * a quicker one shows the same rule in its common case. The short tests are the ones that run before a change lands.
 */
export const runsLong = process.env.ANNEX_TESTS === 'all';

/** Test files that have only long tests. */
export const longFiles = [
  'agent/clinic/isolate.test.ts',
  'agent/report/reporter.test.ts',
  'bench/rollouts/trials/run-trial.test.ts',
  'scripts/dev.test.ts',
  'server/agent-api/routes/goal-state/silent-together.test.ts',
  'server/rest/queue-agents.test.ts',
];

/** Selects the short journeys: those without the tag `@long`. */
export const shortJourneys = /^(?!.*@long)/;
