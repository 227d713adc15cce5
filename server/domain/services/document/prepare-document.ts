import { v7 as uuid } from 'uuid';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { PreparedService } from '../prepare-service.ts';
import { type FormulaVersionRow, requireFormula, requireLiving } from '../service-rows.ts';
import { type GivenServiceSettings, planSettings } from '../settings/plan-settings.ts';
import { isOther, planStaged } from '../staging/staged-target.ts';
import { at } from './model-plan.ts';
import type { ModelServiceState, ModelState } from './read-state.ts';
import type { DocumentService, ModelDocument } from './schema.ts';

/** The services of a document after their checks, and every fault that the checks found. */
export interface PreparedDocument {
  services: Map<string, PreparedService>;
  faults: Fault[];
}

/**
 * Checks each service of a document: its formula’s version, and its settings against the schema. Nothing is locked
 * meanwhile, because the checks wait for a worker.
 */
export async function prepareDocument(
  ctx: Context,
  { document, prune, state }: { document: ModelDocument; prune: boolean; state: ModelState | null },
): Promise<PreparedDocument> {
  const prepared: PreparedDocument = { services: new Map(), faults: [] };
  const formulas = new Map<string, Promise<FormulaVersionRow>>();
  for (const [name, service] of Object.entries(document.services)) {
    const current = state?.services.get(name);
    const read = () => requireFormula(ctx.db, service, current?.row.formulaVersion);
    const key = canonicalJson([service.formula, service.version, current?.row.formulaVersion ?? null]);
    const formula = formulas.get(key) ?? read();
    formulas.set(key, formula);
    try {
      const checked = await prepareService(ctx, { service, current, prune, formula });
      const hasStaged = isInStaging(state, name);
      const staged = await prepareStaged(ctx, { service, current, hasStaged, checked });
      prepared.services.set(name, { ...checked, staged });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      prepared.faults.push(...faultsOf(error, name));
    }
  }
  return prepared;
}

async function prepareService(
  ctx: Context,
  given: {
    service: DocumentService;
    current: ModelServiceState | undefined;
    prune: boolean;
    formula: Promise<FormulaVersionRow>;
  },
): Promise<Omit<PreparedService, 'staged'>> {
  const { service, current, prune } = given;
  const formula = await given.formula;
  const before = current?.settings ?? null;
  if (current !== undefined) {
    requireLiving(current.row);
    if (formula.handler !== current.row.formula) {
      throw new DomainError('unprocessable', 'service_formula_fixed', { params: { formula: current.row.formula } });
    }
  }
  const serviceId = current?.row.id ?? uuid();
  const wanted = wantedSettings(service, prune, before?.secret != null);
  const isSame =
    before !== null &&
    before.formulaVersion === formula.version &&
    wanted.protectedSettings === undefined &&
    (wanted.settings === undefined || canonicalJson(wanted.settings) === canonicalJson(before.given));
  const settings = isSame
    ? before
    : await planSettings(ctx, { serviceId, current: before, latest: current?.latest }, formula, wanted);
  return { serviceId, current: current?.row, formula, before, settings };
}

const isInStaging = (state: ModelState | null, name: string): boolean =>
  state?.units.some((unit) => unit.service === name && unit.isStaged && unit.life === 'alive') === true;

/** Checks the version of the units of a service in Staging. A document without one keeps it. */
async function prepareStaged(
  ctx: Context,
  given: {
    service: DocumentService;
    current: ModelServiceState | undefined;
    hasStaged: boolean;
    checked: Omit<PreparedService, 'staged'>;
  },
): Promise<PreparedService['staged']> {
  const { service, current, hasStaged, checked } = given;
  const { serviceId: id, formula, before, settings } = checked;
  const kept = hasStaged ? (current?.row.stagedVersion ?? null) : null;
  const version = service.staging === undefined ? kept : (service.staging.version ?? null);
  const isChanged = before === null || isOther(before, settings);
  const latest = current?.latest ?? 0;
  const staging = { id, formula: formula.handler, formulaVersion: formula.version, settings, latest, isChanged };
  try {
    return await planStaged(ctx, { ...staging, current: current?.row ?? null }, version);
  } catch (error) {
    if (!(error instanceof DomainError) || error.faults.length > 0) throw error;
    const path = at('staging', 'version');
    throw new DomainError(error.kind, 'invalid', { faults: [{ path, code: error.code, params: error.params }] });
  }
}

/** Returns what a document says about settings. With `prune`, what it leaves out is removed. */
function wantedSettings(
  { settings, protectedSettings }: DocumentService,
  prune: boolean,
  hasSecret: boolean,
): GivenServiceSettings {
  const given = settings ?? (prune ? {} : undefined);
  if (protectedSettings === 'kept') {
    if (!hasSecret) throw new DomainError('unprocessable', 'document_secret_missing');
    return { settings: given };
  }
  const [open] = Object.entries(protectedSettings ?? {}).filter(([name, value]) => isReference(name, value));
  if (open !== undefined) throw new DomainError('unprocessable', 'document_secret_open');
  const isRemoved = protectedSettings === null || (protectedSettings === undefined && prune);
  return { settings: given, protectedSettings: isRemoved ? (hasSecret ? null : undefined) : protectedSettings };
}

/** Whether a value names a variable of the client, such as `{ from: "env:PASSWORD" }`. Only the client knows its value. */
function isReference(name: string, value: unknown): boolean {
  const from = name === 'from' ? value : typeof value === 'object' && value !== null && 'from' in value && value.from;
  return typeof from === 'string' && from.startsWith('env:');
}

const places: Partial<Record<DomainError['code'], string>> = {
  ...{ service_formula_fixed: 'formula', version_is_handler: 'formula' },
  ...{ version_unknown: 'version', version_draft: 'version', version_withdrawn: 'version' },
  ...{ protected_needs_custody: 'protectedSettings', document_secret_missing: 'protectedSettings' },
  document_secret_open: 'protectedSettings',
};

/** Converts a rejected check of a service to faults of the document. */
function faultsOf({ code, params, faults }: DomainError, service: string): Fault[] {
  const root = at('services', service);
  if (faults.length > 0) return faults.map((fault) => ({ ...fault, path: root + fault.path }));
  const place = places[code];
  return [{ path: place === undefined ? root : root + at(place), code, params }];
}
