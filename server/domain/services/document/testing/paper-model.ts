import { type FormulaManifest, readMetadata } from '#protocol/formula.ts';
import { newUnitRecord, type UnitRecord } from '#protocol/unit-record.ts';
import { lab } from '#server/domain/topology/testing/stage.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { PreparedService } from '../../prepare-service.ts';
import type { Desired } from '../model-plan.ts';
import { planHooks, type WorkOfUnits } from '../plan-hooks.ts';
import { planModel } from '../plan-model.ts';
import type { ModelState, RelationState } from '../read-state.ts';
import { type ModelDocument, modelDocument } from '../schema.ts';
import { showPlan } from '../show-plan.ts';

type ServiceOnPaper = NonNullable<ReturnType<ModelState['services']['get']>>;
type UnitOnPaper = ModelState['units'][number];

const store = { interface: 'store' };
const sides = {
  web: { requires: { db: { ...store, limit: 1 } }, provides: { site: { interface: 'http' } } },
  store: { provides: { db: store } },
  proxy: { requires: { site: { interface: 'http' } } },
  cache: { peers: { ring: { interface: 'ring' } } },
};
const hooks = [
  ...['install', 'config-changed', 'start', 'stop', 'upgrade-formula'],
  ...['db-relation-joined', 'db-relation-departed', 'db-relation-broken', 'ring-relation-joined'],
];

function manifestOf(formula: string): FormulaManifest {
  const read = readMetadata({ name: formula, ...sides[formula as keyof typeof sides] });
  if ('faults' in read) throw new Error(`${formula} is not a formula`);
  return { ...read.metadata, hooks };
}

/** A service of a model on paper. `units`: the number of the machine of each unit. */
interface PaperService {
  formula: keyof typeof sides;
  units?: number[];
  version?: string;
  given?: Record<string, unknown>;
  secret?: string;
  row?: Partial<ServiceOnPaper['row']>;
}

/** What a model on paper contains. `machines`: those without units. */
export interface GivenModel {
  availabilitySetsEnabled?: boolean;
  services?: Record<string, PaperService>;
  relations?: [string, string][];
  machines?: number[];
  controllers?: number;
  started?: string[];
  failing?: string[];
  dying?: string[];
  /** Units in Staging. */
  staged?: string[];
  bootstrappedAt?: Date | null;
}

const settingsOf = (name: string, version: number, given: Record<string, unknown>, secret?: string) =>
  ({
    ...{ serviceId: name, version, given, effective: given, formulaVersion: '1.0.0.0' },
    ...{ secret: secret === undefined ? null : Buffer.from(secret), secretFingerprint: secret ?? null },
  }) as ServiceOnPaper['settings'];

function serviceState(name: string, given: PaperService, dying: readonly string[]): ServiceOnPaper {
  const version = given.version ?? '1.0.0.0';
  const row = {
    ...{ id: name, name, life: dying.includes(name) ? 'dying' : 'alive', formula: `Acme.Lab.${given.formula}` },
    ...{ formulaVersion: version, settingsVersion: 1, exposed: false, timeouts: {} },
    ...{ atOnceUpgrade: 1, atOnceConfigure: 1, stagedVersion: null, stagedSettingsVersion: null, ...given.row },
  } as ServiceOnPaper['row'];
  const settings = { ...settingsOf(name, 1, given.given ?? {}, given.secret), formulaVersion: version };
  return { row, settings, manifest: manifestOf(given.formula), latest: 1 };
}

/** Returns a model as `readState` reads it, without a database. */
export function paperModel(given: GivenModel = {}): ModelState {
  const { availabilitySetsEnabled = true, services = {}, relations = [], machines = [], controllers = 0 } = given;
  const { dying = [], failing = [], started = [], staged = [], bootstrappedAt = new Date(0) } = given;
  const units = Object.entries(services).flatMap(([service, { units: on = [] }]) =>
    on.map((machine, number): UnitOnPaper => {
      const name = `${service}/${number}`;
      const life = dying.includes(name) || dying.includes(service) ? 'dying' : 'alive';
      return {
        ...{ id: name, name, number, service, life, machine, instanceId: null },
        isStaged: staged.includes(name),
        ...{ isSeen: started.includes(name), isFailing: failing.includes(name) },
      };
    }),
  );
  const all = [...Array(controllers).keys(), ...units.flatMap(({ machine }) => machine ?? []), ...machines];
  const numbers = [...new Set(all)].sort((a, b) => a - b);
  const model = { name: 'prod', ...lab, availabilitySetsEnabled, bootstrappedAt, life: 'alive', revision: 7 };
  return {
    model: { ...model, machineCounter: Math.max(-1, ...numbers) + 1 } as ModelState['model'],
    services: new Map(Object.entries(services).map(([name, one]) => [name, serviceState(name, one, dying)])),
    units,
    relations: relations.map((pair, index) => relationOf(pair, index, { dying, services })),
    machines: numbers.map((machine) => ({ machine, hostname: `m${machine}`, isController: machine < controllers })),
    inventory: {
      ...{ model: 'prod', availabilitySetsEnabled, services: new Map(), machines: new Map() },
      ...{ controllers: [], isNameTaken: () => false },
    },
    counters: new Map(Object.entries(services).map(([name, { units: on = [] }]) => [name, on.length])),
  };
}

function relationOf(
  pair: [string, string],
  index: number,
  { dying, services }: { dying: readonly string[]; services: Record<string, PaperService> },
): RelationState {
  const endpoints = pair.map((text, side) => {
    const [service = '', name = ''] = text.split(':');
    return { side: side === 0 ? ('requires' as const) : ('provides' as const), service, name };
  });
  const [first] = endpoints;
  const manifest = manifestOf(services[first?.service ?? '']?.formula ?? '');
  const life = dying.includes(pair.join(' ')) ? 'dying' : 'alive';
  const spoken = manifest.requires[first?.name ?? '']?.interface ?? '';
  return { id: index + 1, number: index, interface: spoken, life, hasUnits: true, endpoints };
}

/** Returns what `prepareDocument` prepares for a service, without the checks of its settings. */
function prepared(
  name: string,
  service: ModelDocument['services'][string],
  { state, prune }: { state: ModelState | null; prune: boolean },
): PreparedService {
  const current = state?.services.get(name);
  const before = current?.settings ?? null;
  const version = service.version.split('.').length === 2 ? `${service.version}.0.0` : service.version;
  const given = service.settings ?? (prune ? {} : (before?.given ?? {}));
  const wanted = service.protectedSettings;
  const secret =
    wanted === 'kept' || (wanted === undefined && !prune)
      ? (before?.secretFingerprint ?? undefined)
      : (wanted && canonicalJson(wanted)) || undefined;
  const after = { ...settingsOf(name, (before?.version ?? 0) + 1, given, secret), formulaVersion: version };
  const facts = (row: typeof after | null) => row && canonicalJson([row.given, row.secretFingerprint]);
  const isSame = before !== null && before.formulaVersion === version && facts(before) === facts(after);
  const manifest = manifestOf(service.formula.replace('Acme.Lab.', ''));
  const formula = { handler: service.formula, version, manifest } as PreparedService['formula'];
  const target = isSame ? before : after;
  const stagedVersion = service.staging?.version ?? null;
  const staged = stagedVersion === null ? null : { formula: { ...formula, version: stagedVersion }, settings: target };
  return { serviceId: name, current: current?.row, formula, before, settings: target, staged };
}

/** The parts of a document that a test names. */
type PaperDocument = Record<string, unknown>;

/** Returns what a document asks of a model. */
export function desiredOf(state: ModelState | null, fields: PaperDocument, prune = false): Desired {
  const document = modelDocument.parse({ annex: 1, model: 'prod', ...lab, ...fields });
  const services = Object.entries(document.services);
  return {
    ...{ document, prune, place: { hasStorageAccount: true, affinityGroup: null } },
    prepared: new Map(services.map(([name, service]) => [name, prepared(name, service, { state, prune })])),
  };
}

/** The keys of the portal that plans are signed with. */
const planKeys = { keys: { plan: Buffer.alloc(32, 1) } } as Parameters<typeof showPlan>[0];

/** Plans a document for a model on paper, and shows the plan with its hooks. Throws if the document has faults. */
export function planned(given: GivenModel | null, fields: PaperDocument, prune = false) {
  const state = given === null ? null : paperModel(given);
  const desired = desiredOf(state, fields, prune);
  const plan = planModel(state, desired);
  if (plan.faults.length > 0) throw new Error(JSON.stringify(plan.faults));
  const work = state === null ? new Map() : workOf(state, given?.started ?? []);
  return { ...showPlan(planKeys, state, desired, plan), hooks: planHooks(state, desired, plan, work) };
}

/** Returns the faults of a document as `path code`. */
export function faultsOf(given: GivenModel | null, fields: PaperDocument, prune = false): string[] {
  const state = given === null ? null : paperModel(given);
  return planModel(state, desiredOf(state, fields, prune)).faults.map(({ path, code }) => `${path} ${code}`);
}

/** Returns the hooks of a plan, each as `hook when remote units`, by unit. */
export const briefly = ({ hooks: all }: ReturnType<typeof planned>): Record<string, string[]> =>
  Object.fromEntries(
    all.map(({ unit, hooks: own }) => [
      unit,
      own.map(({ hook, when, remoteUnits }) => [hook, when, remoteUnits.join()].join(' ').trim()),
    ]),
  );

/** Returns goals and records of units: those that started have confirmed everything. */
function workOf({ units, services, relations }: ModelState, started: readonly string[]): WorkOfUnits {
  return new Map(
    units.map(({ name, service: own, life }) => {
      const service = services.get(own);
      if (service === undefined) throw new Error(`${own} is not in the model`);
      const { formulaVersion: version, settingsVersion } = service.row;
      const joined = relations.flatMap(({ id, life: stage, endpoints }) => {
        const side = endpoints.find((one) => one.service === own);
        const other = endpoints.find((one) => one.service !== own)?.service;
        const present = units.filter((unit) => unit.service === other && started.includes(unit.name));
        const members = present.map((unit) => ({ unit: unit.name, version: 1, clock: 1 }));
        return side === undefined ? [] : [{ id, name: side.name, clock: 1, whole: true, life: stage, members }];
      });
      const formula = { version, hooks: service.manifest.hooks };
      const goal = life === 'dying' ? ('leaving' as const) : ('alive' as const);
      const record = started.includes(name) ? confirmed(version, settingsVersion, joined) : newUnitRecord();
      return [name, { goal: { goal, settingsVersion, formula, relations: joined }, record }];
    }),
  );
}

const confirmed = (
  formula: string,
  settings: number,
  relations: readonly { id: number; name: string; members: readonly { unit: string }[] }[],
): UnitRecord => ({
  ...newUnitRecord(),
  ...{ formula, configured: { settings, formula, boot: null }, started: { boot: null } },
  relations: Object.fromEntries(
    relations.map(({ id, name, members }) => [
      id,
      { name, broken: false, members: Object.fromEntries(members.map(({ unit }) => [unit, 1])) },
    ]),
  ),
});
