import {
  commandFailed,
  commandOf,
  isDone,
  isLate,
  lacksHeartbeat,
  laneBefore,
  partSentence,
  sentence,
  stageOf,
  statusOfGoal,
} from './explain-facts.ts';
import type { ExplainedExtension, ExplainedVm, Sentence } from './explanation.ts';

type Extension = ExplainedExtension;

/**
 * The explained extension, and the cause: the extension that it ultimately waits for, or the explained extension itself
 * if it does not wait.
 */
export interface ExplanationSubject {
  subject: Extension;
  cause: Extension;
}

/** Returns the explanation in one sentence. */
export function leadOf(
  vm: ExplainedVm,
  { subject, cause }: ExplanationSubject,
  delivered: boolean,
  now: Date,
): Sentence {
  const { name } = subject;
  const { incarnation } = vm;
  const silent = vm.agent.status !== 'ready';
  // If the goal was reached, the status explains the problem; a hold or a late agent does not.
  const isOnlyDegraded = isDone(subject);
  if (subject.needsSecrets) return sentence('lead.secrets', { name });
  if (subject.needsRelease) return sentence('lead.release', { name });
  if (vm.agent.hold && cause.health !== 'failed' && !isOnlyDegraded) {
    if (vm.agent.kind === 'stock') return sentence('lead.hold', { name });
    if (!delivered) return sentence('lead.held', { name });
  }
  if (!delivered) return sentence(silent ? 'lead.silent' : 'lead.undelivered', { name, incarnation });
  const lane = laneBefore(vm, cause);
  if (lane !== null && cause === subject) return turnLead(subject, lane);
  if (cause !== subject) return blockedLead(subject, cause);
  if (cause.health === 'failed') return failedLead(subject, now);
  return silent && !isOnlyDegraded ? sentence('lead.silent', { name, incarnation }) : openLead(subject);
}

function turnLead({ name }: Extension, lane: NonNullable<ExplainedVm['lane']>): Sentence {
  if (lane.isRestarting) return sentence('lead.turn.restarts', { name });
  if (lane.name === '') return sentence('lead.turn.unnamed', { name });
  return sentence('lead.turn', { name, execution: lane.name });
}

function blockedLead({ name }: Extension, cause: Extension): Sentence {
  const { handlerState } = cause;
  const values = { name, cause: cause.name, exit: handlerState?.exitCode ?? 0 };
  if (!commandFailed(cause)) {
    return sentence(cause.health === 'failed' ? 'lead.blocked.failed' : 'lead.blocked', values);
  }
  if (handlerState?.timedOut) return sentence('lead.blocked.time', values);
  return sentence(values.exit === 0 ? 'lead.blocked.failed' : 'lead.blocked.exit', values);
}

function failedLead(subject: Extension, now: Date): Sentence {
  const { name, handlerState } = subject;
  const command = commandOf(subject);
  if (commandFailed(subject)) return commandLead(subject, command);
  if (statusOfGoal(subject)?.status === 'error') return sentence('lead.error', { name });
  if (subject.refusedStatus) return sentence('lead.refused', { name });
  if (!isLate(subject, now)) return sentence('lead.failed', { name });
  return sentence(`lead.late.${stageOf(subject)}`, { name, command, other: handlerState?.blockedBy ?? '' });
}

function commandLead({ name, handlerState }: Extension, command: string): Sentence {
  const exit = handlerState?.exitCode ?? 0;
  const isNamed = command !== '';
  if (handlerState?.timedOut) {
    return isNamed ? sentence('lead.failed.time', { name, command }) : sentence('lead.failed.time.unnamed', { name });
  }
  if (exit === 0) return sentence('lead.failed', { name });
  return isNamed
    ? sentence('lead.failed.exit', { name, command, exit })
    : sentence('lead.failed.exit.unnamed', { name, exit });
}

function openLead(subject: Extension): Sentence {
  const { name, handlerState, heartbeat } = subject;
  const values = { name, command: commandOf(subject) };
  if (subject.refusedStatus) return sentence('lead.refused', values);
  const stage = stageOf(subject);
  if (stage === 'leaving' || stage === 'notBegun' || stage === 'runs' || stage === 'begun') {
    return sentence(`lead.${stage}`, values);
  }
  if (stage === 'waits') return sentence('lead.waits', { name, cause: handlerState?.blockedBy ?? '' });
  if (heartbeat.verdict === 'unresponsive') return sentence('lead.unresponsive', values);
  if (heartbeat.verdict === 'notready') return sentence('lead.notReady', values);
  if (lacksHeartbeat(subject)) return sentence('lead.noHeartbeat', values);
  if (subject.cause === 'substatus') return partSentence('lead.part', subject, { name });
  if (stage === 'warns') return sentence(isDone(subject) ? 'lead.warnsSince' : 'lead.warns', values);
  return sentence(statusOfGoal(subject)?.status === 'transitioning' ? 'lead.works' : 'lead.quiet', values);
}
