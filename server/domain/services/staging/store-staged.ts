import type { Transaction } from '#db/client.ts';
import { serviceSettings } from '#db/schema/index.ts';
import type { ServiceRow } from '../service-rows.ts';
import type { SettingsRow } from '../settings/plan-settings.ts';
import type { StagedTarget } from './staged-target.ts';

/** Stores the settings of staged units if they are new. `settings`: those of the service, which are stored. */
export async function insertStaged(
  tx: Transaction,
  { stagedSettingsVersion }: Pick<ServiceRow, 'stagedSettingsVersion'>,
  { staged, settings }: { staged: StagedTarget | null; settings: Pick<SettingsRow, 'version'> },
): Promise<void> {
  if (staged === null) return;
  const { version } = staged.settings;
  if (version === settings.version || version === stagedSettingsVersion) return;
  await tx.insert(serviceSettings).values(staged.settings);
}
