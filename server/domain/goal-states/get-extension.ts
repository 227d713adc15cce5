import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { extensions, goalStateHeads, handlerVersions, secrets } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { secretStateOf } from './custody.ts';
import { autoUpgradeMinorVersion, timeouts } from './goal.ts';
import { type GetExtensionInput, getExtensionInput } from './input.ts';
import { mergeObstacle } from './merge-settings.ts';
import { namedSettings } from './named-settings.ts';
import { extensionReceipt } from './set-extension.ts';
import { definedSettings } from './setting-entries.ts';

/**
 * The declaration of one extension for its editor. Of the protected settings, it contains the names, who last changed
 * them and when, and whether they can be delivered, but no values.
 */
export const extensionView = extensionReceipt.extend({
  autoUpgradeMinorVersion,
  dependsOn: z.array(z.string()),
  timeouts,
  publicSettings: z.record(z.string(), z.unknown()),
  protectedSettings: z
    .object({
      changedAt: time,
      changedBy: z.string(),
      /** Whether the protected settings must be entered again, because no copy of them is left. */
      needsSecrets: z.boolean(),
      /** Whether the protected settings are withheld from the machine's key until an admin releases them. */
      needsRelease: z.boolean(),
      /** The individual settings whose names can be shown, without their values. */
      settings: z.array(z.object({ name: z.string(), changedAt: time, changedBy: z.string() })),
      /** Number of other settings, whose names cannot be shown. */
      unnamed: count,
      /** Why individual settings cannot be changed: the code of the error; null if they can be changed. */
      obstacle: z.enum(['secrets_custody', 'secrets_not_object', 'secrets_withheld']).nullable(),
    })
    .nullable(),
  changedAt: time,
  changedBy: z.string(),
});
export type ExtensionView = z.infer<typeof extensionView>;

/** Reads the declaration of one extension. Throws 404 `extension_absent`. */
export async function getExtension(ctx: Context, input: GetExtensionInput): Promise<ExtensionView> {
  allow(ctx.actor, 'operator');
  const { vmId, name } = parse(getExtensionInput, input);
  const [row] = await ctx.db
    .select({ extension: extensions, secret: secrets, head: goalStateHeads, schema: handlerVersions.settingsSchema })
    .from(extensions)
    .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
    .leftJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, extensions.handler), eq(handlerVersions.version, extensions.version)),
    )
    .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
  if (!row) throw new DomainError('not_found', 'extension_absent');
  const { extension, secret, head, schema } = row;
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
      ...namedSettings(ctx, secret, definedSettings(schema)),
      obstacle: mergeObstacle(ctx, secret, head),
    },
    sequenceNumber: extension.sequenceNumber,
    incarnation: head.incarnation,
    changedAt: extension.changedAt.toISOString(),
    changedBy: extension.changedBy,
  };
}
