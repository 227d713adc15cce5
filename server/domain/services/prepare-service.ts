import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { readModel } from '#server/domain/topology/index.ts';
import type { setServiceInput } from './input.ts';
import { type FormulaVersionRow, findService, requireFormula, requireLiving, type ServiceRow } from './service-rows.ts';
import { planSettings, readSettings, type SettingsRow } from './settings/plan-settings.ts';

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
}

/**
 * Checks a declaration: the formula's version, and the settings against its schema. Nothing is locked meanwhile. Throws
 * 404 `model_unknown` | `version_unknown`, 409 `service_dying` | `service_formula_fixed`, and the errors of
 * `requireFormula` and `planSettings`.
 */
export async function prepareService(ctx: Context, request: ServiceRequest): Promise<PreparedService> {
  const model = await readModel(ctx.db, request.model);
  const current = await findService(ctx.db, model.id, request.service);
  if (current !== undefined) {
    requireLiving(current);
    if (request.formula !== current.formula) {
      throw new DomainError('conflict', 'service_formula_fixed', { params: { formula: current.formula } });
    }
  }
  const formula = await requireFormula(ctx.db, request, current?.formulaVersion);
  const before = current === undefined ? null : await readSettings(ctx.db, current.id, current.settingsVersion);
  const serviceId = current?.id ?? uuid();
  const settings = await planSettings(ctx, { serviceId, current: before }, formula, request);
  return { serviceId, current, formula, before, settings };
}

/** Whether the checks are still valid for the service as it is now. */
export function isStillValid({ current }: PreparedService, now: ServiceRow | undefined): boolean {
  const facts = (row: ServiceRow | undefined) => row && [row.id, row.formulaVersion, row.settingsVersion].join();
  return facts(current) === facts(now);
}
