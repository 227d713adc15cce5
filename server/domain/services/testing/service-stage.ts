import { sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { handlers, handlerVersions, publishers, type SettingsSchema, type VersionState } from '#db/schema/index.ts';
import { type FormulaManifest, readMetadata } from '#protocol/formula.ts';
import { versionKey } from '#protocol/version.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { enrollAgent } from '#server/domain/enrollment/index.ts';
import { bindInstance, type NewMachine } from '#server/domain/topology/index.ts';
import { newStage, type Stage, type Staged } from '#server/domain/topology/testing/stage.ts';
import { loadConfig } from '#server/platform/env.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { beginRun, endRun, getUnitState, replaceLostUnits, setService } from '../index.ts';
import type { SetServiceInput } from '../input.ts';
import type { DeclaredService } from '../set-service.ts';

/** A version of a formula: metadata as in metadata.yaml, and the schema of its settings. */
export interface GivenFormula {
  metadata?: Record<string, unknown>;
  /** Hooks of relations. */
  relationHooks?: string[];
  settingsSchema?: SettingsSchema;
  state?: VersionState;
}

const hooks = ['config-changed', 'install', 'start', 'stop', 'upgrade-formula'];

/** Models in which services are declared as operators do, with agents that call as agents do. */
export class ServiceStage {
  readonly ctx: Context;
  readonly viewer: Context;
  readonly stage: Stage;

  private constructor(stage: Stage, viewer: Context) {
    this.stage = stage;
    this.ctx = stage.ctx;
    this.viewer = viewer;
  }

  /** Opens a stage, by default with a separate database. */
  static async open(given?: Services): Promise<ServiceStage> {
    const { limits } = loadConfig({});
    // On a busy machine, starting the worker that checks settings takes longer than a portal allows.
    const config = { limits: { ...limits, settings: { ...limits.settings, checkMs: 20_000 } } };
    const stage = await newStage(given ?? (await testServices({ config })));
    return new ServiceStage(stage, await testContext({ services: stage.ctx, role: 'viewer' }));
  }

  /** Registers a version of the formula `Acme.Lab.<name>`. Returns what a declaration names. */
  async formula(
    name: string,
    version = '1.0.0.0',
    { metadata = {}, relationHooks = [], settingsSchema, state = 'published' }: GivenFormula = {},
  ): Promise<{ formula: string; version: string }> {
    const { db, now: createdAt } = this.ctx;
    const handler = `Acme.Lab.${name}`;
    const read = readMetadata({ name, ...metadata });
    const key = versionKey(version);
    if ('faults' in read || key === null) throw new Error(`${name} ${version} is not a formula`);
    const manifest: FormulaManifest = { ...read.metadata, hooks: [...hooks, ...relationHooks] };
    await db
      .insert(publishers)
      .values({ namespace: 'Acme.Lab', displayName: 'Acme Lab', createdAt })
      .onConflictDoNothing();
    await db
      .insert(handlers)
      .values({ id: handler, namespace: 'Acme.Lab', type: name, kind: 'formula', createdAt })
      .onConflictDoNothing();
    await db.insert(handlerVersions).values({
      ...{ handler, version, versionKey: key, state, sha256: uuid().replaceAll('-', '').padStart(64, '0'), size: 1 },
      ...{ manifest, manifestText: '', files: [], warnings: [], settingsSchema: settingsSchema ?? null },
      ...{ createdAt, createdBy: 'test' },
    });
    return { formula: handler, version };
  }

  /** Declares a service. */
  declare(
    { model, provider }: Staged,
    service: string,
    request: Omit<SetServiceInput, 'model' | 'service'>,
  ): Promise<DeclaredService> {
    return setService(this.ctx, { model, service, ...request }, provider);
  }

  /** Deploys a service, and enrolls an agent for each new machine, which fetches its units. */
  async deploy(
    staged: Staged,
    service: string,
    request: Omit<SetServiceInput, 'model' | 'service'>,
  ): Promise<DeclaredService> {
    const declared = await this.declare(staged, service, request);
    for (const { machine } of declared.newUnits) if (machine !== null) await this.enroll(machine);
    return declared;
  }

  /** Enrolls a machine as the instance of its role, as its agent does, and fetches its units. */
  async enroll({
    enrollmentToken,
    instanceId: id,
    assignedAddress,
    vmId,
  }: Pick<NewMachine, 'enrollmentToken' | 'instanceId' | 'assignedAddress' | 'vmId'>): Promise<void> {
    const anonymous = await testContext({ services: this.ctx, role: null });
    const request = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1' } };
    await enrollAgent(
      anonymous,
      { ...request, instance: { id, address: assignedAddress } },
      bindInstance,
      replaceLostUnits,
    );
    await this.look(vmId);
  }

  /** Has the agent of a VM fetch its units. */
  async look(vmId: string) {
    const { state } = await getUnitState(this.ctx, { vmId, epoch: null, after: '', boot: 'boot-1' });
    return state.units;
  }

  /** Runs a hook of a unit to its end. Returns the run's id. */
  async run({ unit, vmId }: { unit: string; vmId: string }, hook: string, exitCode = 0): Promise<string> {
    const run = uuid();
    const goal = (await this.look(vmId)).find((one) => one.unit === unit);
    if (goal === undefined) throw new Error(`${unit} is not on this VM`);
    const formula = goal.formula.version;
    const address = hook === 'config-changed' ? { address: goal.addresses.public } : {};
    const begin = { phase: 'begin' as const, hook, ...address, attempt: 1, formula, timeoutSeconds: 300 };
    await beginRun(this.ctx, { vmId, unit, run }, begin);
    const end = { phase: 'end' as const, exitCode, signal: null, timedOut: false, seconds: 1, output: '' };
    await endRun(this.ctx, { vmId, unit, run }, { ...end, views: [], reason: null });
    return run;
  }

  /** Runs the hooks of a new unit. */
  async start(unit: { unit: string; vmId: string }): Promise<void> {
    for (const hook of ['install', 'config-changed', 'start']) await this.run(unit, hook);
  }

  /** Returns the texts of all rows of a table, as a backup has them. */
  async dump(table: string): Promise<string> {
    const { rows } = await this.ctx.db.execute(sql`select t::text as text from ${sql.identifier(table)} t`);
    return JSON.stringify(rows);
  }
}
