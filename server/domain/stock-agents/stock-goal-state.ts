import { createHash } from 'node:crypto';
import { dependencyLevels, type GoalState, type GoalStateExtension, parseVersion } from '#protocol/index.ts';

/** An extension in the form that a stock agent needs. */
export interface StockExtension {
  /** The extension as in the goal state. */
  goal: GoalStateExtension;
  /** The version as published, or with four parts if the agent needs them. */
  version: string;
  /** The extension's name within the handler; null if the handler supports only one extension. */
  wireName: string | null;
  /** The length of the extension's longest chain of dependencies. */
  level: number;
  reportsHeartbeat: boolean;
}

/** The facts about a handler version that `/wire` needs. */
export interface HandlerFacts {
  reportsHeartbeat: boolean;
  supportsMultipleExtensions: boolean;
}

/** Adds parts to a version: `1.2` becomes `1.2.0.0`. Returns text that is not a version unchanged. */
export function inFourParts(version: string): string {
  const parts = parseVersion(version);
  return parts === null ? version : [0, 1, 2, 3].map((index) => parts[index] ?? 0).join('.');
}

/**
 * Returns a name of letters, digits and `_`, because the agent accepts nothing else. A name that had to be changed
 * remains unique.
 */
export function wireNameOf(name: string): string {
  if (/^\w+$/.test(name)) return name;
  const tail = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.replace(/\W/g, '_')}_${tail}`;
}

/** Returns the extensions of the goal state with the additional data that a stock agent needs. */
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
 * Returns a fingerprint of everything that the agent acts on. Extensions that are being uninstalled are not included,
 * because otherwise the agent would run every other handler again when they leave the goal state.
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
