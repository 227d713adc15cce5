import type { Context } from '#server/domain/context.ts';
import { availabilitySetsByDefault } from '#server/domain/topology-rules/models.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest } from '#server/platform/keys.ts';
import { numberAtOnce } from '../change-service.ts';
import { endpointsOf } from './document-of.ts';
import {
  at,
  type Desired,
  type ModelPlan,
  type PlannedRemovals,
  type PlannedService,
  type PlannedUnit,
} from './model-plan.ts';
import { changesOf } from './plan-model.ts';
import type { DocumentPlan, PlanAct } from './plan-view.ts';
import type { ModelState, RelationState } from './read-state.ts';

/** Returns a plan without its hooks as the API shows it. */
export function showPlan(
  ctx: Pick<Context, 'keys'>,
  state: ModelState | null,
  desired: Desired,
  plan: ModelPlan,
): Omit<DocumentPlan, 'hooks'> {
  const { document, prune } = desired;
  const acts = actsOf(state, desired, plan);
  const left = shownLeft(plan.left);
  const machines = [
    ...plan.machines.map(({ machine }) => machine),
    ...plan.units.filter((unit) => unit.isNewMachine && !unit.isChosen).map(({ machine }) => machine),
  ];
  const effect = { model: document.model, prune, acts, left, machines };
  const warnings = warningsOf(state, plan);
  return { ...effect, revision: state?.model.revision ?? null, warnings, planHash: hashOf(ctx, state, effect) };
}

/**
 * Returns a digest of everything that an apply changes. Units of the model are a part of it, so a plan is out of date
 * when another person adds a unit.
 */
function hashOf({ keys }: Pick<Context, 'keys'>, state: ModelState | null, effect: { acts: PlanAct[] }): string {
  // The model is created and bootstrapped before the transaction that applies the rest.
  const acts = effect.acts.filter(({ kind }) => kind !== 'createModel' && kind !== 'bootstrap');
  const units = state?.units.map(({ name, life, isStaged }) => `${name} ${life}${isStaged ? ' staged' : ''}`) ?? [];
  return keyedDigest(keys.plan, 'document', canonicalJson({ ...effect, acts, units })).toString('base64url');
}

function actsOf(state: ModelState | null, { document }: Desired, plan: ModelPlan): PlanAct[] {
  const { availabilitySetsEnabled = availabilitySetsByDefault } = document;
  const added = Map.groupBy(plan.units, ({ service, isStaged }) => (isStaged ? `${service} staged` : service));
  return [
    ...(plan.creates ? [{ kind: 'createModel' as const, path: at('model'), availabilitySetsEnabled }] : []),
    ...(plan.bootstraps === null
      ? []
      : [{ kind: 'bootstrap' as const, path: at('model'), controllers: plan.bootstraps }]),
    ...plan.services.flatMap((service) => serviceActs(state, service)),
    ...plan.machines.map(({ machine, path }): PlanAct => ({ kind: 'addMachine', path, machine })),
    ...[...added.values()].flatMap(unitsAct),
    ...plan.relations.map((relation): PlanAct => ({ kind: 'relate', ...relation })),
  ];
}

function unitsAct(units: readonly PlannedUnit[]): PlanAct[] {
  const [first] = units;
  if (first === undefined) return [];
  const { service, isStaged } = first;
  return [
    {
      ...{ kind: 'addUnits', service, slot: isStaged ? 'staging' : 'production' },
      path: at('services', service, ...(isStaged ? ['staging'] : []), 'units'),
      units: units.map(({ unit, machine, isNewMachine, cloudService }) => {
        return { unit, machine, isNewMachine, cloudService };
      }),
    },
  ];
}

function serviceActs(state: ModelState | null, planned: PlannedService): PlanAct[] {
  const { name: service, fields, prepared, current } = planned;
  const { formula, before, settings } = prepared;
  const { stage } = planned;
  const path = at('services', service);
  const staged: PlanAct[] =
    stage === null
      ? []
      : [
          {
            ...{ kind: 'stage', service, path: at('services', service, 'staging', 'version'), ...stage },
            atOnce: numberAtOnce(fields.upgrade, current?.row.atOnceUpgrade ?? 1),
          },
        ];
  if (current === null || before === null) {
    const { handler, version } = formula;
    return [{ kind: 'deploy', service, path, formula: handler, version, exposed: fields.exposed ?? false }, ...staged];
  }
  const { row } = current;
  const changes = changesOf(planned);
  const units = state?.units.filter((unit) => unit.service === service && unit.life === 'alive') ?? [];
  const names = units.map(({ name }) => name);
  const isSecretChanged = before.secretFingerprint !== settings.secretFingerprint;
  const limits = (['timeouts', 'upgrade', 'configure'] as const).filter((field) => changes[field]);
  const acts: (PlanAct | false)[] = [
    changes.settings && {
      ...{ kind: 'settings', service, path: at('services', service, 'settings'), units: names },
      ...{ from: before.version, to: settings.version, changes: differences(before.given, settings.given) },
      protectedSettings: isSecretChanged ? (settings.secret === null ? 'removed' : 'set') : null,
      atOnce: numberAtOnce(fields.configure, row.atOnceConfigure),
    },
    changes.version && {
      ...{ kind: 'upgrade', service, path: at('services', service, 'version') },
      units: units.filter(({ isStaged }) => !isStaged).map(({ name }) => name),
      ...{ from: row.formulaVersion, to: formula.version },
      atOnce: numberAtOnce(fields.upgrade, row.atOnceUpgrade),
    },
    limits.length > 0 && { kind: 'limits', service, path: at('services', service), fields: limits },
    changes.exposed && {
      ...{ kind: 'expose', service, path: at('services', service, 'exposed'), exposed: fields.exposed ?? false },
    },
  ];
  return [...acts.filter((act) => act !== false), ...staged];
}

/** Returns the keys whose values differ. A key that one side lacks has no value there. */
function differences(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .filter(
      (key) =>
        canonicalJson([before[key] ?? null, key in before]) !== canonicalJson([after[key] ?? null, key in after]),
    )
    .map((key) => ({ key, before: before[key], after: after[key] }));
}

const shownRelation = (relation: RelationState) => ({ number: relation.number, endpoints: endpointsOf(relation) });

const shownLeft = ({ services, units, relations, machines }: PlannedRemovals): DocumentPlan['left'] => ({
  services: services.map(({ name, units: all, relations: own }) => ({
    ...{ service: name, units: all },
    relations: own.map(shownRelation),
  })),
  units: units.map(({ name }) => name),
  relations: relations.map(shownRelation),
  machines,
});

/** Returns the units that change although a hook of theirs fails now. */
function warningsOf(state: ModelState | null, { services }: ModelPlan): DocumentPlan['warnings'] {
  const changed = new Set(services.map(({ name }) => name));
  return (state?.units ?? [])
    .filter(({ isFailing, life, service }) => isFailing && life === 'alive' && changed.has(service))
    .map(({ name, service }) => ({ code: 'unit_failing', unit: name, path: at('services', service) }));
}
