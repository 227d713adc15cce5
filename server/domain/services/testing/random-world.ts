import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { agents, units, vms } from '#db/schema/index.ts';
import type { DueHook } from '#protocol/hooks.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type NewMachine, renewToken } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import {
  addRelation,
  addUnits,
  beginRun,
  confirmRemoval,
  endRun,
  mendUnits,
  removeService,
  removeUnit,
  skipHooks,
} from '../index.ts';
import { readUnitWork } from '../runs/read-due.ts';
import type { ServiceStage } from './service-stage.ts';

const names = ['web', 'store', 'cache'] as const;

/** A model that people and agents change at random. The same seed gives the same changes. */
export class RandomWorld {
  readonly model: string;
  private readonly machines: NewMachine[] = [];
  private readonly stage: ServiceStage;
  private readonly staged: Staged;
  private state: number;

  constructor(stage: ServiceStage, staged: Staged, seed: number) {
    this.stage = stage;
    this.staged = staged;
    this.model = staged.model;
    this.state = seed * 7_919;
  }

  private get ctx(): Context {
    return this.stage.ctx;
  }

  /** Registers the formulas: `web` requires what `store` provides, and units of `cache` are peers. */
  static async formulas(stage: ServiceStage): Promise<void> {
    const sides = {
      web: { requires: { db: { interface: 'store' } } },
      store: { provides: { db: { interface: 'store' } } },
      cache: { peers: { ring: { interface: 'ring' } } },
    };
    for (const name of names) {
      for (const version of ['1.0.0.0', '1.1.0.0']) await stage.formula(name, version, { metadata: sides[name] });
    }
  }

  /** Performs one random act. What the portal rejects changes nothing. */
  async step(): Promise<void> {
    const service = this.pick(names);
    const acts: (() => Promise<unknown>)[] = [
      () => this.declare(service),
      () => this.add(service),
      () => this.removeOne(),
      () => removeService(this.ctx, { model: this.model, service, force: this.random(4) === 0 }),
      () => addRelation(this.ctx, { model: this.model, endpoints: ['web', 'store'] }),
      () => this.enrollOne(),
      () => this.replaceMachine(),
      () => this.failingProvider(service),
      () => this.mend(),
    ];
    // Agents do more than people.
    const agents = Array.from({ length: 12 }, () => () => this.agentStep());
    try {
      await this.pick([...acts, ...agents])();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  /** Has every machine enroll, and every agent do what is due, until nothing is. */
  async quiet(): Promise<void> {
    for (let turn = 0; turn < 200; turn += 1) {
      while (this.machines.length > 0) await this.enrollOne();
      let isIdle = true;
      for (const unit of await this.present()) if (await this.work(unit)) isIdle = false;
      await this.mend();
      if (isIdle) return;
    }
    throw new Error('the agents never rest');
  }

  private random(below: number): number {
    this.state = (this.state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((this.state / 2_147_483_648) * below);
  }

  private pick<T>(from: readonly T[]): T {
    const picked = from[this.random(from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  private async declare(service: string): Promise<void> {
    const version = this.pick(['1.0', '1.1']);
    const request = { formula: `Acme.Lab.${service}`, version, units: this.random(4), settings: { n: this.random(3) } };
    this.keep((await this.stage.declare(this.staged, service, request)).newUnits);
  }

  private async add(service: string): Promise<void> {
    const added = await addUnits(this.ctx, { model: this.model, service, count: 1 }, this.staged.provider);
    this.keep(added.units);
  }

  private keep(added: readonly { machine: NewMachine | null }[]): void {
    this.machines.push(...added.flatMap(({ machine }) => machine ?? []));
  }

  private async removeOne(): Promise<void> {
    const present = await this.present();
    if (present.length === 0) return;
    const { name: unit } = this.pick(present);
    await removeUnit(this.ctx, { model: this.model, unit, force: this.random(3) === 0 });
  }

  /** Enrolls a machine, if its VM still exists. */
  private async enrollOne(): Promise<void> {
    const machine = this.machines.shift();
    if (machine === undefined) return;
    const [vm] = await this.ctx.db.select().from(vms).where(eq(vms.id, machine.vmId));
    const [agent] = await this.ctx.db.select().from(agents).where(eq(agents.vmId, machine.vmId));
    if (vm?.deletedAt === null && agent === undefined) await this.stage.enroll(machine);
  }

  /** Enrolls another machine for a VM. */
  private async replaceMachine(): Promise<void> {
    const present = (await this.present()).filter(({ agentSince }) => agentSince !== null);
    if (present.length === 0) return;
    const { vmId } = this.pick(present);
    const { enrollmentToken, instance } = await renewToken(this.ctx, { vmId });
    const assignedAddress = instance?.internalAddress ?? '10.0.0.4';
    await this.stage.enroll({ vmId, enrollmentToken, instanceId: instance?.id ?? '', assignedAddress });
  }

  private async failingProvider(service: string): Promise<void> {
    const { provider } = this.staged;
    const failing = this.pick(['cloudService', 'deployment', 'role', 'endpoints', 'dropRoles']);
    provider.fate = (step) => (step === failing ? 'failAfter' : 'succeed');
    try {
      await this.add(service);
    } finally {
      provider.fate = () => 'succeed';
    }
  }

  private async mend(): Promise<void> {
    await mendUnits({ ...this.ctx, actor: systemActor, origin: systemOrigin });
    await this.stage.stage.mend(this.staged.provider);
  }

  private async agentStep(): Promise<void> {
    const present = (await this.present()).filter(({ agentSince }) => agentSince !== null);
    if (present.length > 0) await this.work(this.pick(present), this.random(5) === 0 ? 1 : 0);
  }

  /** Does the next thing that is due for a unit. Returns whether there was one. */
  private async work(unit: { id: string; name: string; vmId: string }, exitCode = 0): Promise<boolean> {
    const { vmId, name } = unit;
    await this.stage.look(vmId);
    const [work] = await this.ctx.db.transaction((tx) => readUnitWork(tx, eq(units.id, unit.id)));
    if (work === undefined) return false;
    const [due] = work.due;
    if (due !== undefined) await this.runHook({ vmId, unit: name }, due, exitCode);
    else if (work.unit.life === 'dying') await confirmRemoval(this.ctx, vmId, name);
    return due !== undefined || work.unit.life === 'dying';
  }

  private async runHook(unit: { vmId: string; unit: string }, due: DueHook, exitCode: number): Promise<void> {
    const { hook, relation, remoteUnit, kind, formula, settings } = due;
    const version = due.version ?? (kind === 'config-changed' ? settings : undefined);
    const about = {
      ...{ hook, formula },
      ...(relation && { relation: relation.id }),
      ...(remoteUnit !== undefined && { remoteUnit }),
      ...(version !== undefined && { version }),
    };
    if (!due.hasFile) return skipHooks(this.ctx, unit, { skipped: [about] });
    const run = { ...unit, run: uuid() };
    await beginRun(this.ctx, run, { phase: 'begin', ...about, attempt: 1, timeoutSeconds: 300 });
    const end = { phase: 'end' as const, exitCode, signal: null, timedOut: false, seconds: 1, output: '' };
    await endRun(this.ctx, run, { ...end, views: [], reason: null });
  }

  private async present() {
    const rows = await this.ctx.db.select().from(units).orderBy(units.name);
    return rows.filter(({ removedAt, name }) => removedAt === null && names.includes(name.split('/')[0] as never));
  }
}
