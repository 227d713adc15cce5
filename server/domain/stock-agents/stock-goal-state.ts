import { createHash } from 'node:crypto';
import { dependencyLevels, type GoalState, type GoalStateExtension, parseVersion } from '#protocol/index.ts';

/** One extension for a stock agent. */
export interface StockExtension {
  /** As in the goal state. */
  goal: GoalStateExtension;
  /** As published, or with four parts if the agent needs them. */
  version: string;
  /** Its name within the handler; null if the handler supports one extension only. */
  wireName: string | null;
  /** The length of the longest chain of dependencies below it. */
  level: number;
  reportsHeartbeat: boolean;
}

/** What the wire needs of a handler's version. */
export interface HandlerFacts {
  reportsHeartbeat: boolean;
  supportsMultipleExtensions: boolean;
}

/** `1.2` → `1.2.0.0`; any other text unchanged. */
export function inFourParts(version: string): string {
  const parts = parseVersion(version);
  return parts === null ? version : [0, 1, 2, 3].map((index) => parts[index] ?? 0).join('.');
}

/** A name of letters, digits and `_`, which is all that the agent accepts; a replaced name stays unique. */
export function wireNameOf(name: string): string {
  if (/^\w+$/.test(name)) return name;
  const tail = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.replace(/\W/g, '_')}_${tail}`;
}

/** The goal state with the additional data of the wire. */
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
 * Fingerprint of everything that the agent acts on. Without extensions that are being uninstalled: when they leave the
 * goal state, the agent would run every other handler again.
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
