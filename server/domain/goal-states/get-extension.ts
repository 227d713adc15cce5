import { and, eq } from 'drizzle-orm';
import { type CommandTimeouts, extensions, goalStateHeads, secrets } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { secretStateOf } from './custody.ts';
import { type GetExtensionInput, getExtensionInput } from './input.ts';

/** The declaration of one extension for its editor; of secrets only when and by whom they were changed. */
export interface ExtensionView {
  vmId: string;
  name: string;
  handler: string;
  version: string;
  requestedVersion: string;
  state: 'enabled' | 'disabled' | 'uninstall';
  autoUpgradeMinorVersion: boolean;
  dependsOn: string[];
  timeouts: CommandTimeouts;
  publicSettings: Record<string, unknown>;
  protectedSettings: {
    changedAt: string;
    changedBy: string;
    /** They must be entered again: the old ones cannot be read. */
    needsSecrets: boolean;
    /** They are withheld from the machine's key until an admin releases them. */
    needsRelease: boolean;
  } | null;
  sequenceNumber: number;
  incarnation: number;
  changedAt: string;
  changedBy: string;
}

/** Reads the declaration of one extension. Throws 404 `extension_absent`. */
export async function getExtension(ctx: Context, input: GetExtensionInput): Promise<ExtensionView> {
  allow(ctx.actor, 'operator');
  const { vmId, name } = parse(getExtensionInput, input);
  const [row] = await ctx.db
    .select({ extension: extensions, secret: secrets, head: goalStateHeads })
    .from(extensions)
    .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
    .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
  if (!row) throw new DomainError('not_found', 'extension_absent');
  const { extension, secret, head } = row;
  const state = secret && secretStateOf(secret, head);
  return {
    vmId,
    name,
    handler: extension.handler,
    version: extension.version,
    requestedVersion: extension.requestedVersion,
    state: extension.state,
    autoUpgradeMinorVersion: extension.autoUpgradeMinorVersion,
    dependsOn: extension.dependsOn,
    timeouts: extension.timeouts,
    publicSettings: extension.publicSettings,
    protectedSettings: secret && {
      changedAt: secret.changedAt.toISOString(),
      changedBy: secret.changedBy,
      needsSecrets: state === 'needsSecrets',
      needsRelease: state === 'needsRelease',
    },
    sequenceNumber: extension.sequenceNumber,
    incarnation: head.incarnation,
    changedAt: extension.changedAt.toISOString(),
    changedBy: extension.changedBy,
  };
}
