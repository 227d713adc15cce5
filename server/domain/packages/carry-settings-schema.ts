import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions } from '#db/schema/index.ts';
import type { VersionRow } from './find-version.ts';

/**
 * Copies the settings schema of `source` to a locked draft that has none, and stores where it comes from. Returns
 * whether there was a schema to copy. `carryOver` in localization records the activity entry.
 */
export async function carrySettingsSchema(
  tx: Transaction,
  { handler, version }: VersionRow,
  source: VersionRow,
): Promise<boolean> {
  if (source.settingsSchema === null) return false;
  const copied = await tx
    .update(handlerVersions)
    .set({ settingsSchema: source.settingsSchema, settingsSchemaFrom: source.version })
    .where(
      and(
        eq(handlerVersions.handler, handler),
        eq(handlerVersions.version, version),
        eq(handlerVersions.state, 'draft'),
        isNull(handlerVersions.settingsSchema),
      ),
    )
    .returning({ version: handlerVersions.version });
  return copied.length > 0;
}
