/**
 * The words of every verdict, and the one order of their severity. Everybody imports this file, pages included; it
 * imports nothing.
 *
 * Why `progressing` comes before `unknown`: what progresses has a deadline and fails when it passes, so it wants a look
 * first. `unknown` means that no agent has ever called: nothing runs there that could break. It is also the order that
 * `vm_health.rank`, its indexes, the cursors of lists and the map have always stored, so a release and the one before
 * it read the same rows alike. AZ-S6 names `unknown` first when it combines extensions into a VM; the two never meet
 * there, because all extensions of a VM without an agent are unknown, and no others are.
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

/** The same from the other end: for counts and legends, which begin with what is well. */
export const mildestFirst: readonly VmHealth[] = vmHealths.toReversed();

/** The place of a health in the order of severity, 0 for the worst: what `vm_health.rank` stores. */
export const rankOf = (health: ExtensionHealth): number => extensionHealths.indexOf(health);

/** Sorts extensions, worst first, then by name. */
export const bySeverity = (
  a: { health: ExtensionHealth; name: string },
  b: { health: ExtensionHealth; name: string },
): number => rankOf(a.health) - rankOf(b.health) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Health that needs a person, worst first. */
export const needsAttention = ['failed', 'unresponsive', 'degraded'] as const satisfies readonly VmHealth[];

/** Health of an extension that is not as declared, worst first. */
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

/** One letter per health, worst first: how the map packs cells. */
export const healthLetters = extensionHealths.map((health) => letterOf[health]).join('');

/** Verdicts about a heartbeat, worst first; `none` where the handler sends none. */
export const heartbeatVerdicts = ['unresponsive', 'notready', 'unknown', 'ready', 'none'] as const;
export type HeartbeatVerdict = (typeof heartbeatVerdicts)[number];

/** After this many seconds of silence an agent, or a handler by its heartbeat, is unresponsive. */
export const unresponsiveSeconds = 600;

/** Whether an agent calls as it promised; `never` before its first call. */
export const agentStatuses = ['unresponsive', 'unknown', 'never', 'ready'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

/** What a health comes from, where it is not as it should be. */
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
] as const;
export type HealthCause = (typeof healthCauses)[number];
