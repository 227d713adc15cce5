import {
  commandFailed,
  commandOf,
  isDone,
  isLate,
  isPast,
  lacksHeartbeat,
  partSentence,
  sentence,
  stageOf,
  statusOfGoal,
  waitsInQueue,
} from './explain-facts.ts';
import type { ExplainedExtension, ExplainedVm, Link, Sentence } from './explanation.ts';

type Extension = ExplainedExtension;

/** Describes the agent's last call. */
export function touchLink({ agent }: ExplainedVm): Link {
  const last = sentence('touch.last', {}, agent.lastSeenAt);
  const about = { kind: 'touch', extension: null, queueEntry: null, execution: null, detail: last } as const;
  if (agent.status === 'ready') return { ...about, status: 'healthy', holds: true, title: sentence('touch.ready') };
  return agent.status === 'unresponsive'
    ? { ...about, status: 'unresponsive', holds: false, title: sentence('touch.silent') }
    : { ...about, status: 'unknown', holds: false, title: sentence('touch.late') };
}

/**
 * Describes the hold: until the hold ends, the agent gets no new goal state and deadlines are paused. `queueEntry` is
 * the extension that waits for the end of the hold; null if no extension waits.
 */
export function holdLink(
  { at, by, reason, until }: NonNullable<ExplainedVm['agent']['hold']>,
  queueEntry: string | null,
): Link {
  const code = reason === null ? (until === null ? 'hold.detail' : 'hold.until') : 'hold.reason';
  const values = { who: by, ...(reason !== null && { reason }), ...(until !== null && { until }) };
  return {
    kind: 'hold',
    status: 'waiting',
    holds: false,
    extension: null,
    queueEntry,
    execution: null,
    title: sentence('hold'),
    detail: sentence(code === 'hold.reason' && until !== null ? 'hold.reason.until' : code, values, at),
  };
}

/** Describes missing or withheld protected settings, without which an extension is not delivered. */
export function secretsLink({ name, needsRelease }: Extension): Link {
  const code = needsRelease ? 'release' : 'secrets';
  return {
    kind: 'cause',
    status: 'warning',
    holds: false,
    extension: name,
    queueEntry: null,
    execution: null,
    title: sentence(code, { name }),
    detail: sentence(`${code}.detail`),
  };
}

/** Describes whether the agent has the goal state with this extension's sequence number. */
export function deliveryLink(vm: ExplainedVm, subject: Extension): Link {
  const { incarnation, deliveredIncarnation } = vm;
  const about = { kind: 'delivery', extension: subject.name, queueEntry: null, execution: null } as const;
  if (subject.deliveredAt !== null) {
    const detail = sentence('delivery.at', { sequence: subject.goalSequenceNumber }, subject.deliveredAt);
    return { ...about, status: 'healthy', holds: true, title: sentence('delivery.done'), detail };
  }
  return {
    ...about,
    status: 'waiting',
    holds: false,
    title: sentence(vm.agent.hold ? 'delivery.withheld' : 'delivery.open', { incarnation }),
    detail:
      deliveredIncarnation === 0
        ? sentence('delivery.none')
        : sentence('delivery.older', { incarnation: deliveredIncarnation }),
  };
}

/**
 * Describes an extension that waits for another extension. The cause link follows and describes the extension at the
 * end of the chain.
 */
export function waitLink(subject: Extension): Link {
  const { name, goalSequenceNumber: sequence } = subject;
  return {
    kind: 'wait',
    status: 'waiting',
    holds: false,
    extension: name,
    queueEntry: name,
    execution: null,
    title: sentence('wait', { name }),
    detail: sentence(statusOfGoal(subject) === null ? 'wait.detail' : 'wait.again', { sequence }),
  };
}

/**
 * Describes the execution that must end before the extension's commands run. Deadlines are paused until then.
 */
export function turnLink({ name }: Extension, lane: NonNullable<ExplainedVm['lane']>): Link {
  return {
    ...{ kind: 'turn', status: 'waiting', holds: false, extension: name, queueEntry: null },
    execution: lane.executionId,
    title: sentence('turn', { name }),
    detail: turnDetail(lane),
  };
}

function turnDetail({ name, since, isRestarting }: NonNullable<ExplainedVm['lane']>): Sentence {
  if (isRestarting) return sentence('turn.restarts', {});
  return name === '' ? sentence('turn.unnamed', {}, since) : sentence('turn.detail', { execution: name }, since);
}

/** Describes the next or missed deadline; null if there is none. */
export function deadlineLink({ name, deadlineAt }: Extension, now: Date): Link | null {
  if (deadlineAt === null) return null;
  const about = { kind: 'deadline', holds: false, extension: name, queueEntry: null, execution: null } as const;
  if (isPast(deadlineAt, now)) {
    const detail = sentence('deadline.was', {}, deadlineAt);
    return { ...about, status: 'failed', title: sentence('deadline.past'), detail };
  }
  const title = sentence('deadline.left', {}, deadlineAt);
  return { ...about, status: 'waiting', title, detail: sentence('deadline.then', { name }) };
}

type Cause = readonly [status: Link['status'], title: Sentence, detail: Sentence | null];

/**
 * Describes the extension that the explained extension ultimately waits for, or the explained extension itself if it
 * does not wait.
 */
export function causeLink(extension: Extension, now: Date): Link {
  const [status, title, detail] = failure(extension, now) ?? trouble(extension) ?? progress(extension);
  const { name } = extension;
  const queueEntry = waitsInQueue(extension) ? name : null;
  return { kind: 'cause', status, holds: false, extension: name, queueEntry, execution: null, title, detail };
}

/**
 * Returns the first of these that applies: a failed command, an error status, a rejected status file, a missed
 * deadline.
 */
function failure(extension: Extension, now: Date): Cause | null {
  const { name, refusedStatus } = extension;
  if (commandFailed(extension)) return ['failed', sentence('failed', { name }), describeFailure(extension)];
  const status = statusOfGoal(extension);
  if (status?.status === 'error') {
    const detail = sentence('error.detail', { code: status.code ?? 0 }, status.readAt);
    return ['failed', sentence('error', { name }), detail];
  }
  const late = isLate(extension, now);
  if (refusedStatus) {
    const detail = sentence('refused.detail', { path: refusedStatus.faults[0]?.path ?? '' }, refusedStatus.readAt);
    return [late ? 'failed' : 'warning', sentence('refused', { name }), detail];
  }
  return late ? ['failed', sentence('late', { name }), describeDelay(extension)] : null;
}

/**
 * Returns the problem that a heartbeat, a substatus or a status reports after the commands have run; null if there is
 * none.
 */
function trouble(extension: Extension): Cause | null {
  const { name, heartbeat, cause, failedPart } = extension;
  const stage = stageOf(extension);
  if (stage !== 'warns' && stage !== 'works' && stage !== 'quiet') return null;
  const status = statusOfGoal(extension);
  if (heartbeat.verdict === 'unresponsive' || heartbeat.verdict === 'notready') {
    const code = heartbeat.verdict === 'notready' ? 'notReady' : 'unresponsive';
    return ['warning', sentence(code, { name }), sentence('heartbeat.detail', {}, heartbeat.readAt)];
  }
  if (lacksHeartbeat(extension)) {
    const detail = heartbeat.readAt === null ? null : sentence('heartbeat.detail', {}, heartbeat.readAt);
    return ['warning', sentence('noHeartbeat', { name }), detail];
  }
  if (cause === 'substatus' && failedPart) {
    const detail = sentence('error.detail', { code: failedPart.code ?? 0 }, status?.readAt ?? null);
    return ['warning', partSentence('part', extension, { name }), detail];
  }
  if (status?.status !== 'warning') return null;
  const detail = isDone(extension) ? sentence('works.detail', {}, status.readAt) : sentence('warns.detail');
  return ['warning', sentence('warns', { name }), detail];
}

function progress(extension: Extension): Cause {
  const { name, handlerState, goalSequenceNumber: sequence } = extension;
  const command = commandOf(extension);
  const at = handlerState?.at ?? null;
  const status = statusOfGoal(extension);
  switch (stageOf(extension)) {
    case 'leaving': {
      const detail = command === '' ? sentence('leaving.detail') : sentence('leaving.command', { command }, at);
      return ['progressing', sentence('leaving', { name }), detail];
    }
    case 'notBegun':
      return ['waiting', sentence('notBegun', { name }), sentence('notBegun.detail', { sequence })];
    case 'waits':
      return ['waiting', sentence('wait', { name }), sentence('wait.other', { other: handlerState?.blockedBy ?? '' })];
    case 'runs':
      return ['progressing', sentence('runs', { name, command }), sentence('runs.detail', {}, at)];
    case 'begun':
      return ['progressing', sentence('begun', { name }), sentence('begun.detail', {}, at)];
    default:
      return status?.status === 'transitioning'
        ? ['progressing', sentence('works', { name }), sentence('works.detail', {}, status.readAt)]
        : ['progressing', sentence('quiet', { name }), sentence('quiet.detail', { command }, at)];
  }
}

function describeDelay(extension: Extension): Sentence {
  const { handlerState, goalSequenceNumber: sequence } = extension;
  const values = { sequence, command: commandOf(extension), other: handlerState?.blockedBy ?? '' };
  const stage = stageOf(extension);
  const ofStatus = stage === 'warns' || stage === 'works';
  const at = ofStatus ? statusOfGoal(extension)?.readAt : handlerState?.at;
  return sentence(`late.${stage}`, values, at ?? null);
}

function describeFailure(extension: Extension): Sentence {
  const { handlerState } = extension;
  const command = commandOf(extension);
  const at = handlerState?.at ?? null;
  const attempt = handlerState?.attempt ?? 1;
  const isNamed = command !== '';
  if (handlerState?.timedOut) {
    return isNamed ? sentence('failed.time', { command }, at) : sentence('failed.time.unnamed', {}, at);
  }
  const exit = handlerState?.exitCode ?? 0;
  if (exit === 0) return sentence('failed.plain', {}, at);
  if (!isNamed) return sentence('failed.exit.unnamed', { exit }, at);
  return attempt > 1
    ? sentence('failed.again', { command, exit, attempt }, at)
    : sentence('failed.exit', { command, exit }, at);
}
