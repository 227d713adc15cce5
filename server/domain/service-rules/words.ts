/* Words of services, units, relations and hooks, which the schema, the rules, inputs and pages share. */

/** Lives of services, units and relations. Removed ones have a time of removal. */
export const lives = ['alive', 'dying'] as const;
export type Life = (typeof lives)[number];

/** The side of a unit in a relation. Units of a `peers` relation are on the side `peer`. */
export const sides = ['provides', 'requires', 'peer'] as const;
export type Side = (typeof sides)[number];

/** States of a unit in a relation. */
export const participantStates = ['in', 'left', 'broken'] as const;
export type ParticipantState = (typeof participantStates)[number];

/** What happened in a relation at one of its clocks. */
export const relationEventKinds = ['joined', 'changed', 'left', 'broken'] as const;
export type RelationEventKind = (typeof relationEventKinds)[number];

/** Outcomes of runs of hooks. `refused`: the hook ended with 0, but the portal rejected its changes. */
export const runOutcomes = [
  'running',
  'succeeded',
  'failed',
  'timed-out',
  'interrupted',
  'refused',
  'skipped',
] as const;
export type RunOutcome = (typeof runOutcomes)[number];

/** Stages in the life of a unit. */
export const unitStages = [
  'placed',
  'installing',
  'configuring',
  'starting',
  'started',
  'upgrading',
  'leaving',
  'removed',
] as const;
export type UnitStage = (typeof unitStages)[number];
