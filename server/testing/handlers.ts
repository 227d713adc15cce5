import { randomBytes } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { handlers, handlerVersions, publishers, type SettingsSchema, type VersionState } from '#db/schema/index.ts';
import { parseHandlerId, versionKey } from '#protocol/index.ts';
import type { Platform } from '#protocol/platform.ts';

export interface GivenVersion {
  handler?: string;
  version?: string;
  state?: VersionState;
  supportsMultipleExtensions?: boolean;
  updateMode?: string;
  reportHeartbeat?: boolean;
  settingsSchema?: SettingsSchema;
  platforms?: Platform[];
}

/** Registers a handler version without its package's bytes, for tests that only need it to exist. */
export async function givenVersion(
  db: Database,
  given: GivenVersion = {},
): Promise<{ handler: string; version: string }> {
  const { handler = 'Acme.Lab.Probe', version = '1.0.0.0', state = 'published' } = given;
  const identity = parseHandlerId(handler);
  const key = versionKey(version);
  if (!identity || key === null) throw new Error('not a handler version');
  const createdAt = new Date();
  await db
    .insert(publishers)
    .values({ namespace: identity.namespace, displayName: identity.namespace, createdAt })
    .onConflictDoNothing();
  await db
    .insert(handlers)
    .values({ id: handler, ...identity, createdAt })
    .onConflictDoNothing();
  await db.insert(handlerVersions).values({
    handler,
    version,
    versionKey: key,
    state,
    sha256: randomBytes(32).toString('hex'),
    size: 1234,
    manifest: {
      version: 1,
      handlerManifest: {
        installCommand: 'install.sh',
        uninstallCommand: 'uninstall.sh',
        updateCommand: 'update.sh',
        enableCommand: 'enable.sh',
        disableCommand: 'disable.sh',
        rebootAfterInstall: false,
        reportHeartbeat: given.reportHeartbeat ?? true,
        supportsMultipleExtensions: given.supportsMultipleExtensions ?? false,
        ...(given.updateMode !== undefined && { updateMode: given.updateMode }),
      },
    },
    manifestText: '[]',
    files: [],
    warnings: [],
    settingsSchema: given.settingsSchema ?? null,
    platforms: given.platforms ?? null,
    createdAt,
    createdBy: 'test',
    publishedAt: state === 'draft' ? null : createdAt,
  });
  return { handler, version };
}
