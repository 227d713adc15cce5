/**
 * The values of every verdict, and their order of severity. Every module and page may import this file; it imports
 * nothing. `progressing` comes before `unknown` because a progressing extension has a deadline and can fail, so it
 * needs attention first. An extension is `unknown` only if the VM's agent has never called, so nothing runs there that
 * could break. `vm_health.rank`, its indexes, the cursors of lists and the map depend on this order, and every release
 * uses the same order, so consecutive releases agree on stored rows. AZ-S6 names `unknown` first when it combines
 * extensions into a VM, but `unknown` and `progressing` never meet there: if a VM's agent has never called, all of its
 * extensions are unknown; otherwise, none are.
 */

/** Health of an extension, worst first. */
export const extensionHealths = [
  'failed',
  'unresponsive',
  'degraded',
  'progressing',
  'unknown',
  'healthy',
  'disabled',
] as const;
export type ExtensionHealth = (typeof extensionHealths)[number];

export type VmHealth = Exclude<ExtensionHealth, 'disabled'>;

/** Health of a VM, worst first. */
export const vmHealths = [
  'failed',
  'unresponsive',
  'degraded',
  'progressing',
  'unknown',
  'healthy',
] as const satisfies readonly VmHealth[];

/** Health of a VM, mildest first, for counts and legends. */
export const mildestFirst: readonly VmHealth[] = vmHealths.toReversed();

/** Returns the position of a health value in the order of severity, 0 for the worst, as `vm_health.rank` stores it. */
export const rankOf = (health: ExtensionHealth): number => extensionHealths.indexOf(health);

/** Compares two extensions for sorting: worst first, then by name. */
export const bySeverity = (
  a: { health: ExtensionHealth; name: string },
  b: { health: ExtensionHealth; name: string },
): number => rankOf(a.health) - rankOf(b.health) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Health values that need attention, worst first. */
export const needsAttention = ['failed', 'unresponsive', 'degraded'] as const satisfies readonly VmHealth[];

/** Health values of extensions that are not as declared, worst first. */
export const troubles: readonly ExtensionHealth[] = extensionHealths.slice(0, rankOf('healthy'));

const letterOf: Readonly<Record<ExtensionHealth, string>> = {
  failed: 'f',
  unresponsive: 'u',
  degraded: 'd',
  progressing: 'p',
  unknown: 'k',
  healthy: 'h',
  disabled: 'x',
};

/** One letter per health value, worst first, for the cells of the map. */
export const healthLetters = extensionHealths.map((health) => letterOf[health]).join('');

/** Verdicts on a heartbeat, worst first; `none` if the handler sends no heartbeats. */
export const heartbeatVerdicts = ['unresponsive', 'notready', 'unknown', 'ready', 'none'] as const;
export type HeartbeatVerdict = (typeof heartbeatVerdicts)[number];

/**
 * An agent that has not called for longer than this many seconds is unresponsive, unless it announced a long silence
 * (`silenceSeconds`). A heartbeat whose file is older than this is unresponsive too.
 */
export const unresponsiveSeconds = 600;

/** Whether an agent makes the calls that it announced; `never` before its first call. */
export const agentStatuses = ['unresponsive', 'unknown', 'never', 'ready'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

/**
 * Possible causes of the health of an extension or a unit; the last five are of units only. `healthy`, `unknown` and
 * `disabled` have no cause.
 */
export const healthCauses = [
  'exit',
  'timeout',
  'command',
  'status',
  'substatus',
  'heartbeat',
  'deadline',
  'stale',
  'waiting',
  'silent',
  'retry',
  'late',
  'skipped',
  'relation',
  'release',
] as const;
export type HealthCause = (typeof healthCauses)[number];

/** Whether a command is the cause, so that its name and exit code explain the health. */
export const isOfCommand = (cause: HealthCause | null): boolean =>
  cause === 'exit' || cause === 'timeout' || cause === 'command';

/** What is known about the cause of an extension's health. */
export interface Caused {
  cause: HealthCause | null;
  command: string | null;
  exitCode: number | null;
  messageId: string | null;
  waitsFor?: string | null;
  /** Null if the cause concerns the VM itself. */
  extension?: string | null;
}

/** A sentence from `locales/<lng>/overview.json`, with its params. */
export interface CauseWords {
  key:
    | `cause.${HealthCause}`
    | 'cause.agent'
    | 'cause.failed'
    | 'cause.messageId'
    | 'cause.waitsFor'
    | 'cause.progressing';
  params: Readonly<Record<string, string | number>>;
}

/** Returns the sentence that describes a cause, such as "enable: exit code 51". */
export function causeWords(caused: Caused): CauseWords {
  const { cause, command, exitCode, messageId, waitsFor = null, extension } = caused;
  const plain = (key: CauseWords['key']) => ({ key, params: {} });
  switch (cause) {
    case 'exit':
      return exitCode === null
        ? plain('cause.failed')
        : { key: 'cause.exit', params: { command: command ?? '', exit: exitCode } };
    case 'timeout':
    case 'retry':
    case 'late':
    case 'skipped':
      return { key: `cause.${cause}`, params: { command: command ?? '' } };
    case 'relation':
      return { key: 'cause.relation', params: { name: command ?? '' } };
    case 'command':
      return command === null ? plain('cause.failed') : { key: 'cause.command', params: { command } };
    case 'status':
    case 'substatus':
      return messageId === null ? plain(`cause.${cause}`) : { key: 'cause.messageId', params: { id: messageId } };
    case 'waiting':
      return waitsFor === null ? plain('cause.waiting') : { key: 'cause.waitsFor', params: { name: waitsFor } };
    case 'silent':
      return plain(extension === null ? 'cause.agent' : 'cause.silent');
    case null:
      return plain('cause.progressing');
    default:
      return plain(`cause.${cause}`);
  }
}
