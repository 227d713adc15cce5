import { eq, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { handlers, handlerVersions, serviceSettings, services, units } from '#db/schema/index.ts';
import { type FormulaManifest, readMetadata } from '#protocol/formula.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import type { UnitState } from '#protocol/unit-state.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { createModel, setStorageAccount } from '#server/domain/topology/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { raiseHeads } from '../relations/index.ts';

/** A formula with these hooks, and with relations as in metadata.yaml. */
export interface StagedFormula {
  hooks?: string[];
  metadata?: Record<string, unknown>;
}

const unitHooks = ['config-changed', 'install', 'start', 'stop', 'upgrade-formula'];

/** A model whose services and units are rows, with real agents over HTTP. */
export class UnitStage {
  readonly ctx: Context;
  readonly admin: Context;
  readonly door: AgentDoor;
  readonly modelId: string;
  #count = 0;
  #machines = 0;

  private constructor(ctx: Context, admin: Context, door: AgentDoor, modelId: string) {
    this.ctx = ctx;
    this.admin = admin;
    this.door = door;
    this.modelId = modelId;
  }

  /** Opens a stage, by default with a separate database. */
  static async open(services?: Services): Promise<UnitStage> {
    const { ctx, door } = await openTestDoor({}, services);
    const admin = await testContext({ services: ctx, role: 'admin' });
    await setStorageAccount(admin, { name: 'labstore', location: 'West Lab' });
    await createModel(ctx, { name: 'prod', location: 'West Lab', storageAccount: 'labstore' });
    const { rows } = await ctx.db.execute<{ id: string }>(sql`select id from models where name = 'prod'`);
    return new UnitStage(ctx, admin, door, rows[0]?.id ?? '');
  }

  close(): Promise<void> {
    return this.door.close();
  }

  /** Deploys a service with a separate formula, and returns the service's id. */
  async service(name: string, { hooks = unitHooks, metadata = {} }: StagedFormula = {}): Promise<string> {
    const { now: createdAt } = this.ctx;
    const handler = `Acme.Lab.${name}`;
    const read = readMetadata({ name, ...metadata });
    if ('faults' in read) throw new Error(JSON.stringify(read.faults));
    const manifest: FormulaManifest = { ...read.metadata, hooks };
    const sha256 = Buffer.from(name).toString('hex').padStart(64, '0');
    await this.ctx.db
      .insert(handlers)
      .values({ id: handler, namespace: 'Acme.Lab', type: name, kind: 'formula', createdAt });
    await this.ctx.db.insert(handlerVersions).values({
      ...{ handler, version: '1.0.0.0', versionKey: '0001', state: 'published' as const, sha256, size: 20_480 },
      ...{ manifest, manifestText: '', files: [], warnings: [], createdAt, createdBy: 'test' },
    });
    const id = uuid();
    await this.ctx.db.insert(services).values({
      ...{ id, modelId: this.modelId, name, life: 'alive', formula: handler, formulaVersion: '1.0.0.0' },
      ...{ settingsVersion: 1, exposed: false, createdAt, createdBy: 'Ada' },
    });
    await this.settings(id, 1, '{}');
    return id;
  }

  /** Stores a version of a service's settings, given as JSON text. */
  async settings(serviceId: string, version: number, json: string): Promise<void> {
    const changed = { formulaVersion: '1.0.0.0', changedAt: this.ctx.now, changedBy: 'Ada' };
    await this.ctx.db.insert(serviceSettings).values({ serviceId, version, given: {}, effective: {}, ...changed });
    await this.ctx.db.execute(sql`
      update service_settings set effective = ${json}::json where service_id = ${serviceId} and version = ${version}`);
  }

  /** Adds a unit on a separate VM, or on the VM of another unit. */
  async unit(serviceId: string, { agent }: { agent?: GivenAgent } = {}): Promise<StagedUnit> {
    const on = agent ?? (await givenAgent(this.ctx, this.door, `machine-${this.#machines++}`));
    const unit = await this.place(serviceId, on.vmId);
    return new StagedUnit(this.ctx, on, { ...unit, serviceId });
  }

  /** Adds a unit to a VM. */
  async place(serviceId: string, vmId: string): Promise<{ id: string; name: string }> {
    const number = this.#count++;
    const [service] = await this.ctx.db.select().from(services).where(eq(services.id, serviceId));
    const [id, name] = [uuid(), `${service?.name}/${number}`];
    await this.ctx.db.transaction(async (tx) => {
      await tx.insert(units).values({
        ...{ id, modelId: this.modelId, serviceId, name, number, vmId, life: 'alive', turn: 1 },
        ...{ formulaVersion: '1.0.0.0', settingsVersion: 1, record: newUnitRecord() },
        ...{ createdAt: this.ctx.now, createdBy: 'Ada' },
      });
      await raiseHeads(tx, this.ctx, [vmId]);
    });
    return { id, name };
  }
}

/** A unit, and what its agent calls. */
export class StagedUnit {
  readonly ctx: Context;
  readonly agent: GivenAgent;
  readonly id: string;
  readonly name: string;
  readonly serviceId: string;
  readonly vmId: string;

  constructor(ctx: Context, agent: GivenAgent, unit: { id: string; name: string; serviceId: string }) {
    this.ctx = ctx;
    this.agent = agent;
    this.vmId = agent.vmId;
    ({ id: this.id, name: this.name, serviceId: this.serviceId } = unit);
  }

  /** Calls a path below the unit, and sends the body as JSON. */
  call(path: string, body?: unknown, method = body === undefined ? 'GET' : 'PUT'): Promise<Response> {
    return this.agent.call(`/units/${this.name}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Fetches the VM's units. */
  async look(query = ''): Promise<{ state: UnitState; stamp: string }> {
    const answer = await this.agent.call(`/units${query}`);
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    return { state: (await answer.json()) as UnitState, stamp: answer.headers.get('annex-units') ?? '' };
  }

  begin(run: string, hook: string, more: object = {}): Promise<Response> {
    const document = { phase: 'begin', hook, attempt: 1, formula: '1.0.0.0', timeoutSeconds: 300, ...more };
    return this.call(`/runs/${run}`, document);
  }

  end(run: string, more: object = {}): Promise<Response> {
    const document = { phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1.5, output: '' };
    return this.call(`/runs/${run}`, { ...document, views: [], reason: null, ...more });
  }

  /** Runs a hook to its end, with the exit code 0 if none is given. Returns the run's id. */
  async run(hook: string, end: object = {}, begin: object = {}): Promise<string> {
    const run = uuid();
    const begun = await this.begin(run, hook, begin);
    if (begun.status !== 200) throw new Error(`${begun.status}: ${await begun.text()}`);
    const ended = await this.end(run, end);
    if (ended.status !== 200) throw new Error(`${ended.status}: ${await ended.text()}`);
    return run;
  }

  /** Runs the hooks of a new unit. */
  async start(): Promise<void> {
    await this.look();
    for (const hook of ['install', 'config-changed', 'start']) await this.run(hook);
  }

  /** The unit's row. */
  async row(): Promise<typeof units.$inferSelect> {
    const [row] = await this.ctx.db.select().from(units).where(eq(units.id, this.id));
    if (row === undefined) throw new Error(`no row of ${this.name}`);
    return row;
  }
}
