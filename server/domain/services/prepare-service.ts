import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { readModel } from '#server/domain/topology/index.ts';
import type { setServiceInput } from './input.ts';
import { type FormulaVersionRow, findService, requireFormula, requireLiving, type ServiceRow } from './service-rows.ts';
import { latestSettings, planSettings, readSettings, type SettingsRow } from './settings/plan-settings.ts';
import { keepStaged, type StagedTarget } from './staging/staged-target.ts';

export type ServiceRequest = z.output<typeof setServiceInput>;

/** What a declaration leads to, checked before its transaction. */
export interface PreparedService {
  serviceId: string;
  /** The service as it was during the checks; undefined for a new one. */
  current: ServiceRow | undefined;
  formula: FormulaVersionRow;
  /** The settings before and after; `before` is null for a new service. */
  before: SettingsRow | null;
  settings: SettingsRow;
  /** What staged units get; null if they get what the service has. */
  staged: StagedTarget | null;
}

/**
 * Checks a declaration: the formula's version, and the settings against its schema. Nothing is locked meanwhile. Throws
 * 404 `model_unknown` | `version_unknown`, 409 `service_dying` | `service_exists` | `service_formula_fixed`, and the
 * errors of `requireFormula` and `planSettings`.
 */
export async function prepareService(ctx: Context, request: ServiceRequest): Promise<PreparedService> {
  const model = await readModel(ctx.db, request.model);
  const current = await findService(ctx.db, model.id, request.service);
  if (current !== undefined) {
    requireLiving(current);
    if (request.isNew) throw new DomainError('conflict', 'service_exists', { params: { name: current.name } });
    if (request.formula !== current.formula) {
      throw new DomainError('conflict', 'service_formula_fixed', { params: { formula: current.formula } });
    }
  }
  const formula = await requireFormula(ctx.db, request, current?.formulaVersion);
  const before = current === undefined ? null : await readSettings(ctx.db, current.id, current.settingsVersion);
  const serviceId = current?.id ?? uuid();
  const latest = await latestSettings(ctx.db, serviceId);
  const settings = await planSettings(ctx, { serviceId, current: before, latest }, formula, request);
  const isNew = current === undefined || before === null;
  const after = { ...current, formulaVersion: formula.version } as ServiceRow;
  const staged = isNew ? null : await keepStaged(ctx, after, { before, settings, latest });
  return { serviceId, current, formula, before, settings, staged };
}

/** Whether the checks are still valid for the service as it is now. */
export function isStillValid({ current }: Pick<PreparedService, 'current'>, now: ServiceRow | undefined): boolean {
  const facts = (row: ServiceRow | undefined) =>
    row && [row.id, ...[row.formulaVersion, row.settingsVersion, row.stagedVersion, row.stagedSettingsVersion]].join();
  return facts(current) === facts(now);
}
