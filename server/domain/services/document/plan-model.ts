import type { Fault } from '#server/domain/error.ts';
import { availabilitySetsByDefault, planBootstrap } from '#server/domain/topology-rules/models.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { numberAtOnce } from '../change-service.ts';
import type { PreparedService } from '../prepare-service.ts';
import { isDeclared, machinesWithoutUnits } from './document-of.ts';
import { at, type Desired, type ModelPlan, type PlannedRemovals, type PlannedService } from './model-plan.ts';
import { planRelations } from './plan-relations.ts';
import { planUnits } from './plan-units.ts';
import type { ModelServiceState, ModelState } from './read-state.ts';
import type { DocumentService } from './schema.ts';

/**
 * Returns what applying a document to a model does, and why it cannot be applied. Pure: the same model and the same
 * document always give the same plan. `state` is null if the model does not exist yet.
 */
export function planModel(state: ModelState | null, desired: Desired): ModelPlan {
  const { document, prune } = desired;
  const isBootstrapped = state !== null && state.model.bootstrappedAt !== null;
  const mode = state?.model.availabilitySetsEnabled ?? document.availabilitySetsEnabled ?? availabilitySetsByDefault;
  const bootstraps = isBootstrapped ? null : (document.controllers ?? 0);
  const nextMachine = (state?.model.machineCounter ?? 0) + (bootstraps ?? 0);
  const { surplus: units, ...unitPlan } = planUnits(desired, { state, isPlacing: !mode, nextMachine });
  const { surplus: relations, ...relationPlan } = planRelations(desired, state);
  const left = { ...leftOut(state, desired), units };
  const inRemoved = new Set(left.services.flatMap((service) => service.relations.map(({ id }) => id)));
  const used = new Set(unitPlan.units.map(({ machine }) => machine));
  return {
    creates: state === null,
    bootstraps,
    services: plannedServices(state, desired, prune),
    machines: unitPlan.machines,
    units: unitPlan.units,
    relations: relationPlan.relations,
    left: {
      ...left,
      relations: relations.filter(({ id }) => !inRemoved.has(id)),
      machines: left.machines.filter((machine) => !used.has(machine)),
    },
    faults: [...placeFaults(state, desired, bootstraps), ...unitPlan.faults, ...relationPlan.faults],
  };
}

/** Whether a plan changes nothing. */
export const isEmpty = (
  { creates, bootstraps, services, machines, units, relations, left }: ModelPlan,
  prune: boolean,
) =>
  !creates &&
  bootstraps === null &&
  [services, machines, units, relations].every(({ length }) => length === 0) &&
  (!prune || Object.values(left).every(({ length }) => length === 0));

/** Rejects what cannot change after the bootstrap, and a bootstrap that would fail. */
function placeFaults(state: ModelState | null, { document, place }: Desired, bootstraps: number | null): Fault[] {
  const faults: Fault[] = [];
  if (state !== null) {
    const { model, machines } = state;
    const controllers = machines.filter(({ isController }) => isController).length;
    const fixed = {
      location: model.location,
      storageAccount: model.storageAccount,
      ...(bootstraps === null && document.controllers !== undefined && { controllers }),
    };
    for (const [name, value] of Object.entries(fixed)) {
      if (document[name as keyof typeof fixed] !== value) faults.push({ path: at(name), code: 'document_fixed' });
    }
    if ((document.availabilitySetsEnabled ?? model.availabilitySetsEnabled) !== model.availabilitySetsEnabled) {
      faults.push({ path: at('availabilitySetsEnabled'), code: 'availability_sets_frozen' });
    }
  }
  if (bootstraps === null) return faults;
  const { location, storageAccount: account } = document;
  const plan = planBootstrap({ ...place, location, hasNetwork: false }, bootstraps);
  if ('creates' in plan) return faults;
  const isAccount = plan.refusal === 'storage_account_unknown';
  const params = 'params' in plan ? plan.params : { account };
  return [...faults, { path: at(isAccount ? 'storageAccount' : 'location'), code: plan.refusal, params }];
}

/** Returns the services to deploy or to change. */
function plannedServices(state: ModelState | null, { document, prepared }: Desired, prune: boolean): PlannedService[] {
  return Object.entries(document.services).flatMap(([name, service]): PlannedService[] => {
    const checked = prepared.get(name);
    if (checked === undefined) return [];
    const current = state?.services.get(name) ?? null;
    const stage = stageOf(name, service, checked, { state, current });
    const planned = { name, fields: fieldsOf(service, prune), prepared: checked, current, stage };
    return current === null || isChanged(planned) ? [planned] : [];
  });
}

/** Returns the version that the units of a service in Staging get, if it is another one. */
function stageOf(
  name: string,
  { staging }: DocumentService,
  { formula, staged }: PreparedService,
  { state, current }: { state: ModelState | null; current: ModelServiceState | null },
): PlannedService['stage'] {
  const living = state?.units.filter((unit) => unit.service === name && unit.isStaged && unit.life === 'alive') ?? [];
  if ((staging?.units ?? living.length) === 0) return null;
  const to = staged?.formula.version ?? formula.version;
  const before =
    current === null || living.length === 0 ? null : (current.row.stagedVersion ?? current.row.formulaVersion);
  return to === (before ?? formula.version) ? null : { from: before, to, units: living.map((unit) => unit.name) };
}

/** Returns the fields that a document sets. With `prune`, fields that it leaves out have their defaults. */
export function fieldsOf(
  { exposed, timeouts, upgrade, configure }: DocumentService,
  prune: boolean,
): PlannedService['fields'] {
  if (!prune) return { exposed, timeouts, upgrade, configure };
  const one = { atOnce: 1 };
  return {
    ...{ exposed: exposed ?? false, timeouts: timeouts ?? {} },
    ...{ upgrade: upgrade ?? one, configure: configure ?? one },
  };
}

/** Returns which parts of a service a document changes. */
export function changesOf({ fields, prepared, current, stage }: PlannedService) {
  if (current === null) throw new Error('a new service has no changes');
  const { row } = current;
  return {
    version: prepared.formula.version !== row.formulaVersion,
    stage: stage !== null,
    settings: prepared.settings.version !== current.settings.version,
    exposed: fields.exposed !== undefined && fields.exposed !== row.exposed,
    timeouts: fields.timeouts !== undefined && canonicalJson(fields.timeouts) !== canonicalJson(row.timeouts),
    upgrade: numberAtOnce(fields.upgrade, row.atOnceUpgrade) !== row.atOnceUpgrade,
    configure: numberAtOnce(fields.configure, row.atOnceConfigure) !== row.atOnceConfigure,
  };
}

const isChanged = (planned: PlannedService): boolean => Object.values(changesOf(planned)).includes(true);

/** Returns services and machines that the document leaves out. */
function leftOut(state: ModelState | null, { document }: Desired): Pick<PlannedRemovals, 'services' | 'machines'> {
  if (state === null) return { services: [], machines: [] };
  const { model, services, units, relations } = state;
  const isOut = ({ row }: { row: { name: string; life: string } }) =>
    row.life === 'alive' && !Object.hasOwn(document.services, row.name);
  const listed = new Set(document.machines);
  return {
    services: [...services.values()].filter(isOut).map(({ row: { name } }) => ({
      name,
      units: units.filter((unit) => unit.service === name && unit.life === 'alive').map((unit) => unit.name),
      relations: relations.filter((one) => isDeclared(one) && one.endpoints.some(({ service }) => service === name)),
    })),
    machines: model.availabilitySetsEnabled
      ? []
      : machinesWithoutUnits(state).filter((machine) => !listed.has(machine)),
  };
}
