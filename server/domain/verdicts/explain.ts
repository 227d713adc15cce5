import { hasTrouble, isDone, lacksSecrets, laneBefore } from './explain-facts.ts';
import { type ExplanationSubject, leadOf } from './explain-lead.ts';
import {
  causeLink,
  deadlineLink,
  deliveryLink,
  holdLink,
  secretsLink,
  touchLink,
  turnLink,
  waitLink,
} from './explain-links.ts';
import type { ExplainedExtension, ExplainedVm, Explanation, Link } from './explanation.ts';

type Extension = ExplainedExtension;

/**
 * Explains why a VM is not done or is degraded, from its agent's last call to the remedy. Chooses the extension in the
 * worst state. If an extension waits for a failed extension, chooses the waiting extension instead of the failed one.
 * Returns null if the agent has never called, or if every extension is done, has its protected settings, and is not
 * degraded because of its status, a substatus or its heartbeat.
 */
export function explain(vm: ExplainedVm, now: Date): Explanation | null {
  const open = vm.extensions.filter(
    (extension) => !isDone(extension) || hasTrouble(extension) || lacksSecrets(extension),
  );
  if (open.length === 0 || vm.agent.status === 'never') return null;
  const stories = open.map((subject) => ({ subject, cause: rootOf(subject, vm.extensions) }));
  const [story] = stories.sort((a, b) => urgency(a) - urgency(b) || byDeadline(a.subject, b.subject));
  if (story === undefined) return null;
  const delivered = story.subject.deliveredAt !== null;
  return {
    question: isDone(story.subject) ? 'degraded' : 'notDone',
    extension: story.subject.name,
    lead: leadOf(vm, story, delivered, now),
    links: linksOf(vm, story, now),
    act: delivered || lacksSecrets(story.subject) ? actOn(story.cause) : null,
  };
}

function linksOf(vm: ExplainedVm, { subject, cause }: ExplanationSubject, now: Date): Link[] {
  const { hold } = vm.agent;
  const delivery = deliveryLink(vm, subject);
  const isWithheld = lacksSecrets(subject);
  // Even the newest goal state omits an extension whose secrets are missing or withheld, so the agent may be up to date
  // without it.
  const isUpToDate = vm.deliveredIncarnation === vm.incarnation;
  const links = isWithheld && isUpToDate ? [touchLink(vm)] : [touchLink(vm), delivery];
  if (isWithheld) links.push(secretsLink(subject));
  else if (delivery.holds) {
    if (cause !== subject) links.push(waitLink(subject));
    links.push(causeLink(cause, now));
  }
  const held = waitsForRelease(vm, subject, cause) ? subject.name : null;
  const lane = laneBefore(vm, cause);
  const last = hold ? holdLink(hold, held) : lane ? turnLink(cause, lane) : deadlineLink(subject, now);
  return last ? [...links, last] : links;
}

/** Whether the subject continues only after the hold ends. A stock agent processes nothing until then. */
function waitsForRelease({ agent }: ExplainedVm, subject: Extension, cause: Extension): boolean {
  if (lacksSecrets(subject) || isDone(subject)) return false;
  return subject.deliveredAt === null || (agent.kind === 'stock' && cause.health !== 'failed');
}

const actOn = (cause: Extension): Explanation['act'] => ({
  extension: cause.name,
  editable: cause.goal !== 'uninstall',
  hasOutput: Boolean(cause.handlerState?.outputTail),
  failed: cause.health === 'failed',
});

/**
 * Returns the extension at the end of the chain that `subject` waits for. In a cycle, returns the extension where the
 * cycle closes.
 */
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

function urgency({ subject, cause }: ExplanationSubject): number {
  if (cause.health === 'failed') return cause === subject ? 1 : 0;
  if (subject.health !== 'progressing') return 2;
  return cause === subject ? 4 : 3;
}

function byDeadline(a: Extension, b: Extension): number {
  const [first, second] = [a.deadlineAt ?? '9', b.deadlineAt ?? '9'];
  return first < second ? -1 : first > second ? 1 : 0;
}
