/**
 * The words of rollouts, and their order. Every module, the schema and pages may import this file; it imports nothing.
 */

/** Kinds of rollouts. People create `rollout` and `bulk`; the portal creates `revert` and `automatic`. */
export const rolloutKinds = ['rollout', 'bulk', 'revert', 'automatic'] as const;
export type RolloutKind = (typeof rolloutKinds)[number];

/** States of a rollout, in the order in which it passes through them. */
export const rolloutStates = [
  'draft',
  'planning',
  'planned',
  'checking',
  'scheduled',
  'running',
  'paused',
  'keeping',
  'aborting',
  'aborted',
  'finished',
] as const;
export type RolloutState = (typeof rolloutStates)[number];

/** States before the start. Only a rollout in one of them can be deleted. */
export const unstartedStates = ['draft', 'planning', 'planned'] as const satisfies readonly RolloutState[];

/** States in which a rollout is started and not ended: it can still change VMs, or VMs are still judged. */
export const openStates = [
  'checking',
  'scheduled',
  'running',
  'paused',
  'keeping',
  'aborting',
] as const satisfies readonly RolloutState[];

export const endedStates = ['aborted', 'finished'] as const satisfies readonly RolloutState[];

export const pausers = ['person', 'gate', 'portal'] as const;
export type Pauser = (typeof pausers)[number];

/** What a rollout does on each member. `run` queues an execution of a runbook; the others declare extensions. */
export const changeKinds = ['set', 'remove', 'retry', 'revert', 'run'] as const;
export type RolloutChangeKind = (typeof changeKinds)[number];

/**
 * What a change does to a member. A step stores the position in this list, so new words are appended. If several apply,
 * the first one wins, except that the last four have their own kind of change.
 */
export const memberKinds = [
  'install',
  'update',
  'lower',
  'settings',
  'state',
  'policy',
  'remove',
  'retry',
  'revert',
  'run',
] as const;
export type MemberKind = (typeof memberKinds)[number];

export const ringStates = ['waiting', 'open', 'baking', 'passed', 'halted'] as const;
export type RingState = (typeof ringStates)[number];

/** States of a step. A member without a step is queued. */
export const stepStates = [
  'parked',
  'recalled',
  'inFlight',
  'soaking',
  'retrying',
  'reverting',
  'succeeded',
  'failed',
  'reverted',
  'stuck',
  'overtaken',
  'skipped',
  'gone',
  'unreached',
] as const;
export type StepState = (typeof stepStates)[number];

/** Steps whose outcome is not known yet. At most one step of a VM is open. */
export const openSteps = ['inFlight', 'soaking', 'retrying', 'reverting'] as const satisfies readonly StepState[];
/** Steps that count for gates. `reverted` and `stuck` count as failed. */
export const decidedSteps = ['succeeded', 'failed', 'reverted', 'stuck'] as const satisfies readonly StepState[];
/** Steps that no gate counts. */
export const exemptSteps = [
  'parked',
  'skipped',
  'overtaken',
  'gone',
  'unreached',
] as const satisfies readonly StepState[];

/** Why the step of a member cannot begin now. */
export const parkedCauses = ['silent', 'never-enrolled', 'on-hold', 'set-busy', 'vm-busy', 'not-fetching'] as const;
export type ParkedCause = (typeof parkedCauses)[number];

/** Why a member was skipped. A refusal is stored as `refused:` and the code of the fault. */
export const skipCauses = ['moved', 'left-selection', 'superseded', 'already'] as const;
export type SkipCause = (typeof skipCauses)[number] | `refused:${string}`;

/** Why a step failed, if the health of its extension has no cause. */
export const failCauses = ['not-healthy', 'unsteady', 'silent'] as const;

/** The counts of members, as pages and the API show them. They always add up to `members`. */
export const memberCounts = [
  'queued',
  'parked',
  'inFlight',
  'soaking',
  'succeeded',
  'failed',
  'reverted',
  'overtaken',
  'skipped',
  'gone',
  'unreached',
] as const;
export type MemberCount = (typeof memberCounts)[number];

export const gateNames = ['errors', 'success', 'compare'] as const;
export type GateName = (typeof gateNames)[number];

export const gateVerdicts = ['pass', 'wait', 'halt'] as const;
export type GateVerdict = (typeof gateVerdicts)[number];

/** How a control pair was resolved. */
export const pairResults = ['changed-first', 'control-first', 'both', 'neither', 'void'] as const;
export type PairResult = (typeof pairResults)[number];

/** Why a running rollout does not move at the moment. */
export const waitingReasons = [
  'start_at',
  'ring_bake',
  'ring_opens',
  'ring_approval',
  'window_closed',
  'freeze',
  'in_flight_full',
  'ramp',
  'rate',
  'sets_busy',
  'vms_busy',
  'vms_parked',
  'nobody_reached',
  'pairs_too_few',
  'steps_open',
  'catching_up',
] as const;
export type WaitingReason = (typeof waitingReasons)[number];

/** Why a rollout is paused, is planned again instead of started, or cannot start. */
export const stoppingReasons = [
  'person',
  'errors_count',
  'errors_percent',
  'success_unreachable',
  'worse_than_control',
  'pairs_too_few_paused',
  'version_withdrawn',
  'no_progress',
  'restored',
  'plan_moved_on',
  'plan_failed',
  'plan_empty',
  'plan_rejected',
  'secrets_custody',
] as const;
export type StoppingReason = (typeof stoppingReasons)[number];

/** What happens to a member whose agent is silent when its turn comes. */
export const silentRules = ['wait', 'declare', 'skip'] as const;
export type SilentRule = (typeof silentRules)[number];

/** What keeps an extension from a newer version of its handler. The first word that applies is the answer. */
export const versionHolds = [
  'withdrawn',
  'other-first-number',
  'uninstalling',
  'automatic-off',
  'put-back',
  'higher-version',
  'settings',
  'secrets',
  'refused',
  'other-rollout',
  'turn',
  'tried',
  'stopped',
] as const;
export type VersionHold = (typeof versionHolds)[number];
