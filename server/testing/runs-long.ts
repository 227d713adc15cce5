/**
 * Whether the long tests run too, as with `npm run test:all`. A long test takes a second or more, a long journey ten, and
 * a quicker test or journey shows the rule in its common case. The short tests are the ones that run before a change
 * lands.
 */
export const runsLong = process.env.ANNEX_TESTS === 'all';

/** Test files that have only long tests. */
export const longFiles = [
  'agent/clinic/isolate.test.ts',
  'agent/clinic/try-formula.test.ts',
  'agent/clinic/try-plan.test.ts',
  'agent/crash-points.test.ts',
  'agent/execution/executors/executors.test.ts',
  'agent/field-handlers.test.ts',
  'agent/hostile-hooks.test.ts',
  'agent/interleavings.test.ts',
  'agent/links.test.ts',
  'agent/misbehaving.test.ts',
  'agent/plan-reboots.test.ts',
  'agent/report/reporter.test.ts',
  'agent/unit-crash-points.test.ts',
  'agent/unit-portal.test.ts',
  'agent/unit-restarts.test.ts',
  'agent/update.test.ts',
  'bench/rollouts/trials/run-trial.test.ts',
  'scripts/dev.test.ts',
  'scripts/seed/seed.test.ts',
  'server/agent-api/cancel-and-result.test.ts',
  'server/agent-api/routes/goal-state/silent-together.test.ts',
  'server/conductor/conductor.test.ts',
  'server/domain/services/relations/lives.test.ts',
  'server/launcher/change-secret-key.test.ts',
  'server/portal/language-tags.test.ts',
  'server/rest/queue-agents.test.ts',
];

/** Selects the short journeys: those without the tag `@long`. */
export const shortJourneys = /^(?!.*@long)/;
