import type { Context } from '#server/domain/context.ts';
import type { UnitVersions } from '#server/domain/service-rules/advance.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type FormulaVersionRow, requireFormula, type ServiceRow } from '../service-rows.ts';
import { planSettings, readSettings, type SettingsRow } from '../settings/plan-settings.ts';
import { hasStagedUnits } from './slot.ts';

/** What the units of a service in Staging get, if it is not what the service has. */
export interface StagedTarget {
  formula: FormulaVersionRow;
  settings: SettingsRow;
}

type Versions = Pick<ServiceRow, 'formulaVersion' | 'settingsVersion' | 'stagedVersion' | 'stagedSettingsVersion'>;

/** Returns the versions that the units of a service get in a slot. */
export const versionsOf = (service: Versions, staged: boolean): UnitVersions => ({
  formulaVersion: (staged ? service.stagedVersion : null) ?? service.formulaVersion,
  settingsVersion: (staged ? service.stagedSettingsVersion : null) ?? service.settingsVersion,
});

/** Returns the columns of a service for its units in Staging. */
export const stagedColumns = (staged: StagedTarget | null) => ({
  stagedVersion: staged?.formula.version ?? null,
  stagedSettingsVersion: staged?.settings.version ?? null,
});

/** A service as its staged units depend on it. `settings`: those of the service after the change. */
export interface StagingService {
  id: string;
  formula: string;
  formulaVersion: string;
  settings: SettingsRow;
  /** The newest version of the settings. */
  latest: number;
  /** What staged units have now; null for a new service. */
  current: Pick<ServiceRow, 'stagedVersion' | 'stagedSettingsVersion'> | null;
  /** Whether `settings` has other values than the staged units have. */
  isChanged: boolean;
}

/**
 * Returns what the staged units of a service get with a version: the settings with the defaults of that version. Returns
 * null for the service's own version. Throws what `requireFormula` and `planSettings` throw.
 */
export async function planStaged(
  ctx: Context,
  service: StagingService,
  version: string | null,
): Promise<StagedTarget | null> {
  const { id: serviceId, settings, current } = service;
  if (version === null) return null;
  const formula = await requireFormula(
    ctx.db,
    { formula: service.formula, version },
    current?.stagedVersion ?? undefined,
  );
  if (formula.version === service.formulaVersion && current?.stagedVersion !== version) return null;
  const kept = current?.stagedVersion === formula.version ? current.stagedSettingsVersion : null;
  if (kept !== null && !service.isChanged) {
    return { formula, settings: kept === settings.version ? settings : await readSettings(ctx.db, serviceId, kept) };
  }
  const latest = Math.max(service.latest, settings.version);
  return { formula, settings: await planSettings(ctx, { serviceId, current: settings, latest }, formula, {}) };
}

/** Returns what staged units get after a change of their service: their version, with the settings of the service. */
export async function keepStaged(
  ctx: Context,
  row: ServiceRow,
  { before, settings, latest }: { before: SettingsRow; settings: SettingsRow; latest: number },
): Promise<StagedTarget | null> {
  if (row.stagedVersion === null || !(await hasStagedUnits(ctx.db, row.id))) return null;
  const service = { ...row, settings, latest, current: row, isChanged: isOther(before, settings) };
  return planStaged(ctx, service, row.stagedVersion);
}

/** Whether an operator gave other settings. */
export const isOther = (before: SettingsRow, after: SettingsRow): boolean =>
  before.secretFingerprint !== after.secretFingerprint || canonicalJson(before.given) !== canonicalJson(after.given);
