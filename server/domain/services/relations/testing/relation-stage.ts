import { sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { handlers, handlerVersions, hookRuns, services, units, vms } from '#db/schema/index.ts';
import { type FormulaManifest, readMetadata } from '#protocol/formula.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { createModel, setStorageAccount } from '#server/domain/topology/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { addRelation } from '../add-relation.ts';
import { type Flushed, type FlushInput, flush } from '../flush.ts';
import { joinUnits } from '../move-units.ts';
import { enterRelations, leaveRelations } from '../participants.ts';
import { readNode } from '../read-node.ts';

/** A unit of a test, on a separate VM. */
export interface StagedUnit {
  id: string;
  vmId: string;
  name: string;
  serviceId: string;
}

type Endpoints = Partial<
  Record<'provides' | 'requires' | 'peers', Record<string, { interface: string; limit?: number }>>
>;

export interface RunOptions {
  hook?: string;
  relationId?: number;
  remote?: StagedUnit;
  version?: number;
}

/** A model with services and units, whose rows are written as the verbs of services write them. */
export class RelationStage {
  readonly ctx: Context;
  readonly model: string;
  readonly modelId: string;
  private numbers = new Map<string, number>();

  private constructor(ctx: Context, model: string, modelId: string) {
    this.ctx = ctx;
    this.model = model;
    this.modelId = modelId;
  }

  static async open(given?: Services, model = 'prod'): Promise<RelationStage> {
    const shared = given ?? (await testServices());
    const ctx = await testContext({ services: shared, role: 'operator' });
    const admin = await testContext({ services: shared });
    await createPublisher(admin, { namespace: 'Acme.Lab', displayName: 'Acme Lab' });
    await setStorageAccount(admin, { name: 'labstore', location: 'West Lab' });
    await createModel(ctx, { name: model, location: 'West Lab', storageAccount: 'labstore' });
    const { rows } = await ctx.db.execute<{ id: string }>(sql`select id from models where name = ${model}`);
    return new RelationStage(ctx, model, rows[0]?.id ?? '');
  }

  /** Returns a context for another role. */
  as(role: 'viewer' | 'operator' | 'admin'): Promise<Context> {
    return testContext({ services: this.ctx, role });
  }

  /** Deploys a service with a separate formula. */
  async service(name: string, endpoints: Endpoints, masked: string[] = []): Promise<string> {
    const handler = `Acme.Lab.${name}`;
    const manifest = manifestOf(name, endpoints, masked);
    await this.ctx.db
      .insert(handlers)
      .values({ id: handler, namespace: 'Acme.Lab', type: name, kind: 'formula', createdAt: this.ctx.now });
    await this.ctx.db.insert(handlerVersions).values({
      ...{ handler, version: '1.0.0.0', versionKey: '0001', state: 'published', sha256: '0'.repeat(64), size: 1 },
      ...{ manifest, manifestText: '', files: [], warnings: [], createdAt: this.ctx.now, createdBy: 'test' },
    });
    const id = uuid();
    await this.ctx.db.insert(services).values({
      ...{ id, modelId: this.modelId, name, life: 'alive', formula: handler, formulaVersion: '1.0.0.0' },
      ...{ settingsVersion: 1, exposed: false, createdAt: this.ctx.now, createdBy: 'test' },
    });
    return id;
  }

  /** Adds units to a service. By default they have started, and so entered their relations. */
  async units(serviceId: string, count: number, { started = true } = {}): Promise<StagedUnit[]> {
    const { rows } = await this.ctx.db.execute<{ name: string }>(
      sql`select name from services where id = ${serviceId}`,
    );
    const first = this.numbers.get(serviceId) ?? 0;
    this.numbers.set(serviceId, first + count);
    const added = Array.from({ length: count }, (_, index) => {
      const number = first + index;
      return { id: uuid(), vmId: uuid(), name: `${rows[0]?.name}/${number}`, serviceId, number };
    });
    const { now: createdAt } = this.ctx;
    await this.ctx.db
      .insert(vms)
      .values(
        added.map(({ vmId, name }) => ({ id: vmId, name: vmName(name, vmId), tags: {}, createdAt, createdBy: 'test' })),
      );
    await this.ctx.db.insert(units).values(
      added.map((unit) => ({
        ...{ ...unit, modelId: this.modelId, life: 'alive' as const, turn: 1, formulaVersion: '1.0.0.0' },
        ...{ settingsVersion: 1, record: newUnitRecord(), createdAt, createdBy: 'test' },
      })),
    );
    if (started) for (const unit of added) await this.start(unit);
    return added.map(({ number: _, ...unit }) => unit);
  }

  /** Adds one unit. */
  async unit(serviceId: string, options?: { started?: boolean }): Promise<StagedUnit> {
    const [unit] = await this.units(serviceId, 1, options);
    if (unit === undefined) throw new Error('no unit was added');
    return unit;
  }

  /** Adds units to a relation with one statement, because starting a thousand of them takes seconds. */
  enter(entering: readonly StagedUnit[], relationId: number): Promise<void> {
    const given = entering.map(({ id: unitId }) => ({ relationId, unitId, side: 'requires' as const }));
    return this.ctx.db.transaction((tx) => joinUnits(tx, this.ctx, given, null));
  }

  start(unit: StagedUnit): Promise<void> {
    return this.ctx.db.transaction((tx) => enterRelations(tx, this.ctx, unit.id, null));
  }

  /** Begins to remove a unit. */
  leave(unit: StagedUnit): Promise<void> {
    return this.ctx.db.transaction(async (tx) => {
      await tx.execute(sql`update units set life = 'dying' where id = ${unit.id}`);
      await leaveRelations(tx, this.ctx, [unit.id]);
    });
  }

  /** Relates two services and returns the relation's id. */
  async relate(one: string, other: string): Promise<number> {
    return (await addRelation(this.ctx, { model: this.model, endpoints: [one, other] })).id;
  }

  /** Begins a run of a hook, which interrupts another run of the unit, and returns its id. */
  async begin(
    unit: StagedUnit,
    { hook = 'config-changed', relationId, remote, version }: RunOptions = {},
  ): Promise<string> {
    const id = uuid();
    await this.ctx.db.execute(sql`
      update hook_runs set outcome = 'interrupted' where unit_id = ${unit.id} and outcome = 'running'`);
    const { rows } = await this.ctx.db.execute<{ number: number }>(
      sql`update units set run_counter = run_counter + 1 where id = ${unit.id} returning run_counter as number`,
    );
    await this.ctx.db.insert(hookRuns).values({
      ...{ vmId: unit.vmId, id, unitId: unit.id, number: rows[0]?.number ?? 0, hook, attempt: 1 },
      ...{ relationId: relationId ?? null, remoteUnitId: remote?.id ?? null, dueVersion: version ?? null },
      ...{ formulaVersion: '1.0.0.0', begunAt: this.ctx.now, timeoutSeconds: 300, outcome: 'running' },
    });
    return id;
  }

  /** Ends a run. */
  end(unit: StagedUnit, runId: string, given: Partial<FlushInput> & { changes?: FlushInput['end']['changes'] } = {}) {
    const { changes, ...more } = given;
    const end = { exitCode: 0, signal: null, seconds: 1, views: [], reason: null, ...(changes && { changes }) };
    const input = { vmId: unit.vmId, unitId: unit.id, runId, outcome: 'succeeded' as const, end, ...more };
    return this.ctx.db.transaction((tx) => flush(tx, this.ctx, input));
  }

  /** Runs a hook that sets values in a relation, given as their JSON texts. */
  async set(
    unit: StagedUnit,
    relation: number,
    set: Record<string, string>,
    remove: string[] = [],
    options: RunOptions = {},
  ): Promise<Flushed> {
    return this.end(unit, await this.begin(unit, options), { changes: [{ relation, set, remove }] });
  }

  /** Reads a node as the agent of `unit` does. */
  read(unit: StagedUnit, relationId: number, other: string) {
    return readNode(this.ctx, { vmId: unit.vmId, unit: unit.name, relationId, other });
  }

  async clock(relationId: number): Promise<number> {
    const { rows } = await this.ctx.db.execute<{ clock: string }>(
      sql`select clock from relations where id = ${relationId}`,
    );
    return Number(rows[0]?.clock);
  }
}

const vmName = (unit: string, vmId: string) => `${unit.replace('/', '-')}-${vmId.slice(-6)}`;

function manifestOf(name: string, endpoints: Endpoints, masked: string[]): FormulaManifest {
  const read = readMetadata({ name, ...endpoints, masked });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  return { ...read.metadata, hooks: [] };
}
