import { createHash } from 'node:crypto';
import { dependencyLevels, type GoalState, type GoalStateExtension, parseVersion } from '#protocol/index.ts';

/** One extension as the stock agent is asked for it. */
export interface StockExtension {
  /** As the goal state has it. */
  goal: GoalStateExtension;
  /** As it was published, or with four parts where the agent knows it so. */
  version: string;
  /** What it is called within its handler; null where the handler has one extension only. */
  wireName: string | null;
  /** The length of the longest chain of dependencies below it. */
  level: number;
  reportsHeartbeat: boolean;
}

/** What the wire needs to know of a handler's version. */
export interface HandlerFacts {
  reportsHeartbeat: boolean;
  supportsMultipleExtensions: boolean;
}

/** `1.2` → `1.2.0.0`; any other text as it is. */
export function inFourParts(version: string): string {
  const parts = parseVersion(version);
  return parts === null ? version : [0, 1, 2, 3].map((index) => parts[index] ?? 0).join('.');
}

/** A name of letters, digits and `_`, which is all that the agent takes; another one keeps what tells it apart. */
export function wireNameOf(name: string): string {
  if (/^\w+$/.test(name)) return name;
  const tail = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.replace(/\W/g, '_')}_${tail}`;
}

/** The goal state with what the wire needs beside it. */
export function stockExtensions(
  { extensions }: Pick<GoalState, 'extensions'>,
  factsOf: (handler: string, version: string) => HandlerFacts,
  publishedVersions: boolean,
): StockExtension[] {
  const levels = dependencyLevels(extensions);
  return extensions.map((goal) => {
    const { reportsHeartbeat, supportsMultipleExtensions } = factsOf(goal.handler, goal.version);
    return {
      goal,
      version: publishedVersions ? goal.version : inFourParts(goal.version),
      wireName: supportsMultipleExtensions ? wireNameOf(goal.name) : null,
      level: levels.get(goal.name) ?? 0,
      reportsHeartbeat,
    };
  });
}

/**
 * Of all that the agent acts upon. What is being uninstalled is left out: that it leaves the goal state when it is gone
 * is no news to the agent, which would run every other handler again for it.
 */
export function fingerprintOf(extensions: readonly StockExtension[]): string {
  const acted = extensions
    .filter(({ goal }) => goal.state !== 'uninstall')
    .map(({ goal, version, wireName, level }) => {
      const { name, handler, state, sequenceNumber, settings, package: bytes } = goal;
      return {
        name,
        handler,
        version: inFourParts(version),
        wireName,
        level,
        state,
        sequenceNumber,
        settings,
        sha256: bytes.sha256,
      };
    });
  return createHash('sha256').update(JSON.stringify(acted)).digest('base64url');
}
