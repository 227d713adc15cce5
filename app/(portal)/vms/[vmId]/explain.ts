import type { ParseKeys } from 'i18next';
import type { StatusName } from '#app/_ui/status-icon.tsx';
import { commandFailed, type Extension, type InstanceView, isDone, type Said } from './vm-data.ts';

/** A sentence of `locales/…/reports.json`. `at` stands where it has `<time>` or `<clock>`. */
export interface Sentence {
  key: Extract<ParseKeys<'reports'>, `why.${string}`>;
  values?: Readonly<Record<string, string | number>>;
  at?: string | null;
}

/** One link of the chain. Where it does not hold (`holds: false`), its line is dashed. */
export interface Link {
  kind: 'touch' | 'delivery' | 'wait' | 'cause' | 'hold' | 'deadline';
  status: StatusName;
  holds: boolean;
  title: Sentence;
  detail: Sentence | null;
  /** What the handler says about it. */
  said?: Said | null;
}

export interface Explanation {
  title: Extract<ParseKeys<'reports'>, `why.title${string}`>;
  lead: Sentence;
  /** At most five. */
  links: readonly Link[];
  /** The extension that a person can do something about; null where only the agent can. */
  act: { name: string; editable: boolean; output: boolean; failed: boolean } | null;
}

/**
 * Why a VM is not done, from its agent's last call to what would help: null once all is done and no status complains.
 * One story is told, that of the extension which is worst off; what waits for a failed one stands before the failure
 * itself.
 */
export function explain(view: InstanceView, now: Date): Explanation | null {
  const open = view.extensions.filter(
    (extension) => !isDone(extension) || complains(extension) || lacksSecrets(extension),
  );
  if (open.length === 0 || view.agent.status === 'never') return null;
  const stories = open.map((subject) => ({ subject, cause: rootOf(subject, view.extensions) }));
  const [story] = stories.sort((a, b) => rank(a) - rank(b) || byDeadline(a.subject, b.subject));
  if (story === undefined) return null;
  const { subject, cause } = story;
  const touch = touchLink(view);
  const delivery = deliveryLink(view, subject);
  const deadline = deadlineLink(subject, now);
  const isWithheld = lacksSecrets(subject);
  // The agent may have the whole goal state, which leaves out an extension without its secrets.
  const isUpToDate = view.deliveredIncarnation === view.incarnation;
  const links = isWithheld && isUpToDate ? [touch] : [touch, delivery];
  if (isWithheld) links.push(secretsLink(subject));
  else if (delivery.holds) links.push(...stepLinks(subject, cause, now));
  if (view.agent.hold) links.push(holdLink(view.agent.hold));
  else if (deadline) links.push(deadline);
  return {
    title: isDone(subject) ? 'why.title.degraded' : 'why.title',
    lead: leadOf(view, story, delivery.holds, now),
    links,
    act:
      delivery.holds || isWithheld
        ? {
            name: cause.name,
            editable: cause.goal !== 'uninstall',
            output: Boolean(cause.handlerState?.outputTail),
            failed: cause.health === 'failed',
          }
        : null,
  };
}

/** Its operation is done, and its status says since or beside that something is wrong. */
const complains = ({ health, cause }: Extension): boolean =>
  health === 'degraded' && (cause === 'status' || cause === 'substatus');

interface Story {
  subject: Extension;
  /** What the subject waits for in the end; itself where it waits for none. */
  cause: Extension;
}

function rootOf(subject: Extension, all: readonly Extension[]): Extension {
  const passed = new Set<string>();
  let current = subject;
  while (!passed.has(current.name)) {
    passed.add(current.name);
    const next = all.find(({ name }) => name === current.handlerState?.blockedBy);
    if (next === undefined || isDone(next)) break;
    current = next;
  }
  return current;
}

function rank({ subject, cause }: Story): number {
  if (cause.health === 'failed') return cause === subject ? 1 : 0;
  if (subject.health !== 'progressing') return 2;
  return cause === subject ? 4 : 3;
}

function byDeadline(a: Extension, b: Extension): number {
  const [first, second] = [a.deadlineAt ?? '9', b.deadlineAt ?? '9'];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** It is not delivered for want of its protected settings, whatever an earlier machine reported. */
const lacksSecrets = ({ needsSecrets, needsRelease }: Extension): boolean => needsSecrets || needsRelease;

const isPast = (time: string | null, now: Date): boolean => time !== null && new Date(time) <= now;

/** Whether the agent has spoken of the goal's sequence number. */
const hasBegun = ({ handlerState, goalSequenceNumber }: Extension): boolean =>
  handlerState !== null && handlerState.sequenceNumber >= goalSequenceNumber;

const statusOfGoal = ({ status, goalSequenceNumber }: Extension) =>
  status !== null && status.sequenceNumber >= goalSequenceNumber ? status : null;

function touchLink({ agent }: InstanceView): Link {
  const at = agent.lastSeenAt;
  if (agent.status === 'ready') {
    return link('touch', 'healthy', true, { key: 'why.touch.ready' }, { key: 'why.touch.last', at });
  }
  const silent = agent.status === 'unresponsive';
  return link(
    'touch',
    silent ? 'unresponsive' : 'unknown',
    false,
    { key: silent ? 'why.touch.silent' : 'why.touch.late' },
    { key: 'why.touch.last', at },
  );
}

/** Until somebody releases it nothing is processed, and nothing falls due. */
function holdLink({ at, by }: NonNullable<InstanceView['agent']['hold']>): Link {
  return link('hold', 'waiting', false, { key: 'why.hold' }, { key: 'why.hold.detail', values: { who: by }, at });
}

/** Without its protected settings an extension is not delivered. */
function secretsLink({ name, needsRelease }: Extension): Link {
  const key = needsRelease ? 'why.release' : 'why.secrets';
  return link('cause', 'warning', false, { key, values: { name } }, { key: `${key}.detail` });
}

function deliveryLink(view: InstanceView, subject: Extension): Link {
  const { incarnation } = view;
  if (subject.deliveredAt !== null) {
    return link(
      'delivery',
      'healthy',
      true,
      { key: 'why.delivery.done' },
      { key: 'why.delivery.at', values: { sequence: subject.goalSequenceNumber }, at: subject.deliveredAt },
    );
  }
  return link(
    'delivery',
    'waiting',
    false,
    { key: view.agent.hold ? 'why.delivery.withheld' : 'why.delivery.open', values: { incarnation } },
    view.deliveredIncarnation === 0
      ? { key: 'why.delivery.none' }
      : { key: 'why.delivery.older', values: { incarnation: view.deliveredIncarnation } },
  );
}

function stepLinks(subject: Extension, cause: Extension, now: Date): Link[] {
  const own = causeLink(cause, now);
  if (cause === subject) return [own];
  const { name, goalSequenceNumber: sequence } = subject;
  const wait = link(
    'wait',
    'waiting',
    false,
    { key: 'why.wait', values: { name } },
    { key: statusOfGoal(subject) === null ? 'why.wait.detail' : 'why.wait.again', values: { sequence } },
  );
  return [wait, own];
}

/** What is the matter with an extension that waits for no other. */
function causeLink(extension: Extension, now: Date): Link {
  const { name, handlerState, heartbeat, goalSequenceNumber: sequence } = extension;
  const command = handlerState?.command ?? '';
  const at = handlerState?.at ?? null;
  const cause = (status: StatusName, title: Sentence, detail: Sentence | null) =>
    link('cause', status, false, title, detail);
  if (hasBegun(extension) && commandFailed(extension)) {
    return cause('failed', { key: 'why.failed', values: { name } }, howItFailed(extension));
  }
  const status = statusOfGoal(extension);
  if (status?.status === 'error') {
    const values = { code: status.code ?? 0 };
    return cause(
      'failed',
      { key: 'why.error', values: { name } },
      { key: 'why.error.detail', values, at: status.readAt },
    );
  }
  if (extension.refusedStatus) {
    const { readAt, faults } = extension.refusedStatus;
    const detail: Sentence = { key: 'why.refused.detail', values: { path: faults[0]?.path ?? '' }, at: readAt };
    return cause(isLate(extension, now) ? 'failed' : 'warning', { key: 'why.refused', values: { name } }, detail);
  }
  if (isLate(extension, now)) {
    return cause('failed', { key: 'why.late', values: { name } }, howItIsLate(extension));
  }
  if (extension.goal === 'uninstall') {
    return cause('progressing', { key: 'why.leaving', values: { name } }, leavingDetail(command, at));
  }
  if (!hasBegun(extension)) {
    return cause(
      'waiting',
      { key: 'why.notBegun', values: { name } },
      { key: 'why.notBegun.detail', values: { sequence } },
    );
  }
  if (handlerState?.blockedBy) {
    const values = { other: handlerState.blockedBy };
    return cause('waiting', { key: 'why.wait', values: { name } }, { key: 'why.wait.other', values });
  }
  if (isRunning(extension)) {
    return cause('progressing', { key: 'why.runs', values: { name, command } }, { key: 'why.runs.detail', at });
  }
  if (heartbeat.verdict === 'unresponsive' || heartbeat.verdict === 'notready') {
    const key = heartbeat.verdict === 'notready' ? 'why.notReady' : 'why.unresponsive';
    return cause('warning', { key, values: { name } }, { key: 'why.heartbeat.detail', at: heartbeat.readAt });
  }
  if (extension.cause === 'substatus' && extension.failedPart) {
    const { code, message } = extension.failedPart;
    const values = { code: code ?? 0 };
    const detail: Sentence = { key: 'why.error.detail', values, at: status?.readAt ?? null };
    return { ...cause('warning', partSentence('why.part', extension), detail), said: message };
  }
  if (status?.status === 'warning' && isDone(extension)) {
    return cause('warning', { key: 'why.warns', values: { name } }, { key: 'why.works.detail', at: status.readAt });
  }
  if (status?.status === 'warning') {
    return cause('warning', { key: 'why.warns', values: { name } }, { key: 'why.warns.detail' });
  }
  if (status?.status === 'transitioning') {
    return cause('progressing', { key: 'why.works', values: { name } }, { key: 'why.works.detail', at: status.readAt });
  }
  return cause(
    'progressing',
    { key: 'why.quiet', values: { name } },
    { key: 'why.quiet.detail', values: { command }, at },
  );
}

const running: readonly string[] = ['installing', 'updating', 'enabling', 'disabling', 'uninstalling'];
const isRunning = ({ handlerState }: Extension): boolean =>
  handlerState !== null && running.includes(handlerState.state) && handlerState.command !== null;

const leavingDetail = (command: string, at: string | null): Sentence =>
  command === '' ? { key: 'why.leaving.detail' } : { key: 'why.leaving.command', values: { command }, at };

/** The portal's own word: the deadline passed, and nobody said how it ended. */
const isLate = ({ health, deadlineAt }: Extension, now: Date): boolean =>
  health === 'failed' && isPast(deadlineAt, now);

/** At what it was when its time was over. */
type Late = 'leaving' | 'notBegun' | 'waits' | 'runs' | 'warns' | 'works' | 'quiet';

function lateAt(extension: Extension): Late {
  if (extension.goal === 'uninstall') return 'leaving';
  if (!hasBegun(extension)) return 'notBegun';
  if (extension.handlerState?.blockedBy) return 'waits';
  if (isRunning(extension)) return 'runs';
  const status = statusOfGoal(extension);
  return status === null ? 'quiet' : status.status === 'warning' ? 'warns' : 'works';
}

function howItIsLate(extension: Extension): Sentence {
  const { handlerState, goalSequenceNumber: sequence } = extension;
  const values = { sequence, command: handlerState?.command ?? '', other: handlerState?.blockedBy ?? '' };
  const late = lateAt(extension);
  const at =
    late === 'warns' || late === 'works' ? (statusOfGoal(extension)?.readAt ?? null) : (handlerState?.at ?? null);
  return { key: `why.late.${late}`, values, at };
}

function howItFailed({ handlerState }: Extension): Sentence {
  const command = handlerState?.command ?? '';
  const at = handlerState?.at ?? null;
  const attempt = handlerState?.attempt ?? 1;
  if (handlerState?.timedOut) return { key: 'why.failed.time', values: { command }, at };
  const exit = handlerState?.exitCode ?? 0;
  if (exit === 0) return { key: 'why.failed.plain', at };
  return attempt > 1
    ? { key: 'why.failed.again', values: { command, exit, attempt }, at }
    : { key: 'why.failed.exit', values: { command, exit }, at };
}

function deadlineLink({ name, deadlineAt }: Extension, now: Date): Link | null {
  if (deadlineAt === null) return null;
  if (isPast(deadlineAt, now)) {
    return link('deadline', 'failed', false, { key: 'why.deadline.past' }, { key: 'why.deadline.was', at: deadlineAt });
  }
  const detail: Sentence = { key: 'why.deadline.then', values: { name } };
  return link('deadline', 'waiting', false, { key: 'why.deadline.left', at: deadlineAt }, detail);
}

function leadOf(view: InstanceView, { subject, cause }: Story, delivered: boolean, now: Date): Sentence {
  const { name } = subject;
  const { incarnation } = view;
  const silent = view.agent.status !== 'ready';
  if (subject.needsSecrets) return { key: 'why.lead.secrets', values: { name } };
  if (subject.needsRelease) return { key: 'why.lead.release', values: { name } };
  if (view.agent.hold && cause.health !== 'failed') return { key: 'why.lead.hold', values: { name } };
  if (!delivered) return { key: silent ? 'why.lead.silent' : 'why.lead.undelivered', values: { name, incarnation } };
  if (cause !== subject) {
    const values = { name, cause: cause.name, exit: cause.handlerState?.exitCode ?? 0 };
    if (hasBegun(cause) && commandFailed(cause)) {
      if (cause.handlerState?.timedOut) return { key: 'why.lead.blocked.time', values };
      return { key: values.exit === 0 ? 'why.lead.blocked.failed' : 'why.lead.blocked.exit', values };
    }
    return { key: cause.health === 'failed' ? 'why.lead.blocked.failed' : 'why.lead.blocked', values };
  }
  if (cause.health === 'failed') return failedLead(subject, now);
  if (silent) return { key: 'why.lead.silent', values: { name, incarnation } };
  return openLead(subject);
}

function failedLead(subject: Extension, now: Date): Sentence {
  const { name, handlerState } = subject;
  const command = handlerState?.command ?? '';
  const exit = handlerState?.exitCode ?? 0;
  if (hasBegun(subject) && commandFailed(subject)) {
    if (handlerState?.timedOut) return { key: 'why.lead.failed.time', values: { name, command } };
    if (exit !== 0) return { key: 'why.lead.failed.exit', values: { name, command, exit } };
  }
  if (statusOfGoal(subject)?.status === 'error') return { key: 'why.lead.error', values: { name } };
  if (subject.refusedStatus) return { key: 'why.lead.refused', values: { name } };
  if (!isLate(subject, now)) return { key: 'why.lead.failed', values: { name } };
  return { key: `why.lead.late.${lateAt(subject)}`, values: { name, command, other: handlerState?.blockedBy ?? '' } };
}

function openLead(subject: Extension): Sentence {
  const { name, handlerState, heartbeat } = subject;
  const values = { name, command: handlerState?.command ?? '' };
  if (subject.refusedStatus) return { key: 'why.lead.refused', values };
  if (subject.goal === 'uninstall') return { key: 'why.lead.leaving', values };
  if (!hasBegun(subject)) return { key: 'why.lead.notBegun', values };
  if (handlerState?.blockedBy) return { key: 'why.lead.waits', values: { name, cause: handlerState.blockedBy } };
  if (isRunning(subject)) return { key: 'why.lead.runs', values };
  if (heartbeat.verdict === 'unresponsive') return { key: 'why.lead.unresponsive', values };
  if (heartbeat.verdict === 'notready') return { key: 'why.lead.notReady', values };
  const status = statusOfGoal(subject);
  if (subject.cause === 'substatus') return partSentence('why.lead.part', subject);
  if (status?.status === 'warning') return { key: isDone(subject) ? 'why.lead.warnsSince' : 'why.lead.warns', values };
  return { key: status?.status === 'transitioning' ? 'why.lead.works' : 'why.lead.quiet', values };
}

/** Names the part, where the handler did. */
function partSentence(key: 'why.part' | 'why.lead.part', { name, failedPart }: Extension): Sentence {
  const part = failedPart?.name ?? failedPart?.operation ?? '';
  return part === '' ? { key: `${key}.unnamed`, values: { name } } : { key, values: { name, part } };
}

function link(kind: Link['kind'], status: StatusName, holds: boolean, title: Sentence, detail: Sentence | null): Link {
  return { kind, status, holds, title, detail };
}
