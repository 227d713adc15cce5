import type { CommandTimeouts, ExtensionContents } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type DeclaredField, differingFields } from './differing-fields.ts';

export const protocolVersion = 1;

/** The defaults of AZ-G3: five minutes per command. */
export const defaultTimeouts: CommandTimeouts = {
  install: 300,
  update: 300,
  enable: 300,
  disable: 300,
  uninstall: 300,
};

/** The package data that rendering needs. */
export interface PackageFacts {
  sha256: string;
  size: number;
}

/** Protected settings in the form that the agent receives. */
export interface SealedFacts {
  cms: Buffer;
  thumbprint: string;
}

/**
 * Returns a strong ETag. The epoch changes when the database is restored, so an ETag from before the restore never
 * matches.
 */
export function etagOf(epoch: string, incarnation: number): string {
  return `"${epoch}.${incarnation}"`;
}

/** Renders the text that agents receive. It is stored with the goal state and never rendered again. */
export function renderGoalState(
  { vmId, incarnation, turn }: Required<Pick<GoalState, 'vmId' | 'incarnation' | 'turn'>>,
  contents: readonly ExtensionContents[],
  packages: ReadonlyMap<string, PackageFacts>,
  sealed: ReadonlyMap<string, SealedFacts>,
): string {
  const extensions = contents
    .filter((extension) => extension.secretId === null || sealed.has(extension.secretId))
    .map((extension) => {
      const facts = packages.get(packageKey(extension.handler, extension.version));
      if (!facts) throw new Error(`no package for ${extension.handler} ${extension.version}`);
      const secret = extension.secretId === null ? undefined : sealed.get(extension.secretId);
      return {
        name: extension.name,
        handler: extension.handler,
        version: extension.version,
        state: extension.state,
        sequenceNumber: extension.sequenceNumber,
        dependsOn: extension.dependsOn,
        timeouts: extension.timeouts,
        package: { sha256: facts.sha256, size: facts.size, url: `/agent/v1/packages/${facts.sha256}` },
        settings: {
          publicSettings: extension.publicSettings,
          ...(secret && {
            protectedSettings: secret.cms.toString('base64'),
            protectedSettingsCertThumbprint: secret.thumbprint,
          }),
        },
      };
    });
  return JSON.stringify({ protocol: protocolVersion, vmId, incarnation, turn, extensions });
}

export const packageKey = (handler: string, version: string): string => `${handler} ${version}`;

export { canonicalJson };

type Declared = Omit<ExtensionContents, 'sequenceNumber'>;

/** How a change to an extension affects the agent (docs/divergences.md, "Handler configuration"). */
export type Effect =
  /** Nothing differs, so there is no new goal state. */
  | 'none'
  /** The goal state differs, but the handler does not run again. */
  | 'incarnation'
  /** The extension is new, or its version, state or settings differ, so the handler runs. */
  | 'sequence';

/** Fields that make the handler run when they change. */
const runsHandler: readonly DeclaredField[] = ['version', 'state', 'secretId', 'publicSettings'];

/** Returns how a new declaration affects the agent. */
export function effectOf(before: Declared | undefined, after: Declared): Effect {
  if (!before) return 'sequence';
  const fields = differingFields(before, after);
  if (runsHandler.some((field) => fields.has(field))) return 'sequence';
  return fields.size > 0 ? 'incarnation' : 'none';
}
