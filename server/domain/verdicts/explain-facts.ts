import type { ExplainedExtension, ExplainedVm, Sentence, SentenceCode } from './explanation.ts';
import { hasFailed, isRunningState } from './rules.ts';

type Extension = ExplainedExtension;

/** Creates a sentence from a code and its values. */
export const sentence = (code: SentenceCode, values: Sentence['values'] = {}, at: string | null = null): Sentence => ({
  code,
  values,
  at,
});

/**
 * Whether the extension has reached its goal: it is disabled as declared, or it reported success and is now neither
 * failed nor progressing.
 */
export function isDone({ health, concludedWith }: Pick<Extension, 'health' | 'concludedWith'>): boolean {
  if (health === 'disabled') return true;
  return concludedWith === 'success' && health !== 'failed' && health !== 'progressing';
}

/** Whether the extension is not delivered because its protected settings are missing or withheld. */
export const lacksSecrets = ({ needsSecrets, needsRelease }: Extension): boolean => needsSecrets || needsRelease;

/** Whether the extension is degraded because of its status, a substatus or its heartbeat. */
export const hasTrouble = ({ health, cause }: Extension): boolean =>
  health === 'degraded' && (cause === 'status' || cause === 'substatus' || cause === 'heartbeat');

/** Whether the extension is degraded because its heartbeat is overdue. */
export const lacksHeartbeat = ({ health, cause, heartbeat }: Extension): boolean =>
  health === 'degraded' && cause === 'heartbeat' && heartbeat.verdict === 'unknown';

export const isPast = (time: string | null, now: Date): boolean => time !== null && new Date(time) <= now;

/** Whether the agent has reported the goal's sequence number or a later number. */
export const hasBegun = ({ handlerState, goalSequenceNumber }: Extension): boolean =>
  handlerState !== null && handlerState.sequenceNumber >= goalSequenceNumber;

/** Whether the last command for the goal's sequence number, or for a later number, failed. */
export const commandFailed = ({ handlerState, goalSequenceNumber }: Extension): boolean =>
  hasFailed(handlerState, goalSequenceNumber);

export const statusOfGoal = ({ status, goalSequenceNumber }: Extension): Extension['status'] =>
  status !== null && status.sequenceNumber >= goalSequenceNumber ? status : null;

/**
 * Whether the extension counts as failed because its deadline passed without an outcome. Only the portal sees this
 * failure; no report contains it.
 */
export const isLate = ({ health, deadlineAt }: Extension, now: Date): boolean =>
  health === 'failed' && isPast(deadlineAt, now);

/** The stage that an extension has reached on its way to the goal. */
export type Stage = 'leaving' | 'notBegun' | 'waits' | 'runs' | 'begun' | 'warns' | 'works' | 'quiet';

export function stageOf(extension: Extension): Stage {
  const { handlerState } = extension;
  if (extension.goal === 'uninstall') return 'leaving';
  if (!hasBegun(extension)) return 'notBegun';
  if (handlerState?.blockedBy) return 'waits';
  if (handlerState !== null && isRunningState(handlerState.state) && handlerState.command !== null) return 'runs';
  const status = statusOfGoal(extension);
  if (status !== null) return status.status === 'warning' ? 'warns' : 'works';
  return handlerState?.state === 'enabled' ? 'quiet' : 'begun';
}

/** Whether the extension waits for its turn or for another extension. */
export function waitsInQueue(extension: Extension): boolean {
  if (commandFailed(extension)) return false;
  const stage = stageOf(extension);
  return (
    stage === 'notBegun' || stage === 'waits' || stage === 'begun' || (stage === 'leaving' && !hasBegun(extension))
  );
}

/**
 * Returns the execution that holds the lane, if the agent is ready and the extension has been delivered, has not failed
 * and waits for its turn; otherwise null.
 */
export function laneBefore({ agent, lane }: ExplainedVm, extension: Extension): ExplainedVm['lane'] {
  if (agent.status !== 'ready' || extension.deliveredAt === null || extension.health === 'failed') return null;
  return waitsInQueue(extension) && !extension.handlerState?.blockedBy ? lane : null;
}

/**
 * Returns the last command for the goal's sequence number, or `enable` if the agent reports `enabled` without a
 * command. Empty if the command is unknown.
 */
export function commandOf(extension: Extension): string {
  if (extension.handlerState === null || !hasBegun(extension)) return '';
  const { command, state } = extension.handlerState;
  return command ?? (state === 'enabled' ? 'enable' : '');
}

/** Returns the sentence about the failed substatus, including its name or operation if reported. */
export function partSentence(code: 'part' | 'lead.part', extension: Extension, named: Sentence['values']): Sentence {
  const part = extension.failedPart?.name ?? extension.failedPart?.operation ?? '';
  return part === '' ? sentence(`${code}.unnamed`, named) : sentence(code, { ...named, part });
}
